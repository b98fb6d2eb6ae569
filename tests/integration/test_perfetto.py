"""`convert --to perfetto` and `--to chrome`: the trace is decoded here by the rules of Perfetto's protocol and compared with SQL."""

import collections
import json
import struct
import unittest

from support import DATA, SAMPLE, Case, needs_shared, snapshot

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """{field: [value]} of a message: numbers, or bytes."""
    out = collections.defaultdict(list)
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            assert kind == 2, f"wire type {kind}"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "the message ends early"
        out[key >> 3].append(value)
    return out


class Trace:
    """What trace_processor would make of it. Events of a track are sorted by time; the order of the file decides among equal ones."""

    def __init__(self, data):
        self.tracks = {}
        self.slices = []    # (track, begin, end, name, category)
        self.instants = []
        self.counters = collections.defaultdict(list)
        self.flows = collections.defaultdict(list)   # id: [(begin, is last)]
        names, categories, events = {}, {}, []
        for packet in map(fields, fields(data)[1]):
            sequence = packet[10][0]
            if packet[13][0] & 1:
                names[sequence], categories[sequence] = {}, {}
            for interned in map(fields, packet[12]):
                for table, field in ((categories, 1), (names, 2)):
                    for entry in map(fields, interned[field]):
                        assert entry[1][0] not in table[sequence], "a number is given twice"
                        table[sequence][entry[1][0]] = entry[2][0].decode()
            if packet[60]:
                self.add_track(fields(packet[60][0]))
            else:
                event = fields(packet[11][0])
                name = names[sequence][event[10][0]] if event[10] else None
                category = categories[sequence][event[3][0]] if event[3] else ""
                events.append((packet[8][0], event[9][0], event[11][0], name, category, event))
        events.sort(key=lambda event: event[0])
        self.play(events)

    def add_track(self, track):
        uuid = track[1][0]
        assert uuid not in self.tracks
        process = fields(track[3][0]) if track[3] else None
        thread = fields(track[4][0]) if track[4] else None
        name = (process[6] if process else thread[5] if thread else track[2])[0].decode()
        self.tracks[uuid] = {"name": name, "parent": (track[5] or [0])[0], "process": process, "thread": thread, "is_counter": bool(track[8])}

    def play(self, events):
        open_slices = collections.defaultdict(list)
        for ts, kind, uuid, name, category, event in events:
            track = self.tracks[uuid]
            for flow in event[47]:
                self.flows[flow].append((ts, False))
            for flow in event[48]:
                self.flows[flow].append((ts, True))
            if kind == BEGIN:
                open_slices[uuid].append((ts, name, category))
            elif kind == END:
                begin, name, category = open_slices[uuid].pop()
                self.slices.append((uuid, begin, ts, name, category))
            elif kind == INSTANT:
                self.instants.append((ts, name))
            else:
                assert kind == COUNTER and track["is_counter"]
                self.counters[uuid].append((ts, struct.unpack("<d", struct.pack("<Q", event[44][0]))[0]))
        assert not any(open_slices.values()), "slices without an end"


class Perfetto(Case):
    def trace(self, path, *options):
        done = self.run_program("convert", path, "--to", "perfetto", "--output", self.scratch / "out", *options, expect=0)
        written = self.scratch / "out" / "trace.pftrace"
        self.assertEqual(done.out, f"{written}\n")
        return Trace(written.read_bytes())

    def check(self, path):
        """Slices, moments, counters and arrows are those of the store; returns the trace."""
        trace = self.trace(path)
        rows = self.query(path, "SELECT rank, name, category, begin_ns, dur_ns FROM slices WHERE track_id IS NOT NULL AND begin_ns >= 0")
        expected = collections.Counter((row["begin_ns"], row["begin_ns"] + row["dur_ns"], row["name"], row["category"] or "") for row in rows)
        self.assertEqual(collections.Counter(one[1:] for one in trace.slices), expected)
        moments = self.query(path, "SELECT ts_ns, name FROM instants")
        self.assertEqual(collections.Counter(trace.instants), collections.Counter((row["ts_ns"], row["name"]) for row in moments))
        samples = self.query(path, "SELECT ts_ns, value FROM counters WHERE value IS NOT NULL")
        self.assertEqual(collections.Counter(sample for series in trace.counters.values() for sample in series),
                         collections.Counter((row["ts_ns"], row["value"]) for row in samples))
        [arrows] = [row["n"] for row in self.query(path, "SELECT count(*) AS n FROM flows WHERE from_slice_id IS NOT NULL AND to_slice_id IS NOT NULL "
                                                         "AND from_slice_id <> to_slice_id")]
        self.assertEqual(len(trace.flows), arrows)
        for ends in trace.flows.values():
            self.assertEqual(sorted(is_last for _, is_last in ends), [False, True])
            self.assertLessEqual(min(end[0] for end in ends if not end[1]), max(end[0] for end in ends if end[1]))
        pids = [track["process"][1][0] for track in trace.tracks.values() if track["process"]]
        self.assertEqual(len(pids), len(set(pids)))
        threads = [(track["thread"][1][0], track["thread"][2][0]) for track in trace.tracks.values() if track["thread"]]
        self.assertEqual(len(threads), len(set(threads)))
        for track in trace.tracks.values():
            self.assertTrue(track["parent"] == 0 or track["parent"] in trace.tracks)
        return trace

    def test_the_sample_is_all_there(self):
        before = snapshot(SAMPLE)
        trace = self.check(SAMPLE)
        self.assertEqual(snapshot(SAMPLE), before)
        names = {track["name"] for track in trace.tracks.values() if track["process"]}
        self.assertTrue(any(name.startswith("rank 0: ") for name in names), names)
        self.assertTrue(any(name.startswith("rank 1: ") for name in names), names)
        self.assertTrue(trace.flows)
        self.assertTrue(trace.counters)

    @needs_shared
    def test_other_captures_are_all_there(self):
        for name in ("ascend_pt/db/level1", "ascend_pt/text/level1", "kineto/hta/cpu_only", "kineto/hta/nccl_parser_config", "mindinsight/profiler"):
            with self.subTest(capture=name):
                self.check(DATA / name)

    def test_slices_that_overlap_partly_get_a_row_each(self):
        events = [{"ph": "X", "name": name, "cat": "cpu_op", "pid": 1, "tid": 1, "ts": begin, "dur": dur}
                  for name, begin, dur in (("a", 0, 10), ("inside", 2, 3), ("across", 5, 10), ("same", 2, 3), ("point", 5, 0), ("after", 15, 1))]
        path = self.write("trace.json", json.dumps({"traceEvents": events}))
        trace = self.check(path)
        rows = {name: uuid for uuid, _, _, name, _ in trace.slices}
        self.assertEqual(rows["a"], rows["inside"])
        self.assertNotEqual(rows["a"], rows["across"])
        self.assertEqual(trace.tracks[rows["a"]]["name"], trace.tracks[rows["across"]]["name"])

    def test_pids_that_ranks_share_are_told_apart(self):
        for rank in (0, 1):
            self.write(f"job/rank{rank}.pt.trace.json", json.dumps({
                "distributedInfo": {"rank": rank, "world_size": 2},
                "traceEvents": [{"ph": "X", "name": "op", "cat": "cpu_op", "pid": 7, "tid": 9, "ts": 1, "dur": 1}]}))
        trace = self.check(self.scratch / "job")
        self.assertEqual(len([track for track in trace.tracks.values() if track["process"]]), 2)

    def test_the_bytes_do_not_depend_on_threads(self):
        written = []
        for threads in ("1", "4"):
            self.trace(SAMPLE, "--threads", threads)
            written.append((self.scratch / "out" / "trace.pftrace").read_bytes())
        self.assertEqual(*written)

    def test_chrome_traces_read_back(self):
        done = self.run_program("convert", SAMPLE, "--to", "chrome", "--output", self.scratch / "out", expect=0)
        self.assertEqual(done.out.splitlines(), [str(self.scratch / "out" / f"rank{rank}.json") for rank in (0, 1)])
        for rank in (0, 1):
            sql = "SELECT name, count(*) AS n, sum(dur_ns) AS ns FROM slices {} GROUP BY 1 ORDER BY 1"
            back = self.query(self.scratch / "out" / f"rank{rank}.json", sql.format(""))
            self.assertEqual([row for row in back if row["name"] not in ("Computing", "Communication", "Communication(Not Overlapped)", "Free")],
                             [row for row in self.query(SAMPLE, sql.format(f"WHERE rank = {rank}"))
                              if row["name"] not in ("Computing", "Communication", "Communication(Not Overlapped)", "Free")])

    def test_a_capture_is_not_written_into(self):
        for form in ("perfetto", "chrome"):
            done = self.run_program("convert", SAMPLE, "--to", form, "--output", SAMPLE / "out", expect=2)
            self.assertIn("lies in the input", done.err)
        file = self.write("file", "x")
        self.assertIn("cannot make the folder", self.run_program("convert", SAMPLE, "--to", "perfetto", "--output", file, expect=6).err)


if __name__ == "__main__":
    unittest.main()
