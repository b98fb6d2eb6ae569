"""What recording must not cost: CPU time, which a busy machine changes little, and the best of several tries. bench/python_record.py measures
the same at length."""

import os
import tempfile
import time
import unittest

from capture_support import NativeTest

SWITCHES = {"record_shapes": True, "profile_memory": True, "with_stack": True}


def best(tries, measure):
    return min(measure() for _ in range(tries))


def thread_seconds(run):
    begin = time.thread_time()
    run()
    return time.thread_time() - begin


def process_seconds(run):
    begin = time.process_time()
    run()
    return time.process_time() - begin


class Costs(NativeTest):
    def test_the_start_of_a_capture_takes_less_than_two_milliseconds(self):
        from steplens._capture import Capture
        from steplens._config import Config

        with tempfile.TemporaryDirectory() as root:
            seconds = []
            for number in range(12):
                captures = []

                def start(number=number, captures=captures):
                    captures.append(Capture(Config(activities={"cpu", "npu"}, level="1", **SWITCHES), os.path.join(root, str(number))))
                    captures[0].start()

                seconds.append(thread_seconds(start))
                captures[0].discard()
        self.assertLess(min(seconds), 0.002, seconds)

    def test_a_step_in_which_nothing_is_recorded_costs_less_than_two_thousandths_of_a_small_one(self):
        import torch

        import steplens.mindspore as mindspore
        import steplens.torch_npu as torch_npu
        from steplens._autorecord import Recorder

        x, y = torch.ones(8), torch.ones(8)

        def operators():
            for _ in range(1000):
                x.add_(y)

        step_seconds = best(20, lambda: thread_seconds(operators))
        with tempfile.TemporaryDirectory() as root:
            never = {"wait": 10**9, "warmup": 1, "active": 1}
            profile = torch_npu.profiler.profile(schedule=torch_npu.profiler.schedule(**never))
            profile.start()
            profiler = mindspore.Profiler(output_path=root, schedule=mindspore.profiler.schedule(**never))
            monitor = mindspore.profiler.DynamicProfilerMonitor(os.path.join(root, "monitor"), output_path=root)
            recorder = Recorder({"profile_step_start": -1, "control_dir": os.path.join(root, "control"), "profile_save_path": root})
            for step in (profile.step, profiler.step, monitor.step, recorder.step_ended):
                def loop(step=step):
                    for _ in range(2000):
                        step()

                self.assertLess(best(9, lambda: thread_seconds(loop)) / 2000, 0.002 * step_seconds, step)
            profile.stop()
            profiler.stop()
            monitor._finish()

    def test_with_stacks_the_process_needs_no_more_cpu_than_torch_profiler(self):
        import torch

        from steplens._capture import Capture
        from steplens._config import Config

        model = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        data = torch.randn(4, 16, 32)

        def train():
            for _ in range(20):
                model(data).sum().backward()

        def ours():
            with tempfile.TemporaryDirectory() as root:
                capture = Capture(Config(activities={"cpu"}, **SWITCHES), os.path.join(root, "capture"))
                capture.start()
                train()
                capture.stop()
                capture.finalize({})

        def theirs():
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **SWITCHES):
                train()

        train()
        mine, others = [], []
        for _ in range(3):
            mine.append(process_seconds(ours))
            others.append(process_seconds(theirs))
        self.assertLess(min(mine), min(others))


if __name__ == "__main__":
    unittest.main()
