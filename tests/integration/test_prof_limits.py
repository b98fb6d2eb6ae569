"""Raw device data at the limits: very many slices, a folder that somebody is writing, an export that is killed, and many ranks.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_prof_limits.py
"""

import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from support import PROGRAM, ROOT, Case, snapshot

sys.path.insert(0, str(ROOT / "tools"))
import make_prof  # noqa: E402


class Limits(Case):
    def setUp(self):
        super().setUp()
        if os.access("/dev/shm", os.W_OK):  # 100,000 files take a busy disk minutes
            self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="steplens_test_", dir="/dev/shm"))
            self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)

    def make(self, *options):
        out = self.scratch / "made"
        shutil.rmtree(out, ignore_errors=True)
        truth = make_prof.make([out, *options])[0]
        return truth, out / truth["folder"]

    def test_a_hundred_thousand_slices(self):
        """One record a slice: names are sorted as numbers, and opening them is not quadratic."""
        _, folder = self.make("--ops", 1)
        data = folder / "device_0" / "data"
        for old in data.iterdir():
            old.unlink()
        for number in range(100_000):
            run, at_end = divmod(number, 2)
            record = struct.pack("<HHHHQ48x", at_end | 11 << 10, make_prof.STARS_MAGIC, 100 + run // 60_000, run % 60_000,
                                 make_prof.DEVICE_COUNT + 1000 + number)
            (data / f"stars_soc.data.0.slice_{number}").write_bytes(record)
        begin = time.monotonic()
        rows = self.query(folder, "select count(*) as n, min(dur_ns) as low, max(dur_ns) as high from device_tasks")
        self.assertEqual(rows, [{"n": 50_000, "low": 20, "high": 20}])
        self.assertLess(time.monotonic() - begin, 60)
        self.assertNotIn("issues", json.dumps(self.info(folder)["ranks"][0].get("issues") or ""))

    def test_a_folder_that_is_still_being_written(self):
        """Each look finds a beginning of what there will be, and none fails."""
        truth, whole = self.make("--ops", 400)
        growing = self.scratch / "growing" / whole.name
        shutil.copytree(whole, growing, ignore=lambda folder, names: names if folder.endswith("data") else [])
        files = sorted(path for path in whole.rglob("data/*"))
        stop = threading.Event()

        def write():
            step = 0
            while not stop.is_set():
                step += 1
                is_whole = True
                for path in files:
                    target = growing / path.relative_to(whole)
                    bytes_ = path.read_bytes()
                    end = min(len(bytes_), step * (len(bytes_) // 9 + 13))
                    is_whole &= end == len(bytes_)
                    with open(target, "ab") as out:
                        out.write(bytes_[target.stat().st_size:end])
                if is_whole:
                    return
                time.sleep(0.1)

        writer = threading.Thread(target=write)
        writer.start()
        seen = [0]
        try:
            while writer.is_alive():
                done = self.run_program("query", growing, "select count(*) as n from device_tasks", "--format", "json")
                self.assertIn(done.returncode, (0, 2, 3, 4), done.err)
                if done.returncode == 0:
                    seen.append(json.loads(done.out)[0]["n"])
        finally:
            stop.set()
            writer.join()
        self.assertEqual(seen, sorted(seen))
        rows = self.query(growing, "select count(*) as n from kernels where core <> 'COMMUNICATION'")
        self.assertEqual(rows[0]["n"], len(truth["kernels"]))

    def test_a_killed_export_leaves_nothing_half(self):
        """Results appear whole or not at all."""
        _, folder = self.make("--ops", 1500)
        before = snapshot(folder)
        self.run_program("analyse", folder, expect=0)

        def results():
            return {path.name.rsplit("_", 1)[0] for path in (folder / "mindstudio_profiler_output").glob("*")}, len(list(folder.glob("msprof_*.db")))

        whole = results()

        def clear():
            for path in list(folder.iterdir()):
                if path.name in ("mindstudio_profiler_output", "analyze"):
                    shutil.rmtree(path)
                elif path.is_file() or path.name not in ("host", "device_0"):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

        for delay in (0.01, 0.05, 0.1, 0.2, 0.3, 0.5):
            with self.subTest(delay=delay):
                clear()
                process = subprocess.Popen([PROGRAM, "analyse", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment)
                time.sleep(delay)
                process.send_signal(signal.SIGKILL)
                process.wait()
                files, databases = results()
                self.assertIn(files, (set(), whole[0]))
                self.assertIn(databases, (0, whole[1]))
                self.run_program("analyse", folder, "--force", expect=0)
                self.assertEqual(results()[0], whole[0])
        clear()
        self.assertEqual(snapshot(folder), before)


if __name__ == "__main__":
    unittest.main()
