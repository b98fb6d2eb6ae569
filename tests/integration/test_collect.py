"""The collection library in programs that know it, and in programs that do not: C, mstx, the environment, a full disk."""

import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("STEPLENS_PROGRAM", ROOT / "build" / "steplens")).resolve()
BUILD = PROGRAM.parent
LIBRARY = BUILD / "libsteplens_collect.so"
MS_TOOLS_EXT = BUILD / "libms_tools_ext.so"

MSTX_PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#ifdef USE_LIBRARY
#include <stdint.h>
typedef struct mstxDomainRegistration_st* mstxDomainHandle_t;
#ifdef __cplusplus
extern "C" {
#endif
void mstxMarkA(const char*, void*);
uint64_t mstxRangeStartA(const char*, void*);
void mstxRangeEnd(uint64_t);
void mstxGetToolId(uint64_t*);
mstxDomainHandle_t mstxDomainCreateA(const char*);
void mstxDomainDestroy(mstxDomainHandle_t);
void mstxDomainMarkA(mstxDomainHandle_t, const char*, void*);
uint64_t mstxDomainRangeStartA(mstxDomainHandle_t, const char*, void*);
void mstxDomainRangeEnd(mstxDomainHandle_t, uint64_t);
#ifdef __cplusplus
}
#endif
#else
#include <steplens/mstx.h>
#endif

static void* End(void* id) {
  mstxRangeEnd(*(uint64_t*)id);
  return NULL;
}

int main(void) {
  uint64_t tool = 99;
  mstxGetToolId(&tool);
  mstxMarkA("mark", NULL);
  mstxMarkA("=formula", NULL);
  mstxMarkA("", NULL);
  mstxMarkA(NULL, NULL);
  uint64_t other_thread = mstxRangeStartA("other thread", NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, End, &other_thread);
  pthread_join(thread, NULL);
  mstxDomainHandle_t domain = mstxDomainCreateA("data");
  mstxDomainHandle_t again = mstxDomainCreateA("data");
  mstxDomainHandle_t refused = mstxDomainCreateA("default");
  uint64_t wrong = mstxDomainRangeStartA(domain, "in domain", NULL);
  mstxRangeEnd(wrong);
  mstxDomainRangeEnd(domain, wrong);
  mstxDomainMarkA(refused, "nowhere", NULL);
  mstxDomainDestroy(domain);
  mstxDomainMarkA(domain, "destroyed", NULL);
  mstxRangeEnd(0);
  mstxRangeEnd(123456);
  printf("%d %d %d %d %d\n", (int)tool, other_thread != 0, domain != NULL, domain == again, refused == NULL);
  return 0;
}
"""

STEPS_PROGRAM = r"""
#include <steplens/collect.h>
#include <stdio.h>
int main(void) {
  sl_string name = sl_intern("work", 4);
  sl_range_begin(name);
  sl_range_end();
#ifndef NO_STEPS
  for (int step = 1; step <= 6; ++step) {
    sl_step_begin(step);
    sl_range_begin(name);
    sl_range_end();
    sl_step_end();
  }
#endif
  puts("done");
  return 0;
}
"""

FULL_DISK_PROGRAM = r"""
#include <steplens/collect.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
  sl_options options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.directory = argv[argc - 1];
  options.rank = -1;
  if (sl_start(&options) != 0) return puts(sl_last_error()), 1;
  for (int i = 0; i < 20000; ++i) {
    sl_range_begin(sl_intern("a name of some length", 21));
    sl_range_end();
    if (i % 1000 == 0) sl_flush();
  }
  // The disk fills up to its last byte.
  FILE* filler = fopen(argv[1], "w");
  setbuf(filler, NULL);
  while (fputc('x', filler) != EOF) {
  }
  fclose(filler);
  sl_statistics s;
  int result = sl_stop(&s);
  printf("%d %llu %llu %llu %s\n", result, (unsigned long long)s.recorded, (unsigned long long)s.dropped,
         (unsigned long long)s.lost_on_write, sl_last_error());
  return 0;
}
"""

CLOCK_JUMP_PROGRAM = r"""
#define _GNU_SOURCE
#include <steplens/collect.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int jump_s;
// The wall clock, which somebody sets while the capture runs.
int clock_gettime(clockid_t id, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, id, time);
  if (id == CLOCK_REALTIME) time->tv_sec += jump_s;
  return result;
}
int main(int argc, char** argv) {
  sl_options options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.directory = argv[argc - 1];
  options.rank = -1;
  if (sl_start(&options) != 0) return 1;
  for (int step = 0; step < 4; ++step) {
    sl_step_begin(step);
    usleep(1000);
    sl_step_end();
    if (step == 1) jump_s = atoi(argv[1]);
  }
  return sl_stop(NULL);
}
"""


def records(path, fixed_bytes):
    """(fixed part, texts by tag) of each record of a framed file."""
    data = path.read_bytes() if path.exists() else b""
    found, at = [], 0
    while at < len(data):
        _, length = struct.unpack_from("<HI", data, at)
        end = at + 6 + length
        fixed, at, texts = data[at + 6:at + 6 + fixed_bytes], at + 6 + fixed_bytes, {}
        assert end <= len(data), "cut off"
        while at < end:
            tag, size = struct.unpack_from("<HI", data, at)
            texts[tag] = data[at + 6:at + 6 + size].decode()
            at += 6 + size
        found.append((fixed, texts))
    return found


def names(capture):
    return [texts[2] for _, texts in records(capture / "FRAMEWORK" / "torch.op_range", 58)]


@unittest.skipUnless(LIBRARY.exists(), "the collection library is not built")
class Collect(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"

    def compile(self, source, *options, compiler="cc", suffix=".c"):
        path = self.folder / ("program" + suffix)
        path.write_text(source)
        program = self.folder / "program"
        subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", path, "-o", program, "-pthread",
                        *map(str, options), "-ldl"], check=True)
        return program

    def link(self, library):
        return [f"-L{BUILD}", f"-l{library}", f"-Wl,-rpath,{BUILD}"]

    def run_program(self, *words, **environment):
        variables = {key: value for key, value in os.environ.items() if key not in ("RANK", "STEPLENS_RECORD")}
        variables.update({key: str(value) for key, value in environment.items()})
        done = subprocess.run([*map(str, words)], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60, cwd=self.folder)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done

    def wish(self, **keys):
        return json.dumps({"profile_save_path": str(self.out), **keys})

    def the_capture(self):
        captures = list(self.out.glob("*_ascend_pt"))
        self.assertEqual(1, len(captures), captures)
        self.assertRegex(captures[0].name, r"^.+_\d+_\d{17}_ascend_pt$")
        return captures[0]

    def marks(self):
        return {texts[1]: (texts.get(2), fixed) for fixed, texts in records(self.the_capture() / "FRAMEWORK" / "steplens.mark", 49)}

    # ---- The library itself ----

    def test_it_links_libc_only(self):
        for library in (LIBRARY, MS_TOOLS_EXT):
            text = subprocess.run(["readelf", "-d", library], stdout=subprocess.PIPE, text=True, check=True).stdout
            needed = set(re.findall(r"NEEDED.*\[(.*)\]", text))
            self.assertLessEqual(needed, {"libc.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2",
                                          "ld-linux-aarch64.so.1"})

    def test_it_shows_its_own_names_only(self):
        text = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], stdout=subprocess.PIPE, text=True, check=True).stdout
        shown = {line.split()[-1].split("@")[0] for line in text.splitlines()}
        self.assertIn("sl_start", shown)
        self.assertEqual([], [n for n in shown if not n.startswith("sl_") and n not in ("InitInjectionMstx", "STEPLENS_1")])

    def test_the_headers_are_c_and_cpp(self):
        for header in ("collect.h", "mstx.h", "device.h"):
            for compiler, suffix in (("cc", ".c"), ("c++", ".cc")):
                self.compile(f"#include <steplens/{header}>\nint main(void) {{ return 0; }}\n", "-Wno-unused-function",
                             compiler=compiler, suffix=suffix)

    # ---- mstx ----

    def expect_marks(self):
        marks = self.marks()
        self.assertEqual({"mark", "other thread", "in domain"}, set(marks))
        self.assertEqual("data", marks["in domain"][0])
        self.assertIsNone(marks["mark"][0])
        identity, start, end, start_thread, end_thread, _, kind = struct.unpack("<QqqQQQB", marks["other thread"][1])
        self.assertGreater(identity, 0)
        self.assertLessEqual(start, end)
        self.assertNotEqual(start_thread, end_thread)
        self.assertEqual(1, kind)

    def test_marks_without_a_tool_do_nothing(self):
        program = self.compile(MSTX_PROGRAM)
        self.assertEqual("0 0 0 1 1\n", self.run_program(program).stdout)
        self.assertEqual("0 0 0 1 1\n", self.run_program(program, MSTX_INJECTION_PATH="/not/there.so").stdout)
        self.assertFalse(self.out.exists())

    def test_marks_come_through_the_injection_path(self):
        for compiler, suffix in (("cc", ".c"), ("c++", ".cc")):
            with self.subTest(compiler):
                self.setUp()
                program = self.compile(MSTX_PROGRAM, compiler=compiler, suffix=suffix)
                done = self.run_program(program, MSTX_INJECTION_PATH=LIBRARY, STEPLENS_RECORD=self.wish())
                self.assertEqual("4096 1 1 1 1\n", done.stdout)
                self.expect_marks()

    def test_marks_come_through_a_preloaded_library(self):
        done = self.run_program(self.compile(MSTX_PROGRAM), LD_PRELOAD=LIBRARY, STEPLENS_RECORD=self.wish())
        self.assertEqual("4096 1 1 1 1\n", done.stdout)
        self.expect_marks()

    def test_marks_come_through_the_library_of_functions(self):
        program = self.compile(MSTX_PROGRAM, "-DUSE_LIBRARY", *self.link("ms_tools_ext"))
        self.assertEqual("0 0 0 1 1\n", self.run_program(program).stdout)
        done = self.run_program(program, MSTX_INJECTION_PATH=LIBRARY, STEPLENS_RECORD=self.wish())
        self.assertEqual("4096 1 1 1 1\n", done.stdout)
        self.expect_marks()

    def test_a_tool_without_a_wish_records_nothing(self):
        done = self.run_program(self.compile(MSTX_PROGRAM), MSTX_INJECTION_PATH=LIBRARY)
        self.assertEqual("4096 0 1 1 1\n", done.stdout)
        self.assertFalse(self.out.exists())

    # ---- On request of the environment ----

    def test_the_wanted_steps_are_recorded(self):
        program = self.compile(STEPS_PROGRAM, *self.link("steplens_collect"))
        self.run_program(program, RANK=0, STEPLENS_RECORD=self.wish(profile_step_start=2, profile_step_end=4, profile_level="level1"))
        capture = self.the_capture()
        self.assertEqual(["work", "ProfilerStep#2", "work", "ProfilerStep#3"], names(capture))
        info = json.loads((capture / "profiler_info_0.json").read_text())
        self.assertEqual("0", info["rank_id"])
        self.assertEqual("Level1", info["config"]["experimental_config"]["_profiler_level"])
        self.assertIn("end_info", info)

    def test_to_the_end_of_the_run(self):
        program = self.compile(STEPS_PROGRAM, *self.link("steplens_collect"))
        self.run_program(program, STEPLENS_RECORD=self.wish(profile_step_start=6, profile_step_end=-1))
        self.assertEqual(["work", "ProfilerStep#6"], names(self.the_capture()))

    def test_without_steps_the_whole_run_is_recorded(self):
        program = self.compile(STEPS_PROGRAM, "-DNO_STEPS", *self.link("steplens_collect"))
        self.run_program(program, STEPLENS_RECORD=self.wish(profile_step_start=2, profile_step_end=4))
        self.assertEqual(["work"], names(self.the_capture()))

    def test_other_ranks_record_nothing(self):
        program = self.compile(STEPS_PROGRAM, *self.link("steplens_collect"))
        self.run_program(program, RANK=1, STEPLENS_RECORD=self.wish(profile_ranks=[0, 2]))
        self.assertFalse(self.out.exists())

    def test_a_wish_that_cannot_be_granted_is_told_once_and_the_program_goes_on(self):
        program = self.compile(STEPS_PROGRAM, *self.link("steplens_collect"))
        (self.folder / "file").write_text("")
        for wish, text in (("{", "STEPLENS_RECORD is not a JSON object"),
                           (json.dumps({"save_path": str(self.folder / "file" / "x")}), "Not a directory")):
            done = self.run_program(program, STEPLENS_RECORD=wish)
            self.assertEqual("done\n", done.stdout)
            self.assertIn(text, done.stderr)
            self.assertEqual(1, done.stderr.count("steplens:"), done.stderr)

    # ---- Clocks ----

    def test_times_lie_inside_the_capture_whatever_the_clock(self):
        program = self.compile(STEPS_PROGRAM, *self.link("steplens_collect"))
        for clock, counts in (("", None), ("monotonic", False)):
            with self.subTest(clock):
                self.setUp()
                self.run_program(program, STEPLENS_RECORD=self.wish(), STEPLENS_CLOCK=clock)
                capture = self.the_capture()
                info = json.loads((capture / "profiler_info.json").read_text())
                start = info["start_info"]
                if counts is not None:
                    self.assertEqual(counts, start["syscnt_enable"])
                for fixed, _ in records(capture / "FRAMEWORK" / "torch.op_range", 58):
                    begin, end = struct.unpack_from("<qq", fixed)
                    if start["syscnt_enable"]:
                        begin, end = ((raw - start["start_cnt"]) * 1000 / start["freq"] + start["start_monotonic"]
                                      for raw in (begin, end))
                    self.assertLessEqual(start["start_monotonic"] - 1000, begin)
                    self.assertLessEqual(begin, end)
                    self.assertLessEqual(end, info["end_info"]["MonotonicTimeEnd"] + 1000)

    # ---- Bad days ----

    def test_a_full_disk_is_counted_and_the_job_lives(self):
        mount = self.folder / "small"
        mount.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", mount], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no right to mount a tmpfs")
        try:
            program = self.compile(FULL_DISK_PROGRAM, *self.link("steplens_collect"))
            done = self.run_program(program, mount / "filler", mount / "capture")
            result, recorded, dropped, lost, text = done.stdout.split(" ", 4)
            self.assertEqual(20000, int(recorded) + int(dropped) + int(lost), done.stdout)
            self.assertGreater(int(lost), 0)
            if int(result) != 0:
                self.assertIn("No space left", text)
                self.assertIn(f"{int(dropped) + int(lost)} of 20000 records were lost", text)
            self.assertEqual(int(recorded), len(names(mount / "capture")), "what is in the file is whole")
            info = json.loads((mount / "capture" / "profiler_info.json").read_text())
            self.assertEqual(info["steplens_drops"]["lost_on_write"], int(lost), "the capture itself says what it lacks")
            self.assertIn("end_info", info)
        finally:
            subprocess.run(["umount", mount], check=True)

    def test_a_wall_clock_that_is_set_meanwhile_moves_nothing(self):
        program = self.compile(CLOCK_JUMP_PROGRAM, *self.link("steplens_collect"))
        for jump_s in (3600, -3600):
            with self.subTest(jump_s):
                capture = self.out / f"jump{jump_s}_ascend_pt"
                self.run_program(program, jump_s, capture)
                info = json.loads((capture / "profiler_info.json").read_text())
                (_, monotonic, wall), *_, last = info["steplens_clock"]
                self.assertAlmostEqual(last[2] - last[1], wall - monotonic + jump_s * 10**9, delta=50e6, msg="the samples show it")
                end = info["end_info"]
                self.assertAlmostEqual(end["collectionTimeEnd"] - end["MonotonicTimeEnd"], wall - monotonic, delta=50e6)
                self.run_program(PROGRAM, "analyse", capture)
                self.run_program(PROGRAM, "verify", capture)

    def test_a_program_that_records_itself_is_left_alone(self):
        example = BUILD / "example_cpp"
        if not example.exists():
            self.skipTest("example_cpp is not built")
        for keys, kept in (({"profile_step_start": 1}, 0), ({"profile_step_start": 3, "profile_step_end": 4}, 0), ({}, 1)):
            with self.subTest(keys):
                own, asked = self.folder / f"own{kept}{len(keys)}", self.folder / f"asked{kept}{len(keys)}"
                wish = json.dumps({"profile_save_path": str(asked), "profile_analyse": "no", **keys})
                done = self.run_program(example, own, 20, STEPLENS_RECORD=wish)
                self.assertIn("steplens: this program records itself", done.stderr)
                (capture,) = own.glob("*_ascend_pt")
                self.assertEqual([f"ProfilerStep#{step}" for step in (2, 3, 4)],
                                 [n for n in names(capture) if n.startswith("ProfilerStep")])
                self.assertEqual(len(list(asked.glob("*_ascend_pt"))), kept, "what was recorded before is kept if it was wanted")

    def test_the_example_records_its_schedule(self):
        example = BUILD / "example_cpp"
        if not example.exists():
            self.skipTest("example_cpp is not built")
        done = self.run_program(example, self.out, 20)
        self.assertIn("20 steps, loss", done.stdout)
        found = names(self.the_capture())
        self.assertEqual([f"ProfilerStep#{step}" for step in (2, 3, 4)], [n for n in found if n.startswith("ProfilerStep")])
        for name in ("forward", "backward", "optimizer", "load_batch"):
            self.assertEqual(3, found.count(name), name)
        self.assertEqual(9, found.count("matmul"))


if __name__ == "__main__":
    unittest.main()
