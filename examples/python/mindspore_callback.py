"""MindSpore in graph mode: a callback of the training records steps 3 to 5 into ./profiler_data."""

import steplens.mindspore as ms
from steplens.mindspore.profiler import ProfilerActivity, ProfilerLevel
from tiny import Model, Tiny


class StopAtStep:
    def __init__(self, start_step, stop_step):
        self.start_step = start_step
        self.stop_step = stop_step
        self.profiler = ms.Profiler(start_profile=False, output_path="./profiler_data",
                                    profiler_level=ProfilerLevel.Level0, activities=[ProfilerActivity.CPU, ProfilerActivity.NPU])

    def step_begin(self, run_context):
        if run_context.original_args().cur_step_num == self.start_step:
            self.profiler.start()

    def step_end(self, run_context):
        if run_context.original_args().cur_step_num == self.stop_step:
            self.profiler.stop()
            self.profiler.analyse()


Model(Tiny()).train(8, callbacks=[StopAtStep(3, 5)])
