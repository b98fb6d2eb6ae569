"""One fuzz target reads all record families of PROF_*, chosen by the first byte: none is missing, and each has a seed that reaches it."""

import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import fuzz_seeds  # noqa: E402


def families_that_are_read():
    source = (ROOT / "src/readers/prof/known_families.h").read_text()
    return set(re.findall(r'"([^"]+)"', source.split("kNeedlessFamilies")[0].split("kHostFamilies", 1)[1]))


def parts(seed):
    """(number of the family, bytes) of an input, taken apart as prof_fuzz does it."""
    while len(seed) >= 3:
        length = seed[1] | seed[2] << 8
        yield seed[0], seed[3:3 + length]
        seed = seed[3 + length:]


class ProfFamilies(unittest.TestCase):
    def test_the_target_can_reach_every_family(self):
        self.assertGreater(len(families_that_are_read()), 50)
        self.assertEqual(families_that_are_read() - {name for _, name in fuzz_seeds.prof_families()}, set())

    def test_every_family_has_a_seed_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            fuzz_seeds.make_seeds(pathlib.Path(folder))
            for number, (file, name) in enumerate(fuzz_seeds.prof_families()):
                if not name:
                    continue
                seed = (pathlib.Path(folder) / "prof_fuzz" / name).read_bytes()
                reached = [data for at, data in parts(seed) if at == number]
                self.assertTrue(reached and reached[-1], file)
                self.assertEqual(len(reached[-1]) % fuzz_seeds.PROF_RECORD_BYTES.get(name, 1), 0, file)


if __name__ == "__main__":
    unittest.main()
