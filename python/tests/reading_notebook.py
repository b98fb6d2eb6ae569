"""The tutorial notebook and the examples of docs/python.md run, and things look as they should in a notebook."""

import ast
import atexit
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest
import urllib.request
import xml.etree.ElementTree

import steplens

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "sample"
os.environ["STEPLENS_CACHE_DIR"] = tempfile.mkdtemp(prefix="steplens_reading_")
atexit.register(shutil.rmtree, os.environ["STEPLENS_CACHE_DIR"], True)


def run_cell(source, names):
    """Runs a cell as Jupyter does; returns what it prints and its last value."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "cell", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return said.getvalue(), value


class Notebook(unittest.TestCase):
    def test_every_cell_of_the_tutorial_runs_and_says_what_its_text_claims(self):
        document = json.loads((ROOT / "examples" / "reading.ipynb").read_text())
        self.assertEqual((document["nbformat"], document["nbformat_minor"]), (4, 5))
        before = os.getcwd()
        os.chdir(ROOT / "examples")
        self.addCleanup(os.chdir, before)
        names, said, values = {}, "", []
        for cell in document["cells"]:
            if cell["cell_type"] != "code":
                continue
            self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), "saved with its outputs")
            printed, value = run_cell("".join(cell["source"]), names)
            said += printed
            values.append(value)
            if hasattr(value, "_repr_html_"):
                self.assertIn("<table>", value._repr_html_())
        computing = [float(ms) for ms in re.findall(r"rank \d step \d+: ([\d.]+) ms computing", said)]
        self.assertEqual(len(computing), 6)
        self.assertGreater(computing[4], 1.3 * computing[1], "rank 1 is slower in step 11")
        self.assertIn("57 kernels", said)
        self.assertIn("no such column: durr_ns; did you mean 'dur_ns'?", said)
        self.assertIn({"within noise"}, values)
        self.assertTrue(any(isinstance(value, list) and any(kind == "late_rank" for kind, *_ in value) for value in values))

    def test_the_first_example_of_the_page_runs(self):
        page = (ROOT / "docs" / "python.md").read_text()
        example = re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)
        os.chdir(ROOT)
        run_cell(example.replace('"run1", "run2"', '"examples/sample", "examples/sample"'), {})

    def test_calls_and_methods_that_the_page_names_exist(self):
        page = (ROOT / "docs" / "python.md").read_text()
        job = steplens.open(SAMPLE)
        called = set(re.findall(r"job\.(\w+)", page))
        self.assertGreater(len(called), 20)
        for name in sorted(called):
            self.assertTrue(hasattr(job, name), name)
        for name in re.findall(r"steplens\.(\w+)\(", page):
            self.assertTrue(hasattr(steplens, name), name)
        for name in re.findall(r"\| `(\w+Error)` \|", page):
            self.assertTrue(issubclass(getattr(steplens, name), steplens.Error), name)
        for mode in re.findall(r'cluster\("(\w+)"\)', page):
            self.assertGreater(len(job.cluster(mode).tables), 0, mode)


class Look(unittest.TestCase):
    def setUp(self):
        self.job = steplens.open(SAMPLE)

    def test_text_is_that_of_the_console_and_tells_what_is_left_out(self):
        text = repr(self.job.ops("name"))
        self.assertIn("Core Type", text)
        self.assertIn("1,362 rows", repr(self.job.slices))
        self.assertIn("(1,357 more of 1,362 rows)", repr(self.job.slices))
        self.assertIn("(no rows)", repr(self.job.query("SELECT name FROM slices WHERE 0")))
        self.assertIn("job of 2 ranks", repr(self.job))
        self.assertIn("rank_wait:", repr(self.job.cluster("slow_rank")))
        self.assertIn("ascend_pt", repr(self.job.ranks))

    def test_every_answer_can_be_shown(self):
        for name in steplens.questions():
            try:
                answer = self.job.ask(name)
            except steplens.Error:
                continue
            self.assertTrue(repr(answer))
            self.assertIn("<table>", answer._repr_html_())
        for name in self.job.tables:
            self.assertIn("<table>", self.job[name]._repr_html_())
            self.assertTrue(repr(self.job[name]))

    def test_charts_are_svg_with_bars_of_the_right_length(self):
        markup = self.job.breakdown()._repr_html_()
        drawing = xml.etree.ElementTree.fromstring(re.search(r"<svg.*?</svg>", markup).group(0))
        bars = [float(one.get("width")) for one in drawing if one.tag.endswith("rect") and one.get("width") != "10"]
        self.assertEqual(len(bars), 6 * 3)
        row = next(self.job.breakdown().rows())
        parts = dict(zip(self.job.breakdown().columns, row))
        self.assertAlmostEqual(bars[0] / bars[1], parts["computing_ns"] / parts["communication_not_overlapped_ns"], delta=0.01)

    def test_names_of_the_capture_cannot_become_markup(self):
        result = self.job.query("SELECT '<script>alert(1)</script>' AS \"<b>\", 1.5 AS x UNION ALL SELECT '<i>', 2.5")
        markup = result._repr_html_()
        self.assertNotIn("<script>", markup)
        self.assertNotIn("<b>", markup)
        self.assertIn("&lt;script&gt;", markup)

    def test_the_viewer_starts_and_ends(self):
        with self.job.view() as view:
            self.assertRegex(view.url, r"^http://127\.0\.0\.1:\d+/")
            self.assertIn(view.url.split("?")[0], view._repr_html_())
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())  # the token becomes a cookie
            with browser.open(view.url, timeout=30) as page:
                self.assertEqual(page.status, 200)
                self.assertIn("frame-ancestors 'self' http://localhost:* http://127.0.0.1:*", page.headers["Content-Security-Policy"])
        self.assertIn("closed", repr(view))


if __name__ == "__main__":
    unittest.main()
