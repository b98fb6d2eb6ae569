"""What the pages of the cluster's modes show is what the program answers."""

import contextlib
import io
import re
import sys
import unittest

from support import DATA, ROOT, SHARED, Case, needs_shared

sys.path.insert(0, str(ROOT / "tools"))

from synth_cluster.command import main as synth_cluster  # noqa: E402

SYNTH = SHARED / "golden/cluster/synth/data"
PLANTED = SYNTH / "db"
REAL = DATA / "ascend_pt/db/level1"

# Page -> where its example comes from. Pages may leave out columns and rows.
EXAMPLES = {
    "calibrate_npu_gpu": (PLANTED, "--rank_list", "0", "--baseline_profiling_path", SYNTH / "gpu.sqlite"),
    "cann_api_sum": (REAL,),
    "cluster_time_summary": (PLANTED, "--step_id", "10", "--rank_list", "0,5"),
    "communication_bottleneck": (PLANTED, "--top_num", "3"),
    "communication_group_map": (PLANTED,),
    "communication_matrix_sum": (REAL,),
    "computational_op_masking": (PLANTED, "--parallel_types", "dp;tp", "--step_id", "10"),
    "compute_op_sum": (PLANTED, "--exclude_op_name"),
    "ep_load_balance": (PLANTED,),
    "free_analysis": (REAL, "--top_num", "3"),
    "freq_analysis": (PLANTED,),
    "hccl_sum": (PLANTED, "--top_num", "2"),
    "module_statistic": (PLANTED, "--rank_list", "0"),
    "mstx2commop": (SYNTH / "levelnone", "--rank_list", "0"),
    "mstx_sum": (PLANTED,),
    "op_duration": (PLANTED, "--top_num", "1"),
    "operator_mfu": (PLANTED, "--rank_list", "0"),
    "p2p_pairing": (PLANTED, "--rank_list", "0,4"),
    "pp_chart": (SYNTH / "dualpipev", "--rank_list", "6"),
    "slow_link": (PLANTED,),
    "slow_rank": (PLANTED,),
}


def example_rows(page):
    """The words of each row with a number in it below "## Example"."""
    text = (ROOT / "docs/cluster" / f"{page}.md").read_text().split("## Example", 1)[1].split("\n## ", 1)[0]
    lines = [line for block in re.findall(r"```\n(.*?)```", text, re.S) for line in block.splitlines()]
    rows = [[word for word in line.split() if word != "..."] for line in lines if not line.startswith("$")]
    return [row for row in rows if any(re.fullmatch(r"[-+]?[0-9.]+", word) for word in row)]


def make_cluster(folder, *faults):
    """The job of the pages, with faults."""
    with contextlib.redirect_stdout(io.StringIO()):
        synth_cluster([str(folder), "--ranks", "64", "--tp", "4", "--pp", "2", "--steps", "3", "--jobs", "1", *faults])


def stands_in(row, line):
    words = iter(line)
    return all(word in words for word in row)


class ClusterDocs(Case):
    @needs_shared
    def test_examples_are_what_the_modes_answer(self):
        self.environment["COLUMNS"] = "10000"
        for page, (path, *options) in EXAMPLES.items():
            with self.subTest(page=page):
                rows = example_rows(page)
                self.assertGreater(len(rows), 0)
                done = self.run_program("cluster", "-m", page, "-d", path, *options, "--export_type", "console",
                                        "-o", self.scratch, expect=0)
                lines = [line.split() for line in (done.out + done.err).splitlines()]
                for row in rows:
                    self.assertTrue(any(stands_in(row, line) for line in lines), " ".join(row))

    def test_the_planted_faults_of_the_pages_are_found(self):
        job = self.scratch / "job"
        make_cluster(job, "--slow-rank", "21:1.3", "--slow-nic", "40:3")
        for page, mode in (("all", "all"), ("summary", "summary")):
            with self.subTest(page=page):
                out = self.run_program("cluster", "-m", mode, "-d", job, "-o", self.scratch, expect=0).out
                shown = (ROOT / "docs/cluster" / f"{page}.md").read_text()
                self.assertIn(out[out.index("64 of 64 ranks captured"):], shown)

    def test_each_planted_fault_of_the_table_is_found(self):
        table = re.findall(r"^\| `(--.*?)` \| (.*) \|$", (ROOT / "docs/cluster/summary.md").read_text(), re.M)
        self.assertEqual(len(table), 8)
        for planted, found in table:
            with self.subTest(planted=planted):
                job = self.scratch / re.sub(r"\W", "", planted)
                make_cluster(job, *planted.split())
                out = self.run_program("cluster", "-m", "summary", "-d", job, "-o", self.scratch, expect=0).out
                first = re.search(r"^1\. (.*)", out, re.M)[1]
                for part in re.split(r"\.\.\.", found):
                    self.assertIn(part.strip(), re.sub(r", most of it in \w+ groups", "", first))


if __name__ == "__main__":
    unittest.main()
