"""Columns and tables as other libraries take them: the buffer protocol, Arrow's C data interface, NumPy, pandas."""

import atexit
import ctypes
import gc
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import steplens

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None
try:
    import pyarrow
except ImportError:
    pyarrow = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "sample"
os.environ["STEPLENS_CACHE_DIR"] = tempfile.mkdtemp(prefix="steplens_reading_")
atexit.register(shutil.rmtree, os.environ["STEPLENS_CACHE_DIR"], True)


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
                   ("dictionary", ctypes.POINTER(Schema)), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
                   ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                  ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
                  ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ("private_data", ctypes.c_void_p)]

pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
TYPES = {b"l": ctypes.c_int64, b"i": ctypes.c_int32, b"I": ctypes.c_uint32, b"g": ctypes.c_double}


def texts_of(array):
    """A large_utf8 array as a list."""
    offsets = ctypes.cast(array.buffers[1], ctypes.POINTER(ctypes.c_int64))
    return [ctypes.string_at(array.buffers[2] + offsets[i], offsets[i + 1] - offsets[i]).decode() for i in range(array.length)]


def values_of(schema, array):
    """An array of any type that steplens gives, as a list with None."""
    assert array.n_buffers == 2 and array.offset == 0
    values = ctypes.cast(array.buffers[1], ctypes.POINTER(TYPES[schema.format]))[:array.length]
    if schema.dictionary:
        assert schema.dictionary.contents.format == b"U"
        texts = texts_of(array.dictionary.contents)
        values = [texts[value] for value in values]
    if array.null_count:
        bits = ctypes.cast(array.buffers[0], ctypes.POINTER(ctypes.c_uint8))
        values = [value if bits[i // 8] >> (i % 8) & 1 else None for i, value in enumerate(values)]
        assert values.count(None) == array.null_count
    return values


def read_stream(owner):
    """{column: values} of what has __arrow_c_stream__, read as a library in C would, and the number of batches."""
    capsule = owner.__arrow_c_stream__()
    stream = Stream.from_address(pointer_of(capsule, b"arrow_array_stream"))
    del owner
    gc.collect()
    schema = Schema()
    assert stream.get_schema(stream, schema) == 0 and schema.format == b"+s"
    names = [schema.children[i].contents.name.decode() for i in range(schema.n_children)]
    out = {name: [] for name in names}
    batches = []
    while True:
        array = Array()
        assert stream.get_next(stream, array) == 0
        if not array.release:
            break
        batches.append(array)
    stream.release(stream)  # before its batches, which live on
    del capsule
    gc.collect()
    for array in batches:
        for i, name in enumerate(names):
            out[name] += values_of(schema.children[i].contents, array.children[i].contents)
        array.release(array)
    schema.release(schema)
    return out, len(batches)


class Arrow(unittest.TestCase):
    def test_every_table_as_a_stream_holds_its_values_even_when_all_else_is_gone(self):
        job = steplens.open(SAMPLE)
        for name in job.tables:
            table = job[name]
            expected = {column: table[column].to_list() for column in table.selected}
            got, batches = read_stream(job[name])
            self.assertEqual(list(got), table.selected, name)
            for column, values in expected.items():
                self.assertEqual([repr(value) for value in got[column]], [repr(value) for value in values], f"{name}.{column}")
            self.assertEqual(batches, 1 if name == "ranks" else len([rank for rank in job.ranks]), name)

    def test_a_rank_and_chosen_columns(self):
        rank = steplens.open(SAMPLE).ranks[1]
        got, batches = read_stream(rank.slices)
        self.assertEqual((batches, "rank" in got, "id" in got, "depth" in got), (1, False, False, False))
        got, _ = read_stream(rank.slices.select("depth", "id", "name"))
        self.assertEqual(list(got), ["depth", "id", "name"])
        self.assertEqual(got["id"], list(range(len(rank.slices))))
        with self.assertRaisesRegex(steplens.NotFoundError, "did you mean 'depth'"):
            rank.slices.select("dept")

    def test_results_are_streams_too(self):
        job = steplens.open(SAMPLE)
        result = job.query("SELECT name, count(*) n, avg(dur_ns) mean, NULL AS absent FROM slices GROUP BY name")
        got, _ = read_stream(result)
        self.assertEqual(got, {column: result[column].to_list() for column in result.columns})
        empty, batches = read_stream(job.query("SELECT name FROM slices WHERE 0"))
        self.assertEqual((empty, batches), ({"name": []}, 1))

    def test_a_column_is_an_array(self):
        column = steplens.open(SAMPLE).ranks[0].slices["correlation"]
        schema_capsule, array_capsule = column.__arrow_c_array__()
        schema = Schema.from_address(pointer_of(schema_capsule, b"arrow_schema"))
        array = Array.from_address(pointer_of(array_capsule, b"arrow_array"))
        self.assertEqual(values_of(schema, array), column.to_list())
        self.assertEqual(array.null_count, column.null_count)
        self.assertGreater(column.null_count, 0)
        address = ctypes.addressof(ctypes.c_char.from_buffer_copy(b"x"))  # capsules that nobody took release themselves
        self.assertTrue(address)

    def test_a_stream_gives_the_memory_of_the_store(self):
        rank = steplens.open(SAMPLE).ranks[0]
        _, array_capsule = rank.slices["dur_ns"].__arrow_c_array__()
        array = Array.from_address(pointer_of(array_capsule, b"arrow_array"))
        with memoryview(rank.slices["dur_ns"]) as view:
            first = (ctypes.c_int64 * len(view)).from_address(array.buffers[1])
            self.assertEqual(list(first), view.tolist())
        second = Array.from_address(pointer_of(rank.slices["dur_ns"].__arrow_c_array__()[1], b"arrow_array"))
        self.assertEqual(array.buffers[1], second.buffers[1])

    @unittest.skipUnless(pyarrow, "PyArrow is not installed")
    def test_pyarrow_takes_tables_and_results(self):
        job = steplens.open(SAMPLE)
        table = job.slices.to_arrow()
        table.validate(full=True)
        self.assertEqual(table.column("name").to_pylist(), job.slices["name"].to_list())

    @unittest.skipIf(pyarrow, "PyArrow is installed")
    def test_without_pyarrow_the_way_is_named(self):
        with self.assertRaisesRegex(ImportError, "to_arrow needs PyArrow 14 or newer"):
            steplens.open(SAMPLE).slices.to_arrow()


class Buffers(unittest.TestCase):
    def test_columns_are_read_only_buffers_of_their_type(self):
        rank = steplens.open(SAMPLE).ranks[0]
        for column, code in {"dur_ns": "q", "track_id": "I", "name": "i"}.items():
            with memoryview(rank.slices[column]) as view:
                self.assertEqual((view.format, view.readonly, view.ndim, len(view)), (code, True, 1, len(rank.slices)))
        with memoryview(rank.step_traces["computing_us"]) as view:
            self.assertEqual(view.format, "d")

    def test_texts_are_numbers_of_a_dictionary(self):
        column = steplens.open(SAMPLE).ranks[0].slices["name"]
        codes = memoryview(column).tolist()
        self.assertEqual(column.texts(codes), column.to_list())
        with self.assertRaises(IndexError):
            column.texts([10 ** 8])

    def test_a_view_keeps_its_memory(self):
        view = memoryview(steplens.open(SAMPLE).ranks[0].slices["begin_ns"])
        gc.collect()
        self.assertGreater(min(view.tolist()), 10 ** 18)


@unittest.skipUnless(numpy, "NumPy is not installed")
class NumPy(unittest.TestCase):
    def test_one_rank_is_taken_without_a_copy(self):
        rank = steplens.open(SAMPLE).ranks[0]
        first, second = numpy.asarray(rank.slices["dur_ns"]), numpy.asarray(rank.slices["dur_ns"])
        self.assertEqual(first.ctypes.data, second.ctypes.data)
        self.assertEqual((first.dtype, first.flags.writeable), (numpy.dtype("int64"), False))

    def test_several_ranks_are_joined(self):
        job = steplens.open(SAMPLE)
        both = numpy.asarray(job.slices["dur_ns"])
        self.assertEqual(both.tolist(), job.slices["dur_ns"].to_list())
        arrays = job.slices.to_numpy()
        self.assertEqual(arrays["name"].tolist(), job.slices["name"].to_list())
        self.assertEqual(set(arrays["rank"].tolist()), {0, 1})


@unittest.skipUnless(pandas, "pandas is not installed")
class Pandas(unittest.TestCase):
    def test_every_table_and_result_is_a_frame_of_the_same_values(self):
        job = steplens.open(SAMPLE)
        for one in [job[name] for name in job.tables] + [job.ops("type"), job.breakdown(), job.findings()]:
            frame = one.to_pandas()
            names = one.selected if hasattr(one, "selected") else one.columns
            self.assertEqual(list(frame.columns), list(names))
            self.assertEqual(len(frame), len(one))
            for column in names:
                got = [None if pandas.isna(value) else value for value in frame[column]]
                self.assertEqual(got, one[column].to_list(), f"{one.name}.{column}")

    def test_types_are_what_people_expect(self):
        frame = steplens.open(SAMPLE).ranks[0].slices.to_pandas()
        self.assertEqual(str(frame["dur_ns"].dtype), "int64")
        self.assertEqual(str(frame["correlation"].dtype), "Int64")
        self.assertEqual(str(frame["name"].dtype), "category")
        self.assertEqual(frame.groupby("name", observed=True)["dur_ns"].sum().sum(), frame["dur_ns"].sum())


class Large(unittest.TestCase):
    """A trace of a million slices: columns come at once and take no memory of their own."""

    SLICES = 1_000_000

    def test_columns_of_a_large_rank_are_there_at_once_without_a_copy(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "trace_view.json")
            with path.open("w") as file:
                file.write('[{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"t"}}')
                for begin in range(0, self.SLICES, 10_000):
                    file.write("".join(f',\n{{"ph":"X","name":"n{i % 97}","pid":1,"tid":1,"ts":"{1700000000000000 + 10 * i}.5","dur":{i % 9 + 1}}}'
                                       for i in range(begin, begin + 10_000)))
                file.write("]")
            script = textwrap.dedent("""
                import ctypes, resource, sys, time
                import steplens
                def resident():
                    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
                rank = steplens.open(sys.argv[1]).ranks[0]
                len(rank.slices); rank.slices["dur_ns"]
                before, begin = resident(), time.perf_counter()
                columns = [memoryview(rank.slices[name]) for name in ("track_id", "begin_ns", "dur_ns", "name", "category", "args_size")]
                took, grown = time.perf_counter() - begin, resident() - before
                print(len(rank.slices), took, grown, sum(view.nbytes for view in columns))
                """)
            done = subprocess.run([sys.executable, "-B", "-c", script, path], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows, took, grown, size = done.stdout.split()
            self.assertEqual(int(rows), self.SLICES)
            self.assertLess(float(took), 0.05)
            self.assertLess(int(grown), int(size) / 4)


if __name__ == "__main__":
    unittest.main()
