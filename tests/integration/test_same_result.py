"""The same input gives the same bytes: for any number of threads, and through the cache."""

import os
import unittest

from support import DATA, SAMPLE, Case, needs_shared

SQL = ("SELECT 's', id, rank, track_id, begin_ns, dur_ns, name, category, correlation FROM slices UNION ALL "
       "SELECT 'f', id, rank, from_track_id, from_ns, to_ns, kind, to_track_id, 0 FROM flows UNION ALL "
       "SELECT 'c', id, rank, track_id, ts_ns, value, '', '', 0 FROM counters UNION ALL "
       "SELECT 't', id, rank, parent_id, sort_index, 0, name, label, tid FROM tracks")


class SameResult(Case):
    def results(self, path, *options):
        out = []
        for words in (["info", "--json", path], ["breakdown", "--csv", path], ["ops", "--by", "name", "--csv", path],
                      ["query", path, SQL, "--format", "csv"]):
            out.append(self.run_program(*words, *options, expect=0).out)
        return out

    def check(self, path):
        one = self.results(path, "--threads", "1", "--no-cache")
        self.assertFalse((self.scratch / "cache").exists(), "--no-cache wrote a cache")
        for threads in ("2", "7"):
            self.assertEqual(self.results(path, "--threads", threads, "--no-cache"), one)
        self.assertEqual(self.results(path), one)
        self.assertTrue(os.listdir(self.scratch / "cache"))
        self.assertEqual(self.results(path), one)

    def test_sample(self):
        self.check(SAMPLE)

    @needs_shared
    def test_ascend_text(self):
        self.check(DATA / "ascend_pt/text/level1")

    @needs_shared
    def test_ascend_db(self):
        self.check(DATA / "ascend_pt/db/level1")

    @needs_shared
    def test_kineto(self):
        self.check(DATA / "kineto/hta/trace_diff/test/test.json.gz")

    def test_a_damaged_cache_is_not_used(self):
        before = self.results(SAMPLE)
        for path in (self.scratch / "cache").iterdir():
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
        self.assertEqual(self.results(SAMPLE), before)

    def test_a_changed_file_is_read_again(self):
        path = self.write("t.json", '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]')
        self.assertEqual(self.info(path)["ranks"][0]["counts"]["slices"], 1)
        self.write("t.json", '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},'
                             '{"ph":"X","name":"b","pid":1,"tid":1,"ts":3,"dur":1}]')
        self.assertEqual(self.info(path)["ranks"][0]["counts"]["slices"], 2)


if __name__ == "__main__":
    unittest.main()
