"""`steplens record -- python train.py` from the side of Python: what $STEPLENS_RECORD asks for, without a change in the program."""

import glob
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

import raw_reader
from capture_support import NativeTest

TRAIN = """
import sys, time, torch
torch.set_num_threads(1)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(int(sys.argv[1])):
    optimizer.zero_grad()
    model(torch.ones(3, 4)).sum().backward()
    optimizer.step()
    time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
"""

TWO_OPTIMIZERS = """
import torch
first, second = [torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1) for _ in range(2)]
for _ in range(6):
    for optimizer in (second, first, second):
        for group in optimizer.param_groups:
            group["params"][0].grad = torch.ones(2)
        optimizer.step()
"""

MARKED = """
import torch
from steplens import _ranges
for _ in range(4):
    torch.ones(2).add(1)
    _ranges.step()
"""

SPAWN = """
import os, sys, torch
import torch.multiprocessing as mp
import torch.distributed as dist

def rank(number, port):
    dist.init_process_group("gloo", rank=number, world_size=2, init_method=f"tcp://127.0.0.1:{port}")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        model(torch.ones(3, 4)).sum().backward()
        optimizer.step()
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(rank, args=(int(sys.argv[1]),), nprocs=2)
"""


class RecordingTest(NativeTest):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = self._folder.name

    def start(self, program, *arguments, environment=None, **wishes):
        import steplens

        package = os.path.dirname(os.path.abspath(steplens.__file__))
        script = os.path.join(self.root, "train.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(program)
        wishes = {"profile_save_path": os.path.join(self.root, "captures"), "profile_analyse": "no", **wishes}
        values = {**os.environ, **(environment or {}), "STEPLENS_RECORD": json.dumps(wishes)}
        values["PYTHONPATH"] = os.pathsep.join([os.path.join(package, "_bootstrap"), (environment or {}).get("PYTHONPATH", "")])
        return subprocess.Popen([sys.executable, script, *map(str, arguments)], env=values, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def record(self, program, *arguments, **wishes):
        """Runs a program to its end; returns what it said."""
        with self.start(program, *arguments, **wishes) as running:
            out, said = running.communicate(timeout=180)
        self.assertEqual(running.returncode, 0, said)
        return out + said

    def captures(self):
        return sorted(glob.glob(os.path.join(self.root, "captures", "*_ascend_pt")))

    def steps(self, directory):
        return [op.name for op in raw_reader.ops(directory) if op.name.startswith("ProfilerStep")]


class Recording(RecordingTest):
    def test_exactly_the_steps_that_were_asked_for(self):
        self.record(TRAIN, 8, profile_step_start=3, profile_step_end=5, profile_record_shapes=True, profile_with_stack=True,
                    profile_with_memory=True)
        (capture,) = self.captures()
        self.assertEqual(self.steps(capture), ["ProfilerStep#3", "ProfilerStep#4"])
        ops = raw_reader.ops(capture)
        self.assertEqual(sum(op.name == "Optimizer.step#SGD.step" for op in ops), 2)
        linear = [op for op in ops if op.name == "aten::linear"]
        self.assertEqual([op.shapes for op in linear], ["3,4;2,4;2"] * 2)
        self.assertIn("train.py(8): <module>", linear[0].stack)
        config = raw_reader.info(capture)["config"]
        self.assertTrue(config["common_config"]["record_shapes"])
        self.assertEqual(len(raw_reader.metadata(capture)["trace_id"]), 32)
        self.assertTrue(raw_reader.memory(capture))

    def test_the_whole_run(self):
        self.record(TRAIN, 3)
        (capture,) = self.captures()
        self.assertEqual(self.steps(capture), ["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"])

    def test_torchrun_is_repaired_where_its_flags_do_not_know_zero(self):
        from steplens import _launchers
        from torch.distributed.elastic.multiprocessing import api

        before = api.Std.__dict__["from_str"]
        self.addCleanup(lambda: setattr(api.Std, "from_str", before))
        _launchers.repair(api)
        self.assertEqual([api.Std.from_str(text) for text in "0123"], [api.Std.NONE, api.Std.OUT, api.Std.ERR, api.Std.ALL])
        self.assertEqual(api.Std.from_str("0:3,1:0"), {0: api.Std.ALL, 1: api.Std.NONE})
        self.assertRaises(ValueError, api.Std.from_str, "4")

    def test_a_range_of_steps_is_repeated_after_a_pause(self):
        self.record(TRAIN, 12, profile_step_start=2, profile_step_end=4, profile_warmup=1, profile_wait=2, profile_repeat=2)
        self.assertEqual([self.steps(capture) for capture in self.captures()],
                         [["ProfilerStep#2", "ProfilerStep#3"], ["ProfilerStep#7", "ProfilerStep#8"]])

    def test_what_ends_in_its_warm_up_leaves_no_folder(self):
        said = self.record(TRAIN, 3, profile_step_start=5, profile_step_end=6, profile_warmup=2)
        self.assertEqual(self.captures(), [])
        self.assertIn("during the warm-up before step 5", said)

    def test_the_switches_of_the_python_interface(self):
        self.record(TRAIN, 2, profile_step_start=1, profile_step_end=2, profile_level="level1", aic_metrics="Memory", l2_cache=True,
                    op_attr=True, profile_export_type=["db"], mstx=True, mstx_domain_include=["mine"], sys_io=True,
                    sys_interconnection=True, record_op_args=True, host_sys=["cpu", "osrt"], worker_name="worker", profile_with_flops=True)
        (capture,) = self.captures()
        self.assertTrue(os.path.basename(capture).startswith("worker_"))
        config = raw_reader.info(capture)["config"]
        self.assertTrue(config["common_config"]["with_flops"])
        expected = {"_aic_metrics": "ACL_AICORE_MEMORY_BANDWIDTH", "_l2_cache": True, "_op_attr": True, "_mstx_domain_include": ["mine"],
                    "_sys_io": True, "_sys_interconnection": True, "record_op_args": True, "_host_sys": ["cpu", "osrt"]}
        self.assertEqual({key: config["experimental_config"][key] for key in expected}, expected)

    def test_a_program_without_steps_is_recorded_as_a_whole(self):
        said = self.record("import torch\ntorch.ones(2).add(1)\n", profile_step_start=10, profile_step_end=12)
        (capture,) = self.captures()
        self.assertIn("aten::add", [op.name for op in raw_reader.ops(capture)])
        self.assertIn("no steps", said)

    def test_steps_that_are_never_reached(self):
        said = self.record(TRAIN, 2, profile_step_start=10, profile_step_end=12)
        self.assertEqual(self.captures(), [])
        self.assertIn("step 10 was to be recorded", said)

    def test_a_program_without_torch_is_left_alone(self):
        self.assertEqual(self.record("print('hello')"), "hello\n")
        self.assertEqual(self.captures(), [])

    def test_other_ranks_do_not_record(self):
        self.record(TRAIN, 2, environment={"RANK": "1"}, profile_ranks=[0, 2])
        self.assertEqual(self.captures(), [])
        self.record(TRAIN, 2, environment={"RANK": "2"}, profile_ranks=[0, 2])
        self.assertEqual(raw_reader.info(self.captures()[0])["rank_id"], "2")

    def test_ranks_of_mpirun_are_known_before_their_first_step(self):
        environment = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}
        self.record(TRAIN, 2, environment=environment, profile_step_start=1, profile_step_end=3, profile_ranks=[0])
        self.assertEqual(self.captures(), [])
        self.record(TRAIN, 2, environment=environment, profile_step_start=1, profile_step_end=3, profile_ranks=[1])
        (capture,) = self.captures()
        self.assertEqual(self.steps(capture), ["ProfilerStep#1", "ProfilerStep#2"])
        self.assertEqual(raw_reader.info(capture)["rank_id"], 1)
        self.assertEqual(raw_reader.metadata(capture)["distributed_args"], {"rank": 1, "world_size": 4})

    def test_steps_of_the_first_optimizer_count(self):
        self.record(TWO_OPTIMIZERS, profile_step_start=3, profile_step_end=5)
        (capture,) = self.captures()
        self.assertEqual(self.steps(capture), ["ProfilerStep#3", "ProfilerStep#4"])
        self.assertEqual(sum(op.name == "Optimizer.step#SGD.step" for op in raw_reader.ops(capture)), 6)

    def test_steps_that_the_program_marks(self):
        self.record(MARKED, profile_step_start=2, profile_step_end=3)
        (capture,) = self.captures()
        self.assertEqual(self.steps(capture), ["ProfilerStep#2"])
        self.assertEqual(sum(op.name == "aten::add" for op in raw_reader.ops(capture)), 1)

    def test_spawned_ranks_record_themselves_and_their_parent_does_not(self):
        from native_distributed import free_port

        self.record(SPAWN, free_port(), profile_step_start=2, profile_step_end=4)
        captures = self.captures()
        self.assertEqual(len(captures), 2)
        self.assertEqual(sorted(raw_reader.info(capture)["rank_id"] for capture in captures), [0, 1])
        for capture in captures:
            self.assertEqual(self.steps(capture), ["ProfilerStep#2", "ProfilerStep#3"])
            self.assertTrue([op for op in raw_reader.ops(capture) if op.name == "gloo:all_reduce"])

    def test_launchers_are_not_ranks(self):
        from steplens import _autorecord

        self.assertTrue(_autorecord.is_launcher(["python3", "/usr/bin/torchrun", "x.py"], {}))
        self.assertTrue(_autorecord.is_launcher(["python3", "-m", "torch.distributed.run", "x.py"], {}))
        self.assertFalse(_autorecord.is_launcher(["python3", "/usr/bin/torchrun", "x.py"], {"RANK": "0"}))
        self.assertFalse(_autorecord.is_launcher(["python3", "x.py"], {}))
        self.assertFalse(_autorecord.is_launcher(["python3"], {}))

    def test_the_sitecustomize_of_the_user_still_runs(self):
        own = os.path.join(self.root, "own")
        os.mkdir(own)
        with open(os.path.join(own, "sitecustomize.py"), "w", encoding="utf-8") as file:
            file.write("import builtins\nbuiltins.of_the_user = 7\n")
        said = self.record("print(of_the_user)", environment={"PYTHONPATH": own})
        self.assertTrue(said.startswith("7\n"), said)

    def test_a_wish_that_makes_no_sense_does_not_stop_the_program(self):
        import steplens

        folder = os.path.join(os.path.dirname(os.path.abspath(steplens.__file__)), "_bootstrap")
        for wish in ("{", "[]", '{"profile_level": "level9", "profile_step_start": 0, "host_sys": 3}'):
            environment = {**os.environ, "PYTHONPATH": folder, "STEPLENS_RECORD": wish}
            result = subprocess.run([sys.executable, "-c", "import torch; print(int(torch.ones(1)))"], env=environment,
                                    capture_output=True, text=True, timeout=60, cwd=self.root)
            self.assertEqual((result.returncode, result.stdout), (0, "1\n"), result.stderr)

    def test_a_folder_that_cannot_be_written(self):
        said = self.record(TRAIN, 2, profile_save_path="/proc/nowhere")
        self.assertIn("This program is not recorded: ", said)


class Control(RecordingTest):
    def status(self):
        with open(os.path.join(self.root, "control", "rank_0.json"), encoding="utf-8") as file:
            return json.load(file)

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                status = self.status()
                if condition(status):
                    return status
            except (OSError, ValueError):
                pass
            time.sleep(0.02)
        self.fail("the rank did not answer")

    def command(self, number, **values):
        path = os.path.join(self.root, "control", "command.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump({"id": number, "ranks": "all", **values}, file)
        os.replace(path + ".new", path)

    def test_commands_while_it_runs(self):
        control = os.path.join(self.root, "control")
        with self.start(TRAIN, 400, 0.01, profile_step_start=-1, control_dir=control) as running:
            before = self.wait_for(lambda status: status["step"] > 3)
            self.assertEqual((before["state"], before["capture"], before["pid"]), ("idle", "", running.pid))
            first = before["step"] + 60
            self.command(1, action="start", at_step=first, steps=3)
            armed = self.wait_for(lambda status: status["command"] == 1)
            self.assertIn(f"records from step {first} to {first + 2}", armed["answer"])
            self.wait_for(lambda status: status["state"] == "recording")
            self.wait_for(lambda status: status["state"] == "idle")
            self.command(2, action="start", at_step=1, steps=1)
            self.assertIn("too late", self.wait_for(lambda status: status["command"] == 2)["answer"])
            self.command(3, action="start", ranks=[5])
            self.assertIn("not for this rank", self.wait_for(lambda status: status["command"] == 3)["answer"])
            self.command(4, action="start")
            self.wait_for(lambda status: status["state"] == "recording")
            self.command(5, action="stop")
            self.wait_for(lambda status: status["command"] == 5 and status["state"] == "idle")
            self.command(6, action="dance")
            _, said = running.communicate(timeout=120)
        self.assertEqual(running.returncode, 0, said)
        self.assertEqual(self.status()["state"], "ended")
        planned, open_ended = self.captures()
        self.assertEqual(self.steps(planned), [f"ProfilerStep#{first + i}" for i in range(3)])
        self.assertTrue(self.steps(open_ended))


if __name__ == "__main__":
    unittest.main()
