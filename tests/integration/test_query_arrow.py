"""`query --format arrow`: an Arrow IPC stream, read back by a reader of its own, written after the format's description."""

import json
import os
import pty
import struct
import subprocess
import unittest

from support import PROGRAM, SAMPLE, Case


class Table:
    """A table of a FlatBuffer."""

    def __init__(self, data, place):
        self.data, self.place = data, place
        self.fields = place - struct.unpack_from("<i", data, place)[0]

    def at(self, number):
        size, = struct.unpack_from("<H", self.data, self.fields)
        if 4 + 2 * number >= size:
            return 0
        offset, = struct.unpack_from("<H", self.data, self.fields + 4 + 2 * number)
        return self.place + offset if offset else 0

    def number(self, number, form, default=0):
        place = self.at(number)
        if not place:
            return default
        assert place % struct.calcsize(form) == 0, "not aligned"
        return struct.unpack_from("<" + form, self.data, place)[0]

    def follow(self, number):
        place = self.at(number)
        return place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, number):
        return Table(self.data, self.follow(number))

    def text(self, number):
        place = self.follow(number)
        size, = struct.unpack_from("<I", self.data, place)
        return self.data[place + 4:place + 4 + size].decode()

    def tables(self, number):
        place = self.follow(number)
        count, = struct.unpack_from("<I", self.data, place)
        places = [place + 4 + 4 * i for i in range(count)]
        return [Table(self.data, one + struct.unpack_from("<I", self.data, one)[0]) for one in places]

    def pairs(self, number):
        place = self.follow(number)
        count, = struct.unpack_from("<I", self.data, place)
        return [struct.unpack_from("<qq", self.data, place + 4 + 16 * i) for i in range(count)]


def messages(stream):
    """(header kind, header, body) of each message."""
    place = 0
    while True:
        mark, size = struct.unpack_from("<Ii", stream, place)
        assert mark == 0xFFFFFFFF and place % 8 == 0
        if size == 0:
            assert place + 8 == len(stream)
            return
        head = stream[place + 8:place + 8 + size]
        message = Table(head, struct.unpack_from("<I", head)[0])
        assert message.number(0, "h") == 4, "metadata version 5"
        body = place + 8 + size
        place = body + message.number(3, "q")
        yield message.number(1, "B"), message.table(2), stream[body:place]


TYPES = {(2, 64): "q", (3, 2): "d", (20, 0): "texts"}


def column_of(form, rows, nulls, buffers):
    """Takes its buffers from the front of the list."""
    bits = buffers.pop(0)
    if form == "texts":
        offsets, texts = struct.unpack(f"<{rows + 1}q", buffers.pop(0)), buffers.pop(0)
        values = [texts[a:b].decode() for a, b in zip(offsets, offsets[1:])]
    else:
        values = list(struct.unpack(f"<{rows}{form}", buffers.pop(0)))
    if nulls:
        values = [value if bits[i // 8] >> (i % 8) & 1 else None for i, value in enumerate(values)]
    assert values.count(None) == nulls
    return values


def read(stream):
    """{column: values}."""
    fields, columns = [], {}
    for kind, header, body in messages(stream):
        if kind == 1:
            for field in header.tables(1):
                what = field.number(2, "B")
                detail = field.table(3).number(0, "i") if what == 2 else field.table(3).number(0, "h") if what == 3 else 0
                fields.append((field.text(0), TYPES[what, detail]))
                assert field.number(1, "B") == 1, "nullable"
            columns = {name: [] for name, _ in fields}
            continue
        assert kind == 3
        nodes = header.pairs(1)
        buffers = [body[begin:begin + size] for begin, size in header.pairs(2)]
        for (name, form), (rows, nulls) in zip(fields, nodes):
            assert rows == header.number(0, "q")
            columns[name] += column_of(form, rows, nulls, buffers)
        assert not buffers
    return columns


class QueryArrow(Case):
    def arrow(self, sql):
        done = self.run_program("query", SAMPLE, sql, "--format", "arrow", expect=0)
        return read(done.stdout)

    def run_program(self, *words, expect=None, **options):
        if "arrow" not in words:
            return super().run_program(*words, expect=expect, **options)
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, env=self.environment, timeout=300, check=False)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def test_every_table_is_what_json_says(self):
        names = [row["name"] for row in self.query(SAMPLE, "SELECT name FROM sqlite_master")]
        for name in ("ranks", "slices", "kernels", "steps", "step_traces", "meta", "breakdown", "l2_cache"):
            self.assertIn(name, names)
            sql = f"SELECT * FROM {name}"
            rows = json.loads(self.run_program("query", SAMPLE, sql, "--format", "json", expect=0).out)
            columns = self.arrow(sql)
            self.assertEqual(list(columns), list(rows[0]))
            for column, values in columns.items():
                expected = [row[column] for row in rows]
                if any(isinstance(value, str) for value in expected):
                    expected = ["" if value is None else value for value in expected]
                self.assertEqual(values, expected, f"{name}.{column}")

    def test_many_rows_come_in_batches(self):
        sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 150000) SELECT i, i / 2.0 half, 'n' || i t FROM n"
        columns = self.arrow(sql)
        self.assertEqual(columns["i"], list(range(1, 150001)))
        self.assertEqual(columns["half"][-1], 75000.0)
        self.assertEqual(columns["t"][99999], "n100000")

    def test_no_rows_and_wrong_sql(self):
        self.assertEqual(self.arrow("SELECT name FROM slices WHERE 0"), {"name": []})
        done = self.run_program("query", SAMPLE, "SELECT nme FROM slices", "--format", "arrow", expect=3)
        self.assertEqual(done.stdout, b"")
        self.assertIn(b"did you mean 'name'", done.stderr)

    def test_a_terminal_is_spared_the_bytes(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        done = subprocess.run([PROGRAM, "query", SAMPLE, "SELECT 1", "--format", "arrow"], stdout=theirs, stderr=subprocess.PIPE,
                              env=self.environment, timeout=60, check=False)
        os.close(theirs)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"stdout is a terminal, and Arrow is binary", done.stderr)


if __name__ == "__main__":
    unittest.main()
