"""verl's global_profiler and role sections: which steps, ranks and roles record, one capture per step or per stage."""

import os
import unittest
from unittest import mock

from support import FakeCapture, FrontTest, needs, silently
from steplens import _analyse
from steplens.rl import VerlConfig, VerlProfiler, load_config

I, S, P, F = "init", "start", "stop", "finalize"
SAMPLE = """
global_profiler:
  tool: npu
  steps: [1, 2, 5]
  save_path: ./prof
actor_rollout_ref:
  actor:
    profiler:
      enable: true
      all_ranks: false
      ranks: [0, 3]
      tool_config:
        npu:
          contents: [npu, cpu, memory, shapes, module, stack]
          level: level1
          analysis: true
          discrete: false
  rollout:
    profiler:
      enable: false
critic:
  profiler:
    enable: true
    all_ranks: true
"""


class VerlTest(FrontTest):
    def setUp(self):
        super().setUp()
        self.analysed = []
        patch = mock.patch.object(_analyse, "analyse", side_effect=lambda path, *args, **kwargs: self.analysed.append(path) or True)
        patch.start()
        self.addCleanup(patch.stop)

    def content(self, role=None, npu=None, **global_values):
        return {"global_profiler": {"tool": "npu", "steps": [1, 2, 5], "save_path": "prof", **global_values},
                "actor_rollout_ref": {"actor": {"profiler": {
                    "enable": True, "ranks": [0], **(role or {}), "tool_config": {"npu": {"contents": ["npu"], **(npu or {})}}}}}}

    def train(self, content, steps=6, rank=0, role="actor"):
        """Runs steps with two stages each; the steps in which a capture was open."""
        profiler = VerlProfiler(content, rank, role)
        recorded = []

        @profiler.annotate(role="actor_compute_log_prob")
        def compute():
            return 3

        @profiler.annotate()
        def update_actor():
            if profiler._profile is not None:
                recorded.append(profiler.step_number)

        with self.said() as self.lines:
            for step in range(1, steps + 1):
                profiler.start(step)
                self.assertEqual(compute(), 3)
                update_actor()
                profiler.stop()
        return recorded


class Verl(VerlTest):
    def test_a_capture_per_step_with_a_mark_per_stage(self):
        self.assertEqual(self.train(self.content()), [1, 2, 5])
        log = self.log
        self.assertEqual([item for item in log if item in (I, S, P, F)], [I, S, P, F] * 3)
        self.assertEqual([item[1] for item in log if isinstance(item, tuple)], [1, 2, 5])
        self.assertEqual([item[1] for item in self.native.log if item[0] == "start"], ["actor_compute_log_prob", "update_actor"] * 3)
        self.assertEqual([text for level, text in self.lines if level != "INFO"], [])
        self.assertEqual(len(self.analysed), 3)

    def test_steps_that_follow_each_other_may_share_a_capture(self):
        self.assertEqual(self.train(self.content(profile_continuous_steps=True)), [1, 2, 5])
        log = self.log
        self.assertEqual([item for item in log if item in (I, S, P, F)], [I, S, P, F] * 2)
        self.assertEqual([item[1] for item in log if isinstance(item, tuple)], [1, 2, 5])

    def test_discrete_is_a_capture_per_stage(self):
        self.assertEqual(self.train(self.content(npu={"discrete": True, "analysis": False})), [])
        self.assertEqual(self.operations, [I, S, P, F] * 6)
        self.assertEqual(sorted(os.listdir("prof")), ["actor_compute_log_prob", "update_actor"])
        self.assertEqual(self.analysed, [])

    def test_who_records_nothing(self):
        for content, rank, role in ((self.content(tool=None), 0, "actor"), (self.content(steps=None), 0, "actor"),
                                    (self.content(role={"enable": False}), 0, "actor"), (self.content(), 1, "actor"),
                                    (self.content(role={"ranks": []}), 0, "actor"), (self.content(), 0, "critic"), ({}, 0, "actor"),
                                    (None, 0, "actor")):
            self.assertFalse(VerlProfiler(content, rank, role).enabled)
            self.assertEqual(self.train(content, rank=rank, role=role), [])
        self.assertEqual(self.operations, [])
        self.assertTrue(VerlProfiler(self.content(role={"all_ranks": True}), 7).enabled)

    def test_rollout_and_ref_follow_the_actor(self):
        for role in ("rollout", "ref"):
            self.assertTrue(VerlProfiler(self.content(), 0, role).enabled)
        content = self.content()
        content["actor_rollout_ref"]["rollout"] = {"profiler": {"enable": False}}
        self.assertFalse(VerlProfiler(content, 0, "rollout").enabled)

    def test_other_tools_are_told(self):
        self.assertIsNone(self.warns("global_profiler.tool is 'nsys'", lambda: VerlConfig(self.content(tool="nsys"))).tool)

    def test_wrong_values_are_told_by_their_keys(self):
        for content, part in ((self.content(steps=[0]), "global_profiler.steps"), (self.content(save_path=5), "global_profiler.save_path"),
                              (self.content(npu={"level": "level7"}), "actor_rollout_ref.actor.profiler.tool_config.npu.level"),
                              (self.content(npu={"contents": ["gpu"]}), "actor_rollout_ref.actor.profiler.tool_config.npu.contents"),
                              (self.content(role={"ranks": ["a"]}), "actor_rollout_ref.actor.profiler.ranks"),
                              (self.content(npu={"profile_token_start": 3}), "profile_token_start")):
            self.warns(part, lambda: VerlProfiler(content, 0))

    def test_contents_reach_the_internal_record(self):
        self.train(self.content(steps=[1], npu={"contents": ["npu", "memory", "shapes", "module", "stack"], "level": "level1"}))
        config = FakeCapture.made[0].config
        self.assertEqual((config.activities, config.level, config.export, config.mstx, config.mstx_exclude, config.data_simplification),
                         ({"cpu", "npu"}, "1", ["db"], True, ["communication"], True))
        self.assertTrue(config.profile_memory and config.record_shapes and config.with_modules and config.with_stack)

    def test_the_torch_tool(self):
        content = self.content(tool="torch")
        content["actor_rollout_ref"]["actor"]["profiler"]["tool_config"] = {"torch": {"contents": ["cpu", "shapes"]}}
        self.assertEqual(self.train(content), [1, 2, 5])
        self.assertEqual(FakeCapture.made[0].config.activities, {"cpu"})

    def test_a_loop_that_only_steps(self):
        profiler = VerlProfiler(self.content(steps=[2, 3]), 0)
        recorded = []

        def run():
            for step in range(1, 6):
                if profiler._profile is not None:
                    recorded.append(step)
                profiler.step()

        silently(run)
        self.assertEqual(recorded, [2, 3])

    @needs("yaml")
    def test_a_file_of_verl(self):
        with open("verl.yaml", "w", encoding="utf-8") as file:
            file.write(SAMPLE)
        config = load_config("verl.yaml")
        self.assertIsInstance(config, VerlConfig)
        self.assertEqual((config.tool, config.steps, config.save_path), ("npu", [1, 2, 5], "./prof"))
        self.assertEqual([VerlProfiler(config, rank, role).enabled for rank, role in
                          ((0, "actor"), (3, "ref"), (1, "actor"), (0, "rollout"), (5, "critic"))], [True, True, False, False, True])


if __name__ == "__main__":
    unittest.main()
