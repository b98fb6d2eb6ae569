"""steplens compare by its own rules: text and db of one workload agree, each corrected defect of the reference, forms of the result, bad input.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_compare.py
"""

import csv
import json
import os
import pathlib
import shutil
import sqlite3
import unittest
import zipfile

from support import DATA, SAMPLE, SHARED, Case, needs_shared

csv.field_size_limit(1 << 30)
TEXT = DATA / "ascend_pt" / "text"
DB = DATA / "ascend_pt" / "db"
RANK0, RANK1 = "rank0_ascend_pt", "rank1_ascend_pt"
SYNTH = SHARED / "golden" / "compare" / "_synth_inputs"
needs_synth = unittest.skipUnless(SYNTH.is_dir(), f"the synthetic profiles are not on this machine ({SYNTH})")
KINETO = DATA / "kineto" / "hta"


class CompareCase(Case):
    def compare(self, base, comparison, *options, expect=0):
        self.done = self.run_program("compare", "-bp", base, "-d", comparison, "-o", self.scratch / "out", "--output_name", "result",
                                     "--format", "csv", *options, expect=expect)
        sheets = {}
        for path in (self.scratch / "out" / "result").glob("*.csv"):
            with open(path, newline="", encoding="utf-8") as file:
                sheets[path.stem] = list(csv.reader(file))
        return sheets

    def overall(self, sheets):
        return {row[0].strip(): row for row in sheets["OverallMetrics"][1:]}


@needs_shared
class TextAndDb(CompareCase):
    """Two captures of one workload, one as text and one as db: what does not depend on chance is the same."""

    def setUp(self):
        super().setUp()
        self.sheets = self.compare(TEXT / "level1" / RANK0, DB / "level1" / RANK0)

    def test_kernels_and_their_kinds(self):  # defects 2 and 12
        for label, row in self.overall(self.sheets).items():
            self.assertEqual(row[3], row[6], f"number of {label}")
        self.assertEqual(self.overall(self.sheets)["Computing Time"][3], "187")

    def test_every_operator_is_called_as_often(self):  # defect 2
        rows = {row[1]: row for row in self.sheets["ApiCompare"][1:]}
        for name, row in rows.items():
            self.assertEqual(row[5], row[9], name)
        self.assertEqual(rows["Conv2D"][9], "5")

    def test_modules_have_all_their_kernels(self):  # defect 3
        totals = [row for row in self.sheets["ModuleCompareStatistic"][1:] if row[4] == "[ TOTAL ]"]
        self.assertGreater(len(totals), 20)
        for row in totals:
            self.assertEqual(row[7], row[11], row[3])
            if float(row[8]) > 0.05:
                self.assertAlmostEqual(float(row[12]) / float(row[8]), 1, delta=0.25, msg=row[3])

    def test_waits_and_groups(self):  # defects 1 and 12
        overall = self.overall(self.sheets)
        self.assertGreater(float(overall["Wait"][1]), 90)
        self.assertGreater(float(overall["Wait"][4]), 90)
        self.assertEqual(sum(row[0].startswith("\tGroup") for row in self.sheets["OverallMetrics"]), 1)

    def test_copies_on_computing_streams(self):  # defect 11
        sdma = self.overall(self.sheets)["SDMA"]
        self.assertAlmostEqual(float(sdma[1]), 0.87, delta=0.02)
        self.assertAlmostEqual(float(sdma[4]), 0.86, delta=0.02)

    def test_the_whole_is_the_same_time(self):  # defect 12
        e2e = self.overall(self.sheets)["E2E Time"]
        self.assertAlmostEqual(float(e2e[8]), 1, delta=0.05)


@needs_shared
class Defects(CompareCase):
    def operators(self, *options):
        sheets = self.compare(DB / "level1" / RANK1, DB / "level1" / RANK0, "--disable_module", *options)
        return {row[1]: row for row in sheets["OperatorCompareStatistic"][1:]}

    def test_4_operators_of_a_db_have_their_collectives(self):
        grad = self.operators()["autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"]
        self.assertGreater(float(grad[2]), 90)
        self.assertGreater(float(grad[8]), 90)  # of that communication

    def test_25_whatever_else_is_compared(self):
        grad = self.operators("--enable_operator_compare")["autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"]
        self.assertGreater(float(grad[2]), 90)

    def test_6_stream_0_is_a_stream(self):
        trace = KINETO / "amd_trace" / "mi250_minitoy_train_ROCm6_2_kineto.json.gz"
        overall = self.overall(self.compare(trace, TEXT / "level1" / RANK0))
        self.assertGreater(float(overall["Computing Time"][1]), 0)

    def test_13_max_kernel_num_works_without_details(self):
        plain = self.operators("--disable_details")
        opened = self.operators("--disable_details", "--max_kernel_num", "4")
        self.assertGreater(len(opened), len(plain))

    def test_14_ratios_are_of_exact_values(self):
        sheets = self.compare(TEXT / "level1" / RANK1, TEXT / "level1" / RANK0, "--enable_api_compare")
        self.assertNotIn("INF", [cell for row in sheets["ApiCompare"] for cell in row])

    def test_14_statistics_are_sorted(self):
        rows = list(self.operators().values())
        diffs = [float(row[4]) - float(row[2]) for row in rows]
        self.assertEqual(diffs, sorted(diffs, reverse=True))

    def test_17_level0_kernels_go_by_their_names(self):
        sheets = self.compare(DB / "level0" / RANK1, DB / "level0" / RANK0)
        self.assertGreater(len(sheets["KernelCompare"]), 50)
        self.assertEqual(sheets["CommunicationCompare"][1][1], "allreduce")

    def test_20_the_column_of_the_whole_has_a_plain_name(self):
        self.compare(TEXT / "level1" / RANK1, TEXT / "level1" / RANK0, "--enable_profiling_compare")
        self.assertNotIn("minimal", self.done.out)

    @needs_synth
    def test_9_collectives_of_gpu_and_npu_meet(self):
        sheets = self.compare(SYNTH / "gpu.pt.trace.json", SYNTH / "npu_base_ascend_pt")
        rows = {row[1]: row for row in sheets["CommunicationCompare"][1:] if row[1] not in ("", "|")}
        self.assertEqual(rows["allreduce"][8], "allreduce")
        self.assertEqual(rows["allgather"][8], "allgather")

    @needs_synth
    def test_10_tasks_are_paired_by_name(self):
        sheets = self.compare(SYNTH / "npu_base_ascend_pt", SYNTH / "npu_cmp_ascend_pt")
        tasks = [row for row in sheets["CommunicationCompare"][1:] if row[2] and row[9]]
        self.assertGreater(len(tasks), 3)
        for row in tasks:
            self.assertEqual(row[2], row[9])

    @needs_synth
    def test_19_attention_of_a_gpu_is_cube_work(self):
        overall = self.overall(self.compare(SYNTH / "gpu.pt.trace.json", SYNTH / "gpu.pt.trace.json"))
        self.assertIn("Flash Attention (Forward) (Cube)", overall)
        self.assertEqual(float(overall["Flash Attention (Forward) (Cube)"][1]), 0.0205)  # not 20 or 21 us

    @needs_synth
    def test_names_may_be_patterns(self):
        names = "{'aten::_flash_attention_*':'attention','npu::npu_fusion_attention*':'attention'}"
        sheets = self.compare(SYNTH / "gpu.pt.trace.json", SYNTH / "npu_base_ascend_pt", "--disable_module", "--op_name_map", names)
        pairs = [(row[1], row[6]) for row in sheets["OperatorCompare"][1:]]
        self.assertIn(("aten::_flash_attention_forward", "npu::npu_fusion_attention"), pairs)


class SameCapture(CompareCase):
    """One capture, written once as text and once as a db by `convert`: every sheet says the same of both."""

    def both_forms(self, source):
        forms = []
        for form in ("text", "db"):
            self.run_program("convert", source, "--to", form, "--output", self.scratch / form, expect=0)
            forms.append(self.scratch / form)
        return forms

    def without_arrows_to_copies(self, source):
        """A db has no arrows from operators to copies (docs/export.md), so the text is compared without them."""
        folder = self.scratch / source.name
        shutil.copytree(source, folder)
        path = next(folder.rglob("trace_view.json"))
        path.chmod(0o644)
        events = json.loads(path.read_text())
        copies = {(event["pid"], event["tid"], event["ts"]) for event in events if event["name"] == "MEMCPY_ASYNC"}
        ids = {event["id"] for event in events if event["ph"] == "f" and (event["pid"], event["tid"], event["ts"]) in copies}
        self.assertTrue(ids)
        path.write_text(json.dumps([event for event in events if event["ph"] not in "sf" or event.get("id") not in ids]))
        return folder

    def check(self, source, *words):
        text, db = self.both_forms(source)
        sheets = self.compare(text, db, *words)
        self.assertIn("OverallMetrics", sheets)
        problems = []
        for name, (header, *rows) in sheets.items():
            if name.startswith("Run"):
                continue
            if name == "Unmatched":
                problems += [f"{name}: {row}" for row in rows]
            for row in rows:
                problems += [f"{name} {row[:4]}: {text}" for text in self.different(header, row)]
        self.assertFalse(problems, f"{len(problems)}\n" + "\n".join(problems[:20]))
        return sheets

    def different(self, header, row):
        """Cells of a row that are not the same on both sides. A sheet has each column of a side twice, in the same order."""
        plain = [column.removeprefix("Base ").removeprefix("Comparison ") for column in header]
        for at, column in enumerate(plain):
            other = plain.index(column, at + 1) if column in plain[at + 1:] else None
            if other is not None and row[at] != row[other] and not self.is_rounding(column, row, header, row[at], row[other]):
                yield f"{column}: {row[at][:200]!r} but {row[other][:200]!r}"

    def is_rounding(self, column, row, header, a, b):
        """The timeline of a text rounds where the csv and the db cut: a nanosecond per collective, and at both ends of the whole."""
        try:
            a, b = float(a), float(b)
        except ValueError:
            return False
        if column == "Duration Ratio":
            return abs(a - b) <= 5e-8 * a
        counts = [int(cell) for name, cell in zip(header, row) if name in ("Calls", "Number") and cell.isdigit()]
        events = 1 if column.startswith(("Avg", "Max", "Min")) else max([1] + counts[:1])
        return abs(a - b) <= 1.01 * events * {"us": 1e-3, "ms": 1e-6}.get(column[-3:-1], 0)

    def test_the_sample(self):
        sheets = self.check(SAMPLE)
        self.assertGreaterEqual(set(sheets), {"OverallMetrics", "CommunicationCompare", "MemoryCompare", "ApiCompare", "KernelCompare"})

    @needs_shared
    def test_real_text(self):
        sheets = self.check(self.without_arrows_to_copies(TEXT / "level1" / RANK0))
        self.assertGreaterEqual(set(sheets), {"OverallMetrics", "CommunicationCompare", "ModuleCompareStatistic", "ModuleCompare", "MemoryCompare", "ApiCompare",
                                              "KernelCompare"})

    @needs_shared
    def test_a_real_db(self):
        self.check(DB / "level1" / RANK0)

    @needs_shared
    def test_operators_and_kernel_types(self):
        sheets = self.check(self.without_arrows_to_copies(TEXT / "level1" / RANK1), "--disable_module", "--use_kernel_type")
        self.assertGreaterEqual(set(sheets), {"OperatorCompareStatistic", "OperatorCompare", "KernelTypeCompare"})


@needs_synth
class GpuAgainstNpu(CompareCase):
    """Kernels have no names in common: categories, operators, modules and collectives are compared."""

    GPU, NPU = SYNTH / "gpu.pt.trace.json", SYNTH / "npu_base_ascend_pt"

    def test_every_category_stands_side_by_side(self):
        for base, comparison in ((self.GPU, self.NPU), (self.NPU, self.GPU)):
            sheets = self.compare(base, comparison)
            overall = self.overall(sheets)
            for label in ("Flash Attention (Forward)", "Flash Attention (Backward)", "Conv (Forward)", "Conv (Backward)", "Matmul", "Vector",
                          "Uncovered Communication Time"):
                self.assertGreater(float(overall[label][1]), 0, label)
                self.assertGreater(float(overall[label][4]), 0, label)
            self.assertNotIn("KernelCompare", sheets)
            self.assertNotIn("KernelTypeCompare", sheets)
            # What the categories hold is the whole: no kernel is lost or counted twice.
            for side in (1, 4):
                parts = sum(float(row[side]) for row in sheets["OverallMetrics"][1:] if row[0].startswith("\t") and not row[0].startswith("\t\t")
                            and row[0].strip() in ("AllGatherMatmul", "Flash Attention (Forward)", "Flash Attention (Backward)", "Conv (Forward)",
                                                   "Conv (Backward)", "Matmul", "Page Attention", "Vector", "Cube", "SDMA (Tensor Move)", "Other"))
                self.assertAlmostEqual(parts, float(overall["Computing Time"][side]), delta=0.001)

    def test_collectives_go_by_one_name(self):
        rows = [row for row in self.compare(self.GPU, self.NPU)["CommunicationCompare"][1:] if row[1] not in ("", "|")]
        self.assertEqual([row[8] for row in rows if row[1] in ("allreduce", "allgather")], ["allreduce", "allgather"])
        self.assertFalse([row for row in rows if "nccl" in row[1]])

    def test_a_pattern_gives_many_operators_one_name(self):
        names = "{'*flash_attention_forward':'attention','npu::npu_fusion_attention':'attention','*lash_attention_backward':'attention grad'," \
                "'npu::npu_fusion_attention_grad':'attention grad'}"
        plain = self.compare(self.GPU, self.NPU, "--disable_module")
        mapped = self.compare(self.GPU, self.NPU, "--disable_module", "--op_name_map", names)
        pairs = [(row[1], row[6]) for row in mapped["OperatorCompare"][1:]]
        self.assertIn(("aten::_flash_attention_forward", "npu::npu_fusion_attention"), pairs)
        unmatched = [{row[2] for row in sheets["Unmatched"][1:] if row[1] == "operator"} for sheets in (plain, mapped)]
        self.assertIn("npu::npu_fusion_attention", unmatched[0])
        self.assertNotIn("npu::npu_fusion_attention", unmatched[1])
        self.assertLess(unmatched[1], unmatched[0])

    def test_the_first_pattern_that_fits_counts(self):
        names = "{'npu::npu_fusion_attention':'attention','npu::*':'other','aten::_flash_attention_forward':'attention'}"
        pairs = [(row[1], row[6]) for row in self.compare(self.GPU, self.NPU, "--disable_module", "--op_name_map", names)["OperatorCompare"][1:]]
        self.assertIn(("aten::_flash_attention_forward", "npu::npu_fusion_attention"), pairs)

    def test_what_could_not_be_matched_is_listed(self):
        rows = self.compare(self.GPU, self.NPU, "--disable_module")["Unmatched"]
        self.assertEqual(rows[0], ["Order Id", "Kind", "Name", "Calls", "Device Duration(ms)", "Calls", "Device Duration(ms)"])
        kinds = {row[1] for row in rows[1:]}
        self.assertLessEqual(kinds, {"operator", "collective", "module"})
        for row in rows[1:]:
            self.assertTrue(row[3] or row[5], row)


class Results(CompareCase):
    """On the project's own sample, compared with itself."""

    def setUp(self):
        super().setUp()
        self.sample = SAMPLE

    def test_a_profile_is_equal_to_itself(self):
        sheets = self.compare(self.sample, self.sample)
        for row in sheets["OverallMetrics"][1:]:
            self.assertEqual(row[7:], ["0", "1"], row)

    def test_all_forms_have_the_same_rows(self):
        self.run_program("compare", "-bp", self.sample, "-d", self.sample, "-o", self.scratch / "out", "--output_name", "r",
                         "--format", "csv,json,db,xlsx", expect=0)
        out = self.scratch / "out"
        tables = json.loads((out / "r.json").read_text())
        db = sqlite3.connect(out / "r.db")
        self.assertEqual({path.stem for path in (out / "r").glob("*.csv")}, set(tables))
        for name, rows in tables.items():
            with open(out / "r" / f"{name}.csv", newline="", encoding="utf-8") as file:
                self.assertEqual(len(list(csv.reader(file))) - 1, len(rows), name)
            self.assertEqual(db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0], len(rows), name)
        db.close()
        book = zipfile.ZipFile(out / "r.xlsx")
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        for ref in ("B1:D1", "E1:G1"):
            self.assertIn(f'<mergeCell ref="{ref}"/>', sheet)
        styles = book.read("xl/styles.xml").decode()
        for look in ("Arial", "FF00FF00", "FFFFFF00", "FF00BFFF", "FF87CEFA", "0.00%", "#,##0.00"):
            self.assertIn(look, styles)

    def test_bad_words_are_usage_errors(self):
        for words in (["--format", "pdf"], ["--output_name", "a/b"], ["--max_kernel_num", "3"], ["--op_name_map", "[1]"],
                      ["--base_step", "1"], ["--base_step", "99999", "--comparison_step", "99999"]):
            done = self.run_program("compare", "-bp", self.sample, "-d", self.sample, "-o", self.scratch / "out", *words, expect=2)
            self.assertEqual(done.out, "")
        self.assertFalse((self.scratch / "out").exists())

    def test_a_damaged_side_is_exit_code_1(self):
        broken = self.write("broken.json", '{"traceEvents": 5}')
        done = self.run_program("compare", "-bp", self.sample, "-d", broken, "-o", self.scratch / "out", expect=1)
        self.assertIn("broken.json", done.err)

    @unittest.skipIf(os.geteuid() == 0 and not pathlib.Path("/proc").is_dir(), "needs a folder that nobody can write to")
    def test_a_result_that_cannot_be_written_is_exit_code_1(self):
        self.run_program("compare", "-bp", self.sample, "-d", self.sample, "-o", "/proc/nowhere", expect=1)


class AbsurdNumbers(CompareCase):
    """The numbers of a damaged trace: what fuzzing found."""

    def trace(self, name, size_bytes):
        events = []
        for i in range(4):
            ts = 1000 + 100 * i
            events += [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": ts, "dur": 50, "args": {"External id": i + 1}},
                       {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts + 6,
                        "args": {"Bytes": size_bytes, "Addr": 4096 * (i + 1), "Device Type": 1, "Device Id": 0}},
                       {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts + 5, "dur": 3,
                        "args": {"correlation": i + 1}},
                       {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": ts + 60, "dur": 30,
                        "args": {"correlation": i + 1, "device": 0, "stream": 7}}]
        return self.write(name, json.dumps({"schemaVersion": 1, "traceEvents": events}))

    def test_sums_of_memory_stop_at_the_largest_number(self):
        rows = self.compare(self.trace("base.json", 512), self.trace("new.json", 2**63 - 1), "--enable_memory_compare")["MemoryCompareStatistic"]
        row = dict(zip(*rows[:2]))
        self.assertEqual(row["Operator Name"], "aten::mm")
        # 2^63 bytes; without a stop the four of them came to -4 bytes.
        self.assertEqual(float(row["Comparison Allocated Memory(MB)"]), 2.0**43)


if __name__ == "__main__":
    unittest.main()
