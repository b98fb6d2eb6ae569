"""torch_npu: a job that somebody wants to look into while it runs. Here the job itself changes ./conf/profiler_config.json
after its fifth step, as an engineer would with an editor; two steps are recorded into ./result."""

import json
import os
import time

from steplens.torch_npu.profiler import dynamic_profile as dp
from tiny import Tiny

dp.init("conf")  # makes conf/profiler_config.json, which records nothing
model = Tiny()
for step in range(300):
    model.train_step()
    dp.step()
    if step == 4:
        with open("conf/profiler_config.json", encoding="utf-8") as file:
            config = json.load(file)
        config.update(start_step=-1, active=2, prof_dir="./result", record_shapes=True, activities=["CPU"])
        with open("conf/new.json", "w", encoding="utf-8") as file:
            json.dump(config, file)
        os.replace("conf/new.json", "conf/profiler_config.json")
    time.sleep(0.003)
