"""The pages made from the code are up to date, and the examples in them run."""

import re
import shlex
import unittest

from support import ROOT, Case


class Docs(Case):
    def test_generated_pages_are_up_to_date(self):
        for page in ("commands", "schema"):
            with self.subTest(page=page):
                made = self.run_program("docs", page, expect=0).out
                self.assertEqual((ROOT / "docs" / f"{page}.md").read_text(), made,
                                 f"write it again: build/steplens docs {page} > docs/{page}.md")

    def test_examples_of_commands_run(self):
        examples = re.findall(r"Example:\n\n    (steplens .*)\n", (ROOT / "docs/commands.md").read_text())
        self.assertGreaterEqual(len(examples), 5)
        for example in examples:
            if shlex.split(example)[1] == "view":
                continue  # ends by Ctrl-C only; test_server.py starts it
            with self.subTest(example=example):
                self.run_program(*shlex.split(example)[1:], expect=0, cwd=ROOT)

    def test_outputs_shown_in_the_readmes_are_real(self):
        for name in ("README.md", "README.zh.md"):
            text = (ROOT / name).read_text()
            blocks = re.findall(r"```text\n\$ (steplens (?:.|\n)*?)\n((?:[A-Za-z]+ .*\n)(?:.|\n)*?)```", text)
            self.assertGreaterEqual(len(blocks), 3, name)
            for command, output in blocks:
                with self.subTest(command=command):
                    self.assertEqual(self.run_program(*shlex.split(command)[1:], expect=0, cwd=ROOT).out, output)


if __name__ == "__main__":
    unittest.main()
