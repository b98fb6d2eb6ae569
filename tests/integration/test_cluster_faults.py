"""What was planted into a synthetic cluster is what `steplens cluster -m summary` names, and nothing else is.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_cluster_faults.py [-k slow_link]
"""

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
        self.check("--freq-drop {}", "late_rank", "rank {}", lambda seed: (5 * seed % 16,), "computing")

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

    def test_healthy_clusters_have_no_finding(self):
        for seed in range(1, 11):
            words = [["--clock-skew", "5000"], ["--missing", f"{seed},{seed + 3}"], []][seed % 3]
            words += ["--ranks", "16", "--format", ("text", "db", "mixed")[seed // 3 % 3], "--seed", str(seed)]
            with self.subTest(" ".join(words)):
                self.assertEqual(self.findings(generate(self.scratch / f"seed{seed}", *words)), [])


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
