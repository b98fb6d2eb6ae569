"""The packages of the web app run with Debian's Node; a newer one would be reported."""

import json
import pathlib
import unittest

import node_engines

LOCK = pathlib.Path(__file__).resolve().parents[2] / "ui/package-lock.json"


class NodeEngines(unittest.TestCase):
    def test_committed_packages_run_with_debians_node(self):
        self.assertEqual([], node_engines.check(LOCK.read_text()))

    def test_package_that_wants_a_newer_node_is_reported(self):
        lock = json.dumps({"packages": {"": {"name": "app"}, "node_modules/@a/b": {"version": "2.0.0", "engines": {"node": ">=20"}},
                                        "node_modules/c": {"version": "1.0.0", "engines": {"node": ">=18"}}}})
        self.assertEqual(["@a/b 2.0.0 wants Node >=20; Debian 12 has 18.13.0"], node_engines.check(lock))

    def test_ranges_that_hold_18(self):
        for text in ["*", "", ">=18", ">= 14.17", "^18", "18", "18.x", "~18.13", "^16.20.0 || >=18.0.0", ">=16 <19", "16 - 18", "<=18", ">17", "v18.13.0"]:
            self.assertTrue(node_engines.admits(text), text)

    def test_ranges_that_leave_18_out(self):
        for text in [">=20", "^20.19.0 || >=22.12.0", ">=18.18", "<18", ">18", "~18.12", "16.x", "14 - 16", ">=16 <18", "=18.14", "a word"]:
            self.assertFalse(node_engines.admits(text), text)


if __name__ == "__main__":
    unittest.main()
