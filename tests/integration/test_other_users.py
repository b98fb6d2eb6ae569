"""Other users of the machine: what they make is not used, and what we make is not theirs to read."""

import os
import pathlib
import shutil
import stat
import unittest

from support import SAMPLE, Case

NOBODY = 65534

needs_root = unittest.skipUnless(os.geteuid() == 0, "only root can act as another user")


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class ControlFolder(Case):
    def setUp(self):
        super().setUp()
        self.jobs = self.scratch / "jobs"
        self.jobs.mkdir(mode=0o700)
        self.environment["STEPLENS_JOBS"] = str(self.jobs)

    def rank_file(self, job, rank=0):
        folder = self.jobs / job
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"rank_{rank}.json"
        path.write_text('{"rank": %d, "host": "elsewhere", "pid": 1, "step": 5, "state": "idle"}' % rank)
        return path

    @needs_root
    def test_jobs_of_somebody_else_are_not_listed(self):
        self.rank_file("mine")
        theirs = self.rank_file("theirs").parent
        os.chown(theirs, NOBODY, NOBODY)
        done = self.run_program("record", "status", expect=0)
        self.assertIn("job mine", done.out)
        self.assertNotIn("job theirs", done.out)
        self.assertIn("theirs: belongs to another user, or others may write to it; it is not used", done.err)

    @needs_root
    def test_a_rank_file_of_somebody_else_is_not_believed(self):
        self.rank_file("mine", 0)
        os.chown(self.rank_file("mine", 7), NOBODY, NOBODY)
        done = self.run_program("record", "status", expect=0)
        self.assertIn("rank_7.json: belongs to another user; it is not used", done.err)
        self.assertEqual(len(done.out.splitlines()), 4, done.out)  # the job, the titles and a line below them, rank 0
        self.assertIn("no rank 7", self.run_program("record", "start", "--profile-ranks", "7", expect=3).err)

    def test_rank_files_that_are_links_or_pipes_are_not_waited_for(self):
        self.rank_file("mine", 0)
        os.mkfifo(self.jobs / "mine" / "rank_1.json")
        os.symlink(self.jobs / "mine" / "rank_0.json", self.jobs / "mine" / "rank_2.json")
        done = self.run_program("record", "status", expect=0, timeout=20)
        self.assertIn("rank_1.json: is not a file", done.err)
        self.assertIn("rank_2.json: is a link", done.err)

    def test_a_folder_that_others_may_write_to_is_not_used(self):
        os.chmod(self.jobs, 0o777)
        done = self.run_program("record", "--profile-save-path", self.scratch / "out", "--job", "a", "--", "true", expect=0)
        self.assertIn("cannot be steered", done.err)
        self.assertIn("other users may write to this folder", done.err)
        self.assertEqual(list(self.jobs.iterdir()), [])

    def test_nothing_is_made_in_the_folder_for_everybody(self):
        del self.environment["STEPLENS_JOBS"]
        self.environment.pop("XDG_RUNTIME_DIR", None)
        self.environment["HOME"] = str(self.scratch / "home")
        guess = pathlib.Path(f"/tmp/steplens-{os.getuid()}")
        before = guess.exists()
        script = "ls -ld $(find $HOME/.local/state/steplens -type d)"
        done = self.run_program("record", "--profile-save-path", self.scratch / "out", "--job", "a", "--", "sh", "-c", script, expect=0)
        self.assertIn("/steplens/jobs", done.out)
        for line in done.out.splitlines():
            self.assertTrue(line.startswith("drwx------"), line)
        self.assertEqual(guess.exists(), before)

    @needs_root
    def test_a_runtime_folder_of_somebody_else_is_not_used(self):
        del self.environment["STEPLENS_JOBS"]
        runtime = self.scratch / "runtime"
        runtime.mkdir(mode=0o700)
        os.chown(runtime, NOBODY, NOBODY)
        self.environment.update(XDG_RUNTIME_DIR=str(runtime), HOME=str(self.scratch / "home"))
        self.run_program("record", "--profile-save-path", self.scratch / "out", "--job", "a", "--", "true", expect=0)
        self.assertEqual(list(runtime.iterdir()), [])


class Modes(Case):
    """Captures that only their owner may read, and what becomes of them under the most generous umask."""

    def setUp(self):
        super().setUp()
        os.chmod(self.scratch, 0o755)
        self.capture = self.scratch / "capture"
        shutil.copytree(SAMPLE, self.capture)
        self.out = self.scratch / "out"
        before = os.umask(0)
        self.addCleanup(os.umask, before)

    def modes(self, folder):
        return {str(path.relative_to(folder)): mode(path) for path in folder.rglob("*") if path.is_file()}

    def make_everything(self):
        self.run_program("cluster", "-m", "all", "-d", self.capture, "-o", self.out / "cluster", expect=0)
        self.run_program("cluster", "map", "-d", self.capture, "--out", self.out / "parts.slp", expect=0)
        self.run_program("convert", self.capture, "--to", "db", "-o", self.out / "db", expect=0)
        self.run_program("convert", self.capture, "--to", "text", "-o", self.out / "text", expect=0)
        return self.modes(self.out)

    def test_results_of_a_private_capture_are_private(self):
        for path in self.capture.rglob("*.csv"):
            path.chmod(0o600)
        for name, found in self.make_everything().items():
            self.assertEqual(found & 0o077, 0, f"{name}: {found:o}")

    def test_a_private_folder_above_makes_a_capture_private(self):
        os.chmod(self.capture, 0o700)
        for name, found in self.make_everything().items():
            self.assertEqual(found & 0o077, 0, f"{name}: {found:o}")
        # Also where nothing is read but what earlier runs have kept.
        shutil.rmtree(self.out)
        for name, found in self.make_everything().items():
            self.assertEqual(found & 0o077, 0, f"{name}: {found:o}")

    def test_results_of_a_public_capture_are_as_the_umask_says(self):
        found = self.make_everything()
        self.assertEqual(found["parts.slp"], 0o644)
        os.umask(0o077)
        shutil.rmtree(self.out)
        for name, narrow in self.make_everything().items():
            self.assertEqual(narrow & 0o077, 0, f"{name}: {narrow:o}")

    def test_parts_carry_on_who_may_read(self):
        os.chmod(self.capture, 0o700)
        self.run_program("cluster", "map", "-d", self.capture, "--out", self.scratch / "parts.slp", expect=0)
        self.run_program("cluster", "reduce", self.scratch / "parts.slp", "-o", self.out, expect=0)
        for name, found in self.modes(self.out).items():
            self.assertEqual(found & 0o077, 0, f"{name}: {found:o}")

    def test_the_cache_is_for_its_user_alone(self):
        self.run_program("breakdown", self.capture, expect=0)
        self.run_program("cluster", "-m", "all", "-d", self.capture, "-o", self.out, expect=0)
        cache = self.scratch / "cache"
        self.assertEqual(mode(cache), 0o700)
        found = self.modes(cache)
        self.assertGreaterEqual(len(found), 3)  # two ranks and their parts
        self.assertEqual(set(found.values()), {0o600}, found)

    def test_an_old_cache_folder_is_closed_to_others(self):
        home = self.scratch / "home"
        old = home / ".cache" / "steplens"
        old.mkdir(parents=True)
        del self.environment["STEPLENS_CACHE_DIR"]
        self.environment.pop("XDG_CACHE_HOME", None)
        self.environment["HOME"] = str(home)
        self.assertEqual(mode(old), 0o777)
        self.run_program("breakdown", self.capture, expect=0)
        self.assertEqual(mode(old), 0o700)
        self.assertEqual(len(list(old.iterdir())), 2)


class CacheOfOthers(Case):
    @needs_root
    def test_a_cache_folder_of_somebody_else_is_not_used(self):
        cache = self.scratch / "cache"
        cache.mkdir()
        os.chown(cache, NOBODY, NOBODY)
        done = self.run_program("breakdown", SAMPLE, expect=0)
        self.assertIn("cache: the folder belongs to another user; it is not used", done.err)
        self.assertEqual(list(cache.iterdir()), [])

    def test_a_cache_folder_that_others_may_write_to_is_not_used(self):
        cache = self.scratch / "cache"
        cache.mkdir()
        os.chmod(cache, 0o777)
        for words in (["breakdown", SAMPLE], ["cluster", "-m", "all", "-d", SAMPLE, "-o", self.scratch / "out"]):
            self.assertIn("other users may write to this folder; it is not used", self.run_program(*words, expect=0).err)
        self.assertEqual(list(cache.iterdir()), [])

    @needs_root
    def test_an_entry_of_somebody_else_is_not_mapped(self):
        before = self.run_program("breakdown", SAMPLE, expect=0).out
        entries = sorted((self.scratch / "cache").iterdir())
        for entry in entries:
            os.chown(entry, NOBODY, NOBODY)
        self.assertEqual(self.run_program("breakdown", SAMPLE, expect=0).out, before)
        # Replaced by our own.
        self.assertEqual({os.stat(entry).st_uid for entry in entries}, {0})


if __name__ == "__main__":
    unittest.main()
