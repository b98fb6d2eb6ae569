"""The version stands in VERSION alone: whoever needs it reads that file."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACES = ["CMakeLists.txt", "src/**/CMakeLists.txt", "python/CMakeLists.txt", "python/*.toml", "python/setup.py", "python/steplens/**/*.py",
          "src/**/*.h", "src/**/*.cc", "include/**/*.h", "ui/package.json"]


def repeats(texts, version):
    """Names of the texts that state the version."""
    stated = re.compile(r"version\W{1,6}" + re.escape(version) + r"(?![\w.])", re.IGNORECASE)
    return [name for name, text in texts if stated.search(text)]


class Version(unittest.TestCase):
    def test_no_other_file_states_it(self):
        version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
        paths = sorted({path for place in PLACES for path in ROOT.glob(place)})
        self.assertGreater(len(paths), 500)
        self.assertEqual([], repeats(((str(path.relative_to(ROOT)), path.read_text(encoding="utf-8", errors="replace")) for path in paths), version))

    def test_one_that_does_is_found(self):
        texts = [("CMakeLists.txt", "project(steplens VERSION 1.2.3)"), ("setup.py", 'version="1.2.3",'), ("a.h", 'kVersion = "1.2.3"'),
                 ("b.h", "version 1.2.30"), ("c.h", "1.2.3")]
        self.assertEqual(["CMakeLists.txt", "setup.py", "a.h"], repeats(texts, "1.2.3"))


if __name__ == "__main__":
    unittest.main()
