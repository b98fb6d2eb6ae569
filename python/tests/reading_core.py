"""`import steplens` for reading: jobs, tables, columns, queries, questions, on the sample of the repository."""

import ast
import atexit
import gc
import importlib.util
import inspect
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import steplens

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "sample"
os.environ["STEPLENS_CACHE_DIR"] = tempfile.mkdtemp(prefix="steplens_reading_")
atexit.register(shutil.rmtree, os.environ["STEPLENS_CACHE_DIR"], True)


def program(*words):
    done = subprocess.run([os.environ["STEPLENS_PROGRAM"], *map(str, words)], capture_output=True, check=True)
    return done.stdout.decode()


class Open(unittest.TestCase):
    def test_a_job_has_its_ranks_tables_and_steps(self):
        job = steplens.open(SAMPLE)
        self.assertEqual([rank.number for rank in job.ranks], [0, 1])
        self.assertEqual(job.ranks.of(1).source, "ascend_pt")
        self.assertEqual(job.steps["step"].to_list(), [10, 11, 12, 10, 11, 12])
        self.assertIn("slices", job.tables)
        self.assertEqual(len(job.slices), job.query("SELECT count(*) n FROM slices")["n"][0])
        self.assertEqual(len(job.ranks[1].slices), job.query("SELECT count(*) n FROM slices WHERE rank = 1")["n"][0])
        self.assertEqual(job.notes, [])

    def test_every_table_of_the_schema_has_the_columns_and_values_that_sql_has(self):
        job = steplens.open(SAMPLE)
        for name in job.tables:
            table = job[name]
            result = job.query(f'SELECT * FROM "{name}" LIMIT 500')
            self.assertEqual(list(table.columns), result.columns, name)
            for column in result.columns:
                values = table[column].to_list()[:500]
                self.assertEqual([_same(value) for value in values], [_same(value) for value in result[column].to_list()],
                                 f"{name}.{column}")

    def test_several_paths_are_one_job(self):
        job = steplens.open([SAMPLE / "rank0_ascend_pt", str(SAMPLE / "rank1_ascend_pt")])
        self.assertEqual(len(job.ranks), 2)

    def test_a_broken_rank_is_noted_and_an_error_if_strict(self):
        with tempfile.TemporaryDirectory() as folder:
            for rank in (0, 1):
                os.symlink(SAMPLE / f"rank{rank}_ascend_pt", os.path.join(folder, f"rank{rank}_ascend_pt"))
            broken = pathlib.Path(folder, "trace_view.json")
            broken.write_text('{"traceEvents": [{"ph":"X"')
            job = steplens.open([SAMPLE, broken])
            self.assertTrue(any("trace_view.json" in note or "rank" in note for note in job.notes), job.notes)
            with self.assertRaises(steplens.CorruptDataError):
                steplens.open([SAMPLE, broken], strict=True)


def _same(value):
    """NULL of a column that SQLite shows by value: numbers that have no fraction are the same."""
    return float(value) if isinstance(value, (int, float)) else value


class Answers(unittest.TestCase):
    def setUp(self):
        self.job = steplens.open(SAMPLE)

    def test_breakdown_is_that_of_the_program(self):
        rows = [line.split(",") for line in program("breakdown", SAMPLE, "--csv").splitlines()[1:]]
        mine = list(self.job.breakdown().rows())
        self.assertEqual(len(mine), len(rows))
        for row, expected in zip(mine, rows):
            self.assertEqual(list(row[:2]), [int(cell) for cell in expected[:2]])
            self.assertEqual([f"{ns // 1000}.{ns % 1000:03}" for ns in row[2:]], expected[2:])
        self.assertEqual(len(self.job.breakdown(rank=1, step=11)), 1)

    def test_ops_are_those_of_the_program(self):
        for by in ("name", "type", "shape", "core", "api", "operator"):
            lines = program("ops", SAMPLE, "--by", by, "--csv").splitlines()
            self.assertEqual(len(self.job.ops(by)), len(lines) - 1, by)
        self.assertEqual(self.job.ops().columns, self.job.ops(by="type").columns)

    def test_every_question_answers_as_a_method(self):
        for name in steplens.questions():
            method = getattr(self.job, name if name not in self.job.tables else f"{name}_page")
            self.assertTrue(method.__doc__, name)
            try:
                answer = method()
            except steplens.Error:
                continue  # the sample lacks what it is about
            self.assertIsInstance(answer.to_dicts(), list, name)

    def test_arguments_are_typed_and_checked(self):
        self.assertEqual(list(inspect.signature(self.job.overview).parameters), ["rank", "step", "top"])
        self.assertIn("top: how many rows (default 15)", self.job.overview.__doc__)
        self.assertEqual(len(self.job.overview(top=3).tables["top_kernels"]), 3)
        self.assertEqual(len(self.job.pipeline(ranks=[0]).tables), len(self.job.pipeline(ranks="0").tables))
        with self.assertRaisesRegex(TypeError, "no argument 'rnk'; arguments: rank, step, top"):
            self.job.overview(rnk=1)
        with self.assertRaisesRegex(steplens.NotFoundError, "there is no rank 9"):
            self.job.overview(rank=9)
        with self.assertRaisesRegex(steplens.InvalidArgumentError, "top"):
            self.job.overview(top="many")
        with self.assertRaisesRegex(steplens.NotFoundError, "did you mean 'overview'"):
            self.job.ask("overvie")

    def test_cluster_modes_and_findings(self):
        self.assertIn("rank_wait", self.job.cluster("slow_rank").tables)
        self.assertEqual(self.job.cluster("summary").name, self.job.ask("cluster_summary").name)
        kinds = self.job.findings()["kind"].to_list()
        self.assertIn("late_rank", kinds)

    def test_compare_takes_jobs_and_paths(self):
        answer = steplens.compare(self.job, SAMPLE)
        self.assertEqual(list(answer.tables), ["RunOverview", "RunChanges", "RunRanks", "RunGroups"])
        self.assertEqual(set(answer["verdict"].to_list()), {"within noise"})

    def test_queries_keep_the_names_and_types_of_sql(self):
        result = self.job.query('SELECT 1 AS "A B", 1.5 AS x, NULL AS y, \'t\' AS t UNION ALL SELECT 2, 2.5, 7, NULL')
        self.assertEqual(result.to_dicts(), [{"A B": 1, "x": 1.5, "y": None, "t": "t"}, {"A B": 2, "x": 2.5, "y": 7, "t": ""}])
        self.assertEqual(len(self.job.query("SELECT * FROM slices", max_rows=7)), 7)

    def test_the_stub_is_made_from_the_registry(self):
        from steplens import _stubs

        path = pathlib.Path(_stubs.__file__).with_name("_questions.pyi")  # beside the module, in the build
        text = path.read_text()
        self.assertEqual(text, _stubs.stub())
        methods = {one.name: one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef)}
        for name in steplens.questions():
            if name in vars(steplens.Job):
                continue
            method = methods.get(name) or methods[f"{name}_page"]
            known = inspect.signature(getattr(self.job, method.name)).parameters
            self.assertEqual([argument.arg for argument in method.args.kwonlyargs], list(known), name)
            self.assertEqual(ast.get_docstring(method), inspect.getdoc(getattr(self.job, method.name)), name)


class Mistakes(unittest.TestCase):
    def setUp(self):
        self.job = steplens.open(SAMPLE)

    def check(self, error, text, call):
        with self.assertRaisesRegex(error, text) as caught:
            call()
        self.assertIsInstance(caught.exception, steplens.Error)

    def test_messages_are_those_of_the_program(self):
        self.check(steplens.NotFoundError, "/nowhere: no such file or folder", lambda: steplens.open("/nowhere"))
        self.check(LookupError, "no path|did you mean 'name'", lambda: self.job.slices["nme"])
        self.check(ValueError, "may not be modified", lambda: self.job.query("DELETE FROM slices"))
        self.check(ValueError, "a query can only read", lambda: self.job.query("ATTACH 'x' AS y"))
        self.check(steplens.NotFoundError, "no such column: nme; did you mean 'name'", lambda: self.job.query("SELECT nme FROM slices"))
        self.check(ValueError, "NUL byte", lambda: self.job.query("SELECT 1\0"))
        self.check(ValueError, "is negative", lambda: self.job.query("SELECT 1", max_rows=-1))
        self.check(ValueError, "'typ' is not one of name, type", lambda: self.job.ops("typ"))
        self.check(LookupError, "there is no step 99; steps: 10, 11, 12", lambda: self.job.breakdown(step=99))
        self.check(ValueError, "threads: -1 is out of range", lambda: steplens.open(SAMPLE, threads=-1))
        self.check(ValueError, "no path was given", lambda: steplens.open([]))
        self.check(LookupError, "there is no table 'x'; tables: ranks", lambda: self.job["x"])
        with self.assertRaises(AttributeError):
            self.job.nothing_like_it
        with self.assertRaises(TypeError):
            steplens.open(3)
        with self.assertRaises(AttributeError):
            steplens.nothing_like_it

    def test_a_closed_job_says_so_and_its_arrays_live_on(self):
        column = self.job.ranks[0].slices["dur_ns"]
        table = self.job.slices
        before = column.to_list()
        with self.job:
            pass
        self.check(ValueError, "this job was closed", lambda: self.job.query("SELECT 1"))
        self.check(ValueError, "this job was closed", lambda: self.job.slices)
        self.assertIn("closed", repr(self.job))
        self.job = None
        gc.collect()
        self.assertEqual(column.to_list(), before)
        self.assertEqual(table["dur_ns"].to_list()[:len(before)], before)

    def test_a_capture_that_changes_or_goes_while_it_is_open_does_not_change_the_job(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "copy")
            shutil.copytree(SAMPLE, copy)
            job = steplens.open(copy)
            before = [repr(list(job.ops(by).rows())) for by in ("name", "api", "operator")]
            (copy / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").write_text("[]")
            self.assertEqual(len(job.slices), len(self.job.slices))
            shutil.rmtree(copy)
            self.assertEqual([repr(list(job.ops(by).rows())) for by in ("name", "api", "operator")], before)
            for question in steplens.questions():  # some read arguments again: they may lack something, and must not crash
                try:
                    job.ask(question)
                except steplens.Error:
                    continue
            with self.assertRaises(steplens.NotFoundError):
                steplens.open(copy)

    def test_types_cannot_be_made_and_columns_cannot_be_written(self):
        from steplens import _reader

        for kind in (_reader.Job, _reader.Result, _reader.Column):
            with self.assertRaises(TypeError):
                kind()
        view = memoryview(self.job.ranks[0].slices["dur_ns"])
        self.assertTrue(view.readonly)
        with self.assertRaises(IndexError):
            self.job.ranks[0].slices["dur_ns"][10 ** 9]


class Processes(unittest.TestCase):
    def run_script(self, text, **given):
        return subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "SAMPLE": str(SAMPLE)}, check=False, **given)

    def test_ctrl_c_ends_a_query_at_once_and_the_job_goes_on(self):
        job = steplens.open(SAMPLE)
        timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
        timer.start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            job.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
        self.assertLess(time.monotonic() - begin, 10)
        timer.join()
        self.assertEqual(job.query("SELECT 1 AS one")["one"][0], 1)

    def test_other_threads_run_meanwhile_and_may_ask_the_same_job(self):
        job = steplens.open(SAMPLE)
        counted, stop, wrong = [0], threading.Event(), []

        def count():
            while not stop.is_set():
                counted[0] += 1

        def ask():
            try:
                for _ in range(5):
                    self.assertEqual(len(job.query("SELECT * FROM slices")), len(job.slices))
                    self.assertEqual(len(job.ops("type")), len(job.op_stats()) // 2)
                    self.assertEqual(job.slices["depth"].null_count, 0)
            except BaseException as problem:  # noqa: B902
                wrong.append(problem)

        counter = threading.Thread(target=count)
        counter.start()
        job.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000000) SELECT count(*) FROM n")
        stop.set()
        counter.join()
        self.assertGreater(counted[0], 1000, "the interpreter's lock was held")
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_forked_child_reads_on(self):
        done = self.run_script("""
            import os, steplens
            job = steplens.open(os.environ["SAMPLE"])
            before = len(job.query("SELECT * FROM slices"))
            child = os.fork()
            if child == 0:
                os._exit(0 if len(job.query("SELECT * FROM slices")) == before == len(job.slices["name"].to_list()) else 3)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """)
        self.assertEqual((done.stdout.strip(), done.returncode), ("0", 0), done.stderr)

    def test_a_child_forked_in_the_middle_of_a_query_is_told(self):
        done = self.run_script("""
            import os, signal, threading, time, steplens
            job = steplens.open(os.environ["SAMPLE"])
            sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000000) SELECT count(*) FROM n"
            asking = threading.Thread(target=lambda: job.query(sql))
            asking.start()
            time.sleep(0.3)
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                try:
                    job.query("SELECT 1")
                except steplens.UnsupportedError as problem:
                    os._exit(0 if "forked" in str(problem) else 4)
                os._exit(3)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            asking.join()
            """)
        self.assertEqual((done.stdout.strip(), done.returncode), ("0", 0), done.stderr)

    def test_importing_the_package_loads_nothing_native_and_is_quick(self):
        done = self.run_script("""
            import sys, time
            begin = time.perf_counter()
            import steplens
            took = time.perf_counter() - begin
            assert not [name for name in sys.modules if name.startswith("steplens.")], sys.modules
            assert "numpy" not in sys.modules and "typing" not in sys.modules
            print(took)
            """)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(float(done.stdout), 0.03)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_it_lives_beside_pytorch_and_sqlite_in_either_order(self):
        for order in ("import torch, sqlite3, steplens", "import steplens; steplens.questions(); import torch, sqlite3"):
            done = self.run_script(f"""
                import os
                {order}
                job = steplens.open(os.environ["SAMPLE"])
                try:
                    job.query("SELECT nme FROM slices")
                except steplens.Error:
                    pass
                print(len(job.ops()) > 0, int(torch.ones(3).sum()), sqlite3.connect(":memory:").execute("SELECT 1").fetchone())
                """)
            self.assertEqual((done.stdout, done.stderr), ("True 3 (1,)\n", ""), order)

    def test_without_the_extension_reading_says_what_is_missing_and_recording_works(self):
        done = self.run_script("""
            import sys
            sys.modules["steplens._reader"] = None
            import steplens
            with steplens.range("forward"):
                pass
            try:
                steplens.open("x")
            except steplens.UnsupportedError as problem:
                print(problem)
            """)
        self.assertIn("cannot read captures", done.stdout, done.stderr)

    def test_what_lives_at_the_end_of_the_process_does_no_harm(self):
        done = self.run_script("""
            import os, steplens
            job = steplens.open(os.environ["SAMPLE"])
            kept = [job.slices["name"], memoryview(job.ranks[0].slices["dur_ns"]), job.ops(), job.slices.__arrow_c_stream__()]
            job.itself = job
            """)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
