"""What was planted into a synthetic cluster is what `steplens cluster -m summary` names, and nothing else is.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_cluster_faults.py [-k slow_link]
"""

import re
import unittest

from test_cluster import ClusterCase, generate


class PlantedFaults(ClusterCase):
    """Each fault is planted with five seeds at five places, in text, db and mixed captures; it is named, and nothing else is."""

    def check(self, options, kind, subject, target=lambda seed: (seed,), reason=""):
        for seed in range(1, 6):
            form = ("text", "db", "mixed")[seed % 3]
            place = target(seed)
            words = ["--ranks", "32" if seed == 5 else "16", "--format", form, "--seed", str(seed), *options.format(*place).split()]
            with self.subTest(" ".join(words)):
                found = self.findings(generate(self.scratch / f"seed{seed}", *words))
                self.assertEqual([finding[:2] for finding in found], [(kind, subject.format(*place))])
                self.assertIn(reason, found[0][2])

    def test_slow_rank(self):
        self.check("--slow-rank {}", "late_rank", "rank {}", lambda seed: (7 * seed % 16,), "computing")

    def test_slow_host(self):
        self.check("--slow-host {} --hosts-of 4", "late_group", "host host{:04d}", lambda seed: (seed % 4,), "computing")

    def test_slow_link(self):
        self.check("--slow-link {}-{}", "slow_link", "link {}-{}", lambda seed: (5 * seed % 16, 5 * seed % 16 ^ 1))

    def test_slow_sender(self):
        self.check("--slow-nic {}", "slow_link", "sending by rank {}", lambda seed: (3 * seed % 16,))

    def test_slow_receiver(self):
        self.check("--slow-receiver {}", "slow_link", "receiving by rank {}", lambda seed: (3 * seed % 16,))

    def test_late_data_parallel_group(self):
        self.check("--late-group dp={}", "late_group", "DP index {}", lambda seed: (seed % 4,))

    def test_late_pipeline_stage(self):
        self.check("--late-group pp={} --hosts-of 4", "late_group", "PP stage {}", lambda seed: (seed % 2,))

    def test_late_tensor_parallel_group(self):
        self.check("--late-group tp={}", "late_group", "TP index {}", lambda seed: (seed % 2,))

    def test_small_packets(self):
        self.check("--small-packets {}", "small_packets", "sending by {} in small packets", lambda seed: (("RDMA", "HCCS")[seed % 2],))

    def test_frequency_drop(self):
        """A db tells the frequency; of a text capture its timeline does, if it has one."""
        self.check("--freq-drop {}", "late_rank", "rank {}", lambda seed: (5 * seed % 16,), "computing")
        for form, rank in (("text", 3), ("db", 12)):
            cluster = generate(self.scratch / f"clock_{form}", "--ranks", "16", "--format", form, "--timeline", "--freq-drop", str(rank))
            [(_, subject, reason)] = self.findings(cluster)
            self.assertEqual(subject, f"rank {rank}")
            # 800 MHz in the backward pass, which is most of it, and 1800 MHz otherwise
            slow, usual = map(int, re.search(rf"frequency of rank {rank} is (\d+) MHz .*, that of rank \d+ (\d+) MHz", reason).groups())
            self.assertIn(slow, range(850, 1200))
            self.assertEqual(usual, 1800)
        slow = generate(self.scratch / "slow", "--ranks", "16", "--format", "db", "--slow-rank", "3")
        self.assertNotIn("MHz", self.findings(slow)[0][2])

    def test_host_bound(self):
        self.check("--host-bound {}", "late_rank", "rank {}", lambda seed: (11 * seed % 16,), "the host launches too late")

    def test_a_fault_is_named_with_wrong_clocks_and_ranks_missing(self):
        self.check("--slow-rank {} --clock-skew 20000 --missing {}", "late_rank", "rank {}", lambda seed: (3 * seed, (3 * seed + 5) % 16))

    def test_late_groups_are_named_with_ranks_missing(self):
        """Who misses a peer has fewer waits on record; that makes nobody late."""
        for seed, fault, missing, subject in ((4, "--late-group pp=0", "6", "PP stage 0"), (5, "--late-group pp=1", "11", "PP stage 1"),
                                              (5, "--late-group dp=1", "11", "DP index 1"), (4, "--late-group tp=0", "6,4", "TP index 0"),
                                              (2, "--slow-host 2 --hosts-of 4", "12", "host host0002"),
                                              (4, "--slow-host 0 --hosts-of 4", "6", "host host0000")):
            words = ["--ranks", "16", "--format", ("text", "db", "mixed")[seed % 3], "--seed", str(seed), "--missing", missing, *fault.split()]
            with self.subTest(" ".join(words)):
                found = self.findings(generate(self.scratch / f"{subject}{missing}", *words))
                self.assertEqual([finding[:2] for finding in found], [("late_group", subject)])

    def test_a_cost_that_is_only_estimated_is_called_so(self):
        words = ["--ranks", "16", "--format", "text", "--seed", "1", "--slow-rank", "5"]
        said = "Costs are estimated from waits"
        self.assertNotIn(said, self.cluster(generate(self.scratch / "all", *words)).out)
        self.assertIn(said, self.cluster(generate(self.scratch / "some", *words, "--missing", "6")).out)
        self.assertIn(said, (self.out / "cluster_analysis_output" / "cluster_report.html").read_text())
        self.assertNotIn(said, self.cluster(generate(self.scratch / "healthy", *words[:6], "--missing", "6")).out)

    def test_levels_that_differ_are_no_finding(self):
        """Ranks that recorded marks only have nothing to compare, neither as slow ones nor as quick ones."""
        folders = {level: generate(self.scratch / f"level{level}", "--format", "db", "--level", level) for level in ("1", "0", "none")}
        mixed = self.scratch / "mixed"
        mixed.mkdir()
        for rank, level in enumerate(("1", "1", "1", "1", "0", "0", "none", "none")):
            [capture] = folders[level].glob(f"*_{100000 + rank}_*")
            capture.rename(mixed / capture.name)
        self.assertEqual(self.findings(mixed), [])
        self.assertEqual(self.overview(mixed)["ranksSeen"], 8)

    def test_healthy_clusters_have_no_finding(self):
        for seed in range(1, 11):
            words = [["--clock-skew", "5000"], ["--missing", f"{seed},{seed + 3}"], []][seed % 3]
            words += ["--ranks", "16", "--format", ("text", "db", "mixed")[seed // 3 % 3], "--seed", str(seed)]
            with self.subTest(" ".join(words)):
                self.assertEqual(self.findings(generate(self.scratch / f"seed{seed}", *words)), [])

    def test_groups_that_reach_over_hosts_are_no_finding(self):
        """Some groups are on one host, others on two, and take longer for their transfers; that many ranks are no suspects."""
        for seed, words in enumerate(("--ranks 96 --tp 6 --pp 2", "--ranks 96 --tp 2 --pp 1 --ep 3", "--ranks 60 --tp 5 --pp 2 --missing 4,30",
                                      "--ranks 48 --tp 3 --pp 1 --format db", "--ranks 72 --tp 6 --pp 1 --level 0 --timeline")):
            words = [*words.split(), "--seed", str(seed + 1)]
            with self.subTest(" ".join(words)):
                self.assertEqual(self.findings(generate(self.scratch / f"seed{seed}", *words)), [])

    def test_faults_where_groups_reach_over_hosts(self):
        for seed, (words, kind, subject) in enumerate((("--ranks 96 --tp 6 --pp 2 --slow-rank 47:1.3", "late_rank", "rank 47"),
                                                       ("--ranks 48 --tp 2 --pp 2 --ep 3 --imbalance 0.4", "uneven_load", "uneven load of experts, most at EP index 2"),
                                                       ("--ranks 12 --tp 3 --pp 2 --late-group tp=1:1.2", "late_group", "TP index 1"),
                                                       ("--ranks 30 --tp 3 --pp 1 --hosts-of 10 --slow-host 1", "late_group", "host host0001"),
                                                       ("--ranks 60 --tp 5 --pp 2 --slow-nic 31:4", "slow_link", "sending by rank 31"))):
            words = [*words.split(), "--seed", str(seed + 1)]
            with self.subTest(" ".join(words)):
                found = self.findings(generate(self.scratch / f"seed{seed}", *words))
                self.assertEqual([finding[:2] for finding in found], [(kind, subject)])


class CostOfFaults(ClusterCase):
    """What a fault is said to cost is what the step grew by when it was planted."""

    def check(self, shape, fault, subject, target=lambda seed: {"r": 5 * seed % 16}, within_ms=1.0, reason="", seeds=(1, 2, 3)):
        for seed in seeds:
            words = [*shape.split(), "--seed", str(seed), "--steps", str(1 + seed), "--format", ("text", "db", "mixed")[seed % 3]]
            place = target(seed)
            with self.subTest(" ".join([*words, fault.format(**place)])):
                healthy = generate(self.scratch / f"healthy{seed}", *words)
                self.assertEqual(self.findings(healthy), [])
                faulty = generate(self.scratch / f"faulty{seed}", *words, *fault.format(**place).split())
                found = self.rows_of(faulty, "ClusterFindings")
                self.assertEqual([(row["subject"], row["hidden"]) for row in found], [(subject.format(**place), 0)])
                self.assertIn(reason, found[0]["reason"])
                grown_ms = self.overview(faulty)["step(ms)"] - self.overview(healthy)["step(ms)"]
                self.assertAlmostEqual(found[0]["msPerStep"], grown_ms, delta=within_ms)

    def test_slow_rank(self):
        self.check("--ranks 32 --tp 4 --pp 2", "--slow-rank {r}:1.3", "rank {r}")

    def test_slow_rank_in_a_deep_pipeline(self):
        self.check("--ranks 64 --tp 4 --pp 4", "--slow-rank {r}:1.3", "rank {r}", seeds=(1, 2, 3, 4))

    def test_slow_rank_without_pipeline(self):
        self.check("--ranks 16 --tp 1 --pp 1", "--slow-rank {r}:1.3", "rank {r}")

    def test_clock_that_drops(self):
        self.check("--ranks 16", "--freq-drop {r}", "rank {r}")

    def test_late_launches(self):
        self.check("--ranks 16", "--host-bound {r}", "rank {r}", reason="the host launches too late")

    def test_late_group(self):
        self.check("--ranks 16", "--late-group dp={i}", "DP index {i}", lambda seed: {"i": seed % 4})

    def test_stages_of_one_rank(self):
        self.check("--ranks 16 --tp 1 --pp 16", "--slow-rank {r}:1.4", "PP stage {r}", reason="computing")

    def test_hosts_of_whole_stages(self):
        self.check("--ranks 32 --tp 2 --pp 8", "--slow-host {h}:1.4", "host host000{h}", lambda seed: {"h": seed % 4}, reason="computing")

    def test_stages_that_launch_late(self):
        self.check("--ranks 32 --tp 2 --pp 4 --hosts-of 4", "--host-bound {first}-{last}", "PP stage {stage}",
                   lambda seed: {"stage": seed % 4, "first": seed % 4 * 8, "last": seed % 4 * 8 + 7}, within_ms=1.5,
                   reason="the host launches too late")

    def test_uneven_experts(self):
        self.check("--ranks 32 --tp 2 --pp 1 --ep 4", "--imbalance 0.4", "uneven load of experts, most at EP index 3", reason="tokens")

    def test_slow_group_of_experts_is_not_uneven(self):
        self.check("--ranks 32 --tp 2 --pp 1 --ep 4", "--late-group ep={i}", "EP index {i}", lambda seed: {"i": seed % 4}, reason="computing")

    def test_slow_link(self):
        self.check("--ranks 16", "--slow-link {r}-{peer}:4", "link {r}-{peer}", lambda seed: {"r": 5 * seed % 16, "peer": 5 * seed % 16 ^ 1},
                   within_ms=3)

    def test_slow_sender(self):
        self.check("--ranks 16", "--slow-nic {r}:3", "sending by rank {r}", within_ms=3)

    def test_the_cost_of_a_link_does_not_shrink_with_more_steps(self):
        costs = []
        for steps in (1, 8):
            cluster = generate(self.scratch / f"steps{steps}", "--ranks", "16", "--slow-link", "3-2:4", "--steps", str(steps))
            costs += [row["msPerStep"] for row in self.rows_of(cluster, "ClusterFindings")]
        self.assertEqual(len(costs), 2)
        self.assertAlmostEqual(costs[0], costs[1], delta=0.02 * costs[0])

    def test_a_slow_card_is_no_matter_of_packets(self):
        """Where everybody sends packets of half a megabyte, one slow card is the card."""
        for seed in range(1, 4):
            found = self.findings(generate(self.scratch / f"seed{seed}", "--ranks", "16", "--packets", "RDMA:524288", "--seed", str(seed),
                                           "--slow-nic", f"{seed}:3", "--hosts-of", "4", "--format", ("text", "db", "mixed")[seed % 3]))
            self.assertEqual([finding[1] for finding in found], [f"sending by rank {seed}"])


class PairsOfFaults(ClusterCase):
    """Two faults at once: both are named, whichever is larger, and nothing else is."""

    def check(self, options, *expected):
        """`options` and subjects are filled with two different ranks (or indexes) a seed."""
        for seed in range(1, 7):
            first, second = 5 * seed % 16, (5 * seed + 7) % 16
            places = {"a": first, "b": second, "a_peer": first ^ 1, "b_peer": second ^ 1, "index": seed % 4}
            words = ["--ranks", "16", "--format", ("text", "db", "mixed")[seed % 3], "--seed", str(seed), *options.format(**places).split()]
            with self.subTest(" ".join(words)):
                found = self.findings(generate(self.scratch / f"seed{seed}", *words))
                self.assertEqual(sorted(finding[1] for finding in found), sorted(subject.format(**places) for subject in expected))

    def test_slow_rank_behind_a_slow_link(self):
        self.check("--slow-rank {a}:1.3 --slow-link {b}-{b_peer}:4", "rank {a}", "link {b}-{b_peer}")

    def test_slow_link_behind_a_slow_rank(self):
        self.check("--slow-rank {a}:2 --slow-link {b}-{b_peer}:2", "rank {a}", "link {b}-{b_peer}")

    def test_slow_link_at_the_slow_rank(self):
        self.check("--slow-rank {a}:1.3 --slow-link {a}-{a_peer}:4", "rank {a}", "link {a}-{a_peer}")

    def test_two_slow_ranks(self):
        self.check("--slow-rank {a}:1.6 --slow-rank {b}:1.2", "rank {a}", "rank {b}")

    def test_two_ranks_that_are_slow_alike(self):
        self.check("--slow-rank {a}:1.3 --slow-rank {b}:1.3", "rank {a}", "rank {b}")

    def test_late_group_and_small_packets(self):
        self.check("--late-group dp={index} --small-packets RDMA", "DP index {index}", "sending by RDMA in small packets")

    def test_late_launches_behind_a_slow_rank(self):
        self.check("--slow-rank {a}:1.6 --host-bound {b}", "rank {a}", "rank {b}")


if __name__ == "__main__":
    unittest.main()
