"""MindSpore's environment variable: this program says nothing about profiling. Run it with

    MS_PROFILER_OPTIONS='{"start": true, "output_path": "./prof", "activities": ["CPU", "NPU"], "profiler_level": "Level0"}'

and the whole run is recorded into ./prof and analysed when it ends."""

import steplens.mindspore  # noqa: F401 - as `import mindspore` does, this reads the variable
from tiny import Tiny

net = Tiny()
for step in range(5):
    net.train_step()
