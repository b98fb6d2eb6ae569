import pathlib
import tempfile
import unittest

import python_names


class PythonNames(unittest.TestCase):
    def check(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
            return python_names.check(pathlib.Path(folder))

    def test_an_unused_import_is_a_problem(self):
        [problem] = self.check("tools/a.py", "import os\n")
        self.assertIn("'os' imported but unused", problem)

    def test_scripts_without_an_ending_are_looked_at(self):
        [problem] = self.check("scripts/a", "#!/usr/bin/env python3\nprint(missing)\n")
        self.assertIn("undefined name 'missing'", problem)

    def test_packages_offer_what_they_import(self):
        self.assertEqual(self.check("python/p/__init__.py", "from .a import b\n"), [])

    def test_an_import_for_its_effect_says_so(self):
        self.assertEqual(self.check("python/p/a.py", "import torch  # noqa: F401\n"), [])
        self.assertEqual(len(self.check("python/p/a.py", "import torch  # needed\n")), 1)

    def test_syntax_newer_than_the_oldest_python_is_a_problem(self):
        [problem] = self.check("python/steplens/a.py", "match 1:\n    case 1:\n        pass\n")
        self.assertIn("a.py:3: Pattern matching is only supported in Python 3.10", problem)


if __name__ == "__main__":
    unittest.main()
