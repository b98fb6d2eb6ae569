"""MindSpore's dynamic profiler: the file ./conf/profiler_config.json asks for steps 2 to 5 and is changed later to ask for
steps 60 to 61; folders rank0_start2_stop5 and rank0_start60_stop61 in ./dyn_profile_data."""

import json
import os
import time

from steplens.mindspore.profiler import DynamicProfilerMonitor
from tiny import Tiny


def ask_for(start_step, stop_step):
    config = {"start_step": start_step, "stop_step": stop_step, "profiler_level": "Level0", "activities": ["CPU", "NPU"],
              "analyse": True, "analyse_mode": 1}
    with open("conf/new.json", "w", encoding="utf-8") as file:
        json.dump(config, file)
    os.replace("conf/new.json", "conf/profiler_config.json")


os.makedirs("conf", exist_ok=True)
ask_for(2, 5)
monitor = DynamicProfilerMonitor(cfg_path="conf", output_path="./dyn_profile_data")
net = Tiny()
for step in range(80):
    net.train_step()
    monitor.step()
    if step == 7:
        ask_for(60, 61)
    time.sleep(0.01)
