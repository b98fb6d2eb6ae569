"""scripts/skips finds what a run skipped, of both kinds of tests."""

import importlib.machinery
import importlib.util
import pathlib
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "skips"
LOADER = importlib.machinery.SourceFileLoader("skips", str(SCRIPT))
skips = importlib.util.module_from_spec(importlib.util.spec_from_loader("skips", LOADER))
LOADER.exec_module(skips)

LOG = """test_a (__main__.Case.test_a) ... ok
test_b (__main__.Case.test_b) ... skipped 'root may write everywhere'
test_c (__main__.Case.test_c)
It has a sentence. ... skipped "it's not here"
[ RUN      ] Xlsx.Opens
/work/src/table/xlsx_test.cc:34: Skipped
no library

[  SKIPPED ] Xlsx.Opens (0 ms)
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Xlsx.Opens
"""


class Skips(unittest.TestCase):
    def test_each_skipped_test_is_found_once_with_its_reason(self):
        self.assertEqual([("test_b (__main__.Case.test_b)", "root may write everywhere"), ("It has a sentence.", "it's not here"),
                          ("Xlsx.Opens", "no library")], list(skips.skipped(LOG)))

    def test_only_listed_reasons_are_expected(self):
        patterns = skips.expected()
        self.assertTrue(any(pattern.search("root may write everywhere") for pattern in patterns))
        self.assertFalse(any(pattern.search("mpirun is not installed") for pattern in patterns))


if __name__ == "__main__":
    unittest.main()
