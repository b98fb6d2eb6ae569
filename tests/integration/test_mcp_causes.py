"""Planted causes: the order of calls that docs/agents.md documents reaches each within 4 calls and 8,000 tokens of answers."""

import dataclasses
import re
import subprocess
import sys
import unittest

from mcp_client import Client
from step_simulator import Settings, write
from support import ROOT, Case

MOST_CALLS = 4
MOST_TOKENS = 8000  # a token is four characters

# Words of tools/synth_cluster.py, and what must be named: a pattern over the answers so far.
CLUSTER = {
    "slow rank": (["--slow-rank", "2:1.5"], r"rank 2\b"),
    "another slow rank": (["--slow-rank", "5:1.4"], r"rank 5\b"),
    "two slow ranks": (["--slow-rank", "1:1.5", "--slow-rank", "6:1.5"], r"(?s)rank 1\b.*rank 6\b|rank 6\b.*rank 1\b"),
    "slow host": (["--hosts-of", "4", "--slow-host", "1:1.4"], r"host 1|host0001|ranks: 4-7|ranks: 4,5,6,7|4,5,6,7"),
    "slow link": (["--hosts-of", "4", "--slow-link", "0-4:6"], r"0\s*(-|->|to)\s*4|link 0"),
    "slow network card": (["--hosts-of", "4", "--slow-nic", "3:6"], r"rank 3\b|3 (as )?sender"),
    "small packets": (["--hosts-of", "4", "--small-packets", "RDMA"], r"[Ss]mall packets.*RDMA|RDMA.*small packets"),
    "host bound": (["--host-bound", "1"], r"(?s)(host|launch).*rank 1\b|rank 1\b.*(host|launch)"),
    "low clock": (["--freq-drop", "3"], r"(?s)(frequency|clock).*rank 3\b|rank 3\b.*(frequency|clock)"),
    "uneven experts": (["--ep", "4", "--imbalance", "0.6"], r"(uneven|imbalance|expert|tokens)"),
}

# Settings of the step simulator, with what must be named.
STEP = {
    "slow loader": (Settings(loader=3000), r"\(dataloader\)"),
    "item in the loop": (Settings(items=12), r"\(host_sync\)|\(sync_stream\)"),
    "late host": (Settings(operator=300), r"\(host_bound\)|\(launch_bound\)|\(launch\)"),
    "tiny operators": (Settings(tiny=200), r"\(launch_bound\)|\(host_bound\)|\(fusible_ops\)"),
    "slow network": (Settings(ranks=2, transfer=6000), r"exposed communication takes 5\d"),
    "slow last rank": (Settings(ranks=3, slow_rank=1.6), r"rank 2\b"),
    "casts": (Settings(casts=150), r"\(conversion_ops\)|\(conversion\)"),
    "allocator": (Settings(allocations=10), r"\(allocator_calls\)|\(memory_calls\)"),
    "jitter": (Settings(steps=9, jitter=6000), r"\(step_jitter\)|\(host_bound\)"),
    "small collectives": (Settings(ranks=2, buckets=60), r"\(small_collectives\)|\(packet\)"),
    "communication that nothing hides": (Settings(ranks=2, transfer=3000, is_overlapped=False), r"\(exposed_communication\)"),
}

# From the table of docs/agents.md: the call that checks a finding.
CHECKS = {
    "late_rank": ("cluster", {"question": "cluster_summary"}), "slow_rank": ("cluster", {"question": "cluster_summary"}),
    "late_group": ("cluster", {"question": "cluster_summary"}), "uneven_load": ("cluster", {"question": "cluster_summary"}),
    "slow_link": ("ask", {"question": "comm_matrix"}), "link_bandwidth": ("ask", {"question": "comm_matrix"}),
    "small_packets": ("ask", {"question": "comm_packets"}), "packet": ("ask", {"question": "comm_packets"}),
    "exposed_communication": ("ask", {"question": "whatif", "args": {"overlap": "comm"}}),
    "small_collectives": ("operators", {"by": "name"}), "dataloader": ("ask", {"question": "whatif", "args": {"remove": "dataloader"}}),
    "allocator_calls": ("operators", {"by": "api"}), "memory_calls": ("operators", {"by": "api"}),
    "conversion": ("operators", {"by": "type"}), "conversion_ops": ("operators", {"by": "type"}),
    "pipeline_bubble": ("ask", {"question": "pipeline"}),
}


class Causes(Case):
    def find(self, folder, pattern):
        """Follows the documented order; the number of calls after which the answers named the cause, and their tokens."""
        with Client(folder.parent, environment=self.environment) as client:
            said = client.text("open", path=folder.name)
            calls = 1
            findings = client.text("findings")
            said += findings
            calls += 1
            if re.search(pattern, findings):
                return calls, client.chars / 4, said
            first = re.search(r"^1\. .*\((\w+)\):", findings, re.MULTILINE)
            tool, arguments = CHECKS.get(first.group(1) if first else "", ("breakdown", {}))
            for tool, arguments in ((tool, arguments), ("breakdown", {})):
                answer = client.text(tool, **arguments)
                said += answer
                calls += 1
                if re.search(pattern, answer):
                    break
            else:
                self.fail(f"not found:\n{said}")
            return calls, client.chars / 4, said

    def check(self, folder, pattern):
        calls, tokens, said = self.find(folder, pattern)
        self.assertLessEqual(calls, MOST_CALLS)
        self.assertLessEqual(tokens, MOST_TOKENS, said)
        return calls, tokens

    def test_there_are_twenty(self):
        self.assertGreaterEqual(len(CLUSTER) + len(STEP), 20)

    def test_faults_of_a_cluster(self):
        for name, (words, pattern) in CLUSTER.items():
            with self.subTest(cause=name):
                folder = self.scratch / name.replace(" ", "_")
                subprocess.run([sys.executable, "-B", ROOT / "tools" / "synth_cluster.py", "--ranks", "8", "--tp", "2", "--steps", "2",
                                "--timeline", "--seed", "5", *words, folder], check=True, capture_output=True)
                self.check(folder, pattern)

    def test_faults_of_a_step(self):
        for name, (settings, pattern) in STEP.items():
            with self.subTest(cause=name):
                folder = self.scratch / name.replace(" ", "_")
                write(dataclasses.replace(settings), folder)
                self.check(folder, pattern)

    def test_the_page_has_the_checks(self):
        page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
        for rule, (tool, arguments) in CHECKS.items():
            row = next((line for line in page.splitlines() if re.match(rf"\|.*\b{rule}\b.*\|.*\|.*\|", line)), "")
            self.assertIn(f"`{tool} ", row, rule)
            if "question" in arguments:
                self.assertIn(arguments["question"], row, rule)


if __name__ == "__main__":
    unittest.main()
