"""The file lint reports what it should, and nothing else."""

import pathlib
import tempfile
import unittest

import files


class Files(unittest.TestCase):
    def check(self, tree):
        """(problems, remarks) of a project given as {path: text}."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in tree.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())
            return files.check(root)

    def problems(self, tree):
        return self.check(tree)[0]

    def test_clean_tree_passes(self):
        self.assertEqual(([], []), self.check({"src/base/README.md": "# base\n", "src/base/a.h": "int a;\n"}))

    def test_folder_without_readme_is_reported(self):
        self.assertEqual(["src/base: no README.md"], self.problems({"src/base/a.h": "int a;\n"}))

    def test_layout_is_reported_with_its_line(self):
        self.assertEqual(["docs/a.md:1: tab", "docs/a.md:2: blank at the end of the line",
                          "docs/a.md: no newline at the end of the file"],
                         self.problems({"docs/a.md": "a\tb\nc \nd"}))

    def test_a_type_is_defined_once_in_a_namespace(self):
        tree = {"src/base/README.md": "# base\n", "src/base/a.h": "namespace x {\nstruct A {\n};\nclass B;\n}\n",
                "src/base/b.h": "namespace x {\nstruct A : C {\n};\nclass B {\n  struct A {\n  };\n};\n}\n",
                "src/base/c.h": "namespace y {\nstruct A {\n};\n}\n"}
        self.assertEqual(["src/base/b.h: A is defined in src/base/a.h as well, in the same namespace"], self.problems(tree))

    def test_todo_needs_an_issue(self):
        self.assertEqual(["docs/a.md:1: TODO without an issue number, write TODO(#12)"],
                         self.problems({"docs/a.md": "TODO: later\nTODO(#7): later\n"}))

    def test_long_source_is_remarked_then_refused(self):
        readme = {"src/base/README.md": "# base\n"}
        self.assertEqual(1, len(self.check({**readme, "src/base/a.cc": "\n" * 550})[1]))
        self.assertEqual(1, len(self.problems({**readme, "src/base/a.cc": "\n" * 601})))

    def test_sample_data_keeps_its_own_layout(self):
        self.assertEqual([], self.problems({"examples/sample/a.json": "{\t} "}))

    def test_other_encodings_are_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs/a.md").write_bytes(b"ab\xff\n")
            self.assertEqual(["docs/a.md: not UTF-8 at byte 2"], files.check(root)[0])


if __name__ == "__main__":
    unittest.main()
