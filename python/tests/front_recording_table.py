"""The table of the users' documents in docs/recording.md: every test that it names exists."""

import pathlib
import re
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
ROOT = TESTS.parent.parent


class Table(unittest.TestCase):
    def test_every_test_that_the_table_names_exists(self):
        text = (ROOT / "docs" / "recording.md").read_text(encoding="utf-8")
        table = text[text.index("## The users' documents, row by row"):]
        named = re.findall(r"`([\w/.]+): (test_\w+)`", table)
        self.assertGreater(len(named), 50)
        for file, test in named:
            path = ROOT / file if "/" in file else TESTS / (file + ".py")
            self.assertIn(f"def {test}(self", path.read_text(encoding="utf-8"), (file, test))


if __name__ == "__main__":
    unittest.main()
