"""Called by the name of another program, through a link, steplens takes that program's command lines."""

import os
import re
import subprocess
import sys
import time
import unittest

from support import PROGRAM, ROOT, SAMPLE, Case, snapshot

sys.path.insert(0, str(ROOT / "tools"))
import make_prof  # noqa: E402


class NameCase(Case):
    def setUp(self):
        super().setUp()
        self.links = self.scratch / "bin"
        self.links.mkdir()
        for name in ("msprof-analyze", "msprof", "steplens"):
            (self.links / name).symlink_to(PROGRAM)

    def called(self, name, *words, expect=0, variables=None):
        done = subprocess.run([self.links / name, *map(str, words)], capture_output=True, text=True, timeout=120, check=False,
                              env=dict(self.environment, **(variables or {})))
        self.assertEqual(done.returncode, expect, f"{words}\n{done.stdout[-1000:]}\n{done.stderr}")
        return done


class MsprofAnalyze(NameCase):
    def test_help_names_its_commands_alone(self):
        for words in (["--help"], ["-H"], []):
            text = self.called("msprof-analyze", *words).stdout
            for command in ("cluster", "compare", "advisor", "auto-completion"):
                self.assertIn(command, text)
            for command in ("record", "verify", "view"):
                self.assertNotRegex(text, rf"(?m)^\s+{command}\b")
        self.assertIn("msprof-analyze", self.called("msprof-analyze", "--help").stdout)
        self.assertIn("steplens ", self.called("msprof-analyze", "-V").stdout)

    def test_its_commands_do_what_ours_do(self):
        def run(name, folder):
            out = self.scratch / folder
            for words in (["-d", SAMPLE, "-m", "communication_time", "-o", out], ["cluster", "-d", SAMPLE, "-m", "slow_rank", "-o", out, "--export_type", "text"],
                          ["compare", "-d", SAMPLE, "-bp", SAMPLE, "-o", out / "compare"]):
                self.called(name, *words)
            return {path: data for path, data in snapshot(out).items() if "xlsx" not in path and "html" not in path and not path.endswith(".db")}, \
                   sorted(path.split("_2026")[0] for path in snapshot(out))
        self.assertEqual(run("msprof-analyze", "one"), run("steplens", "two"))

    def test_the_advisor_speaks_chinese_unless_asked(self):
        chinese = self.called("msprof-analyze", "advisor", "all", "-d", SAMPLE, "--format", "none").stdout
        english = self.called("msprof-analyze", "advisor", "all", "-d", SAMPLE, "--format", "none", "-l", "en").stdout
        self.assertRegex(chinese, "[\u4e00-\u9fff]")
        self.assertNotRegex(english, "[\u4e00-\u9fff]")
        self.assertEqual(english, self.called("steplens", "advisor", "all", "-d", SAMPLE, "--format", "none").stdout)

    def test_other_commands_are_not_there(self):
        self.assertIn("verify: no such file or folder", self.called("msprof-analyze", "verify", expect=3).stderr)  # a path of cluster
        self.assertIn("Try 'msprof-analyze compare --help'", self.called("msprof-analyze", "compare", "-d", expect=2).stderr)

    def test_it_prints_the_line_that_switches_completion_on(self):
        for shell, line in (("Bash", 'eval "$(_MSPROF_ANALYZE_COMPLETE=bash_source msprof-analyze)"'),
                            ("zsh", 'eval "$(_MSPROF_ANALYZE_COMPLETE=zsh_source msprof-analyze)"'),
                            ("Fish", "eval (env _MSPROF_ANALYZE_COMPLETE=fish_source msprof-analyze)")):
            self.assertIn(f"\n\n{line}\n\n", self.called("msprof-analyze", "auto-completion", shell).stdout)
        self.called("msprof-analyze", "auto-completion", "tcsh", expect=2)


class Completion(NameCase):
    def words(self, *typed, shell="bash"):
        done = self.called("msprof-analyze", variables={"_MSPROF_ANALYZE_COMPLETE": f"{shell}_complete", "COMP_WORDS": " ".join(("msprof-analyze", *typed)),
                                                        "COMP_CWORD": str(len(typed))})
        return done.stdout.splitlines()

    def test_candidates_come_from_the_table_of_help(self):
        self.assertEqual(self.words(""), ["plain,cluster", "plain,compare", "plain,advisor", "plain,auto-completion"])
        self.assertEqual(self.words("c"), ["plain,cluster", "plain,compare"])
        self.assertIn("plain,all", self.words("advisor", "a"))
        self.assertIn("plain,--profiling_path", self.words("advisor", "all", "--pro"))
        self.assertIn("plain,slow_rank", self.words("cluster", "-m", "slow"))
        self.assertEqual(self.words("cluster", "-d", "/tm"), ["dir,/tm"])
        self.assertIn("plain,slow_rank", self.words("-m", "slow"))  # cluster is meant
        zsh = self.words("c", shell="zsh")
        self.assertEqual(zsh[:2], ["plain", "cluster"])
        self.assertEqual(len(zsh), 6)

    def test_bash_completes_with_the_script(self):
        script = self.called("msprof-analyze", variables={"_MSPROF_ANALYZE_COMPLETE": "bash_source"}).stdout
        program = script + 'COMP_WORDS=(msprof-analyze advisor co) COMP_CWORD=2; _msprof_analyze_complete msprof-analyze co advisor; echo "${COMPREPLY[*]}"'
        done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True,
                              env=dict(self.environment, PATH=f"{self.links}:{os.environ['PATH']}"))
        self.assertEqual(done.stdout, "computation\n")

    def test_what_is_no_part_of_the_protocol_is_said(self):
        done = self.called("msprof-analyze", variables={"_MSPROF_ANALYZE_COMPLETE": "tcsh_source"}, expect=2)
        self.assertIn("none of bash_source", done.stderr)

    def test_the_variable_means_nothing_to_steplens(self):
        self.assertIn("record", self.called("steplens", "--help", variables={"_MSPROF_ANALYZE_COMPLETE": "bash_source"}).stdout)

    def test_candidates_are_there_at_once(self):
        self.words("adv")
        begin = time.monotonic()
        for _ in range(10):
            self.words("adv")
        self.assertLess((time.monotonic() - begin) / 10, 0.2)  # 20 ms on a quiet machine


class Msprof(NameCase):
    def test_it_is_our_command_of_that_name(self):
        self.assertIn("--export", self.called("msprof").stdout)
        self.assertIn("--export", self.called("msprof", "--help").stdout)
        done = self.called("msprof", "--export=on", "--output=/no/such/folder", expect=3)
        self.assertIn("no raw device data found", done.stderr)
        done = self.called("msprof", "--exprt=on", expect=2)
        self.assertIn("did you mean '--export'", done.stderr)
        self.assertIn("Try 'msprof --help'", done.stderr)

    def test_it_exports_what_our_command_exports(self):
        written = []
        for name, words in (("msprof", []), ("steplens", ["msprof"])):
            folder = self.scratch / name
            [truth, *_] = make_prof.make([folder])
            self.called(name, *words, "--export=on", f"--output={folder / truth['folder']}")
            written.append(sorted(re.sub(r"\d{8,}", "TIME", path) for path in snapshot(folder)))
        self.assertEqual(*written)
        self.assertTrue(any("mindstudio_profiler_output/" in path for path in written[0]), written[0])


if __name__ == "__main__":
    unittest.main()
