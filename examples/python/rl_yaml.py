"""MindSpeed-RL: stages of a step are recorded as rl.yaml says; all captures are analysed at the end."""

import os

from steplens.rl import analyse, load_config, mstx_timer_decorator, profiler_start, profiler_step, profiler_stop
from tiny import Tiny

config = load_config(os.path.join(os.path.dirname(os.path.abspath(__file__)), "rl.yaml"))


class Worker:
    def __init__(self):
        self.model = Tiny()

    @mstx_timer_decorator
    def generate_sequences(self):
        return self.model.net(self.model.data)

    @mstx_timer_decorator
    def update(self):
        return self.model.train_step()


worker = Worker()
whole_step = profiler_start(config)  # acts if the stage is "all"
for iteration in range(1, 6):
    for role, work in (("actor_generate", worker.generate_sequences), ("actor_update", worker.update)):
        stage = profiler_start(config, role, iteration)
        work()
        profiler_step(stage)
        profiler_stop(stage)
    profiler_step(whole_step)
profiler_stop(whole_step)
analyse(config.base_path)
