"""The committed sample profile is what its script makes, and stays small."""

import pathlib
import sys
import tempfile
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

import make_sample


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Sample(unittest.TestCase):
    def test_making_it_again_gives_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            make_sample.make_sample(folder)
            made = contents(pathlib.Path(folder))
        committed = contents(EXAMPLES / "sample")
        self.assertEqual(sorted(committed), sorted(made))
        self.assertEqual([], [name for name in made if made[name] != committed[name]])

    def test_both_ranks_together_are_below_600_kb(self):
        self.assertLess(sum(map(len, contents(EXAMPLES / "sample").values())), 600_000)


if __name__ == "__main__":
    unittest.main()
