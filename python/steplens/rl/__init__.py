"""The `profiler_config` of MindSpeed-RL: a section of a YAML file, hooks around the stages of a step, and marks for functions.

    config = steplens.rl.load_config("job.yaml")                     # or ProfilerConfig({...})
    whole = steplens.rl.profiler_start(config)                       # stage: all
    for iteration in range(1, 11):
        part = steplens.rl.profiler_start(config, "actor_update", iteration)   # stage: actor_update
        update_actor()
        steplens.rl.profiler_step(part)
        steplens.rl.profiler_step(whole)

Captures go to <profile_save_path>/<role>/. `VerlProfiler` does the same for the sections of verl.
"""

from ._config import STAGES, ProfilerConfig, load_config
from ._hooks import analyse, mstx_timer_decorator, profiler_start, profiler_step, profiler_stop
from ._verl import VerlConfig, VerlProfiler

__all__ = ["STAGES", "ProfilerConfig", "VerlConfig", "VerlProfiler", "analyse", "load_config", "mstx_timer_decorator", "profiler_start", "profiler_step",
           "profiler_stop"]
