"""MindSpore in PyNative mode: a schedule records two steps of each of two cycles into ./data, a folder for each cycle."""

import steplens.mindspore as mindspore
from steplens.mindspore.profiler import AicoreMetrics, ExportType, ProfilerActivity, ProfilerLevel
from tiny import Tiny

experimental_config = mindspore.profiler._ExperimentalConfig(
    profiler_level=ProfilerLevel.Level1,
    aic_metrics=AicoreMetrics.PipeUtilization,
    l2_cache=False,
    mstx=True,
    data_simplification=False,
    export_type=[ExportType.Text, ExportType.Db])

net = Tiny()
with mindspore.profiler.profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.NPU],
        schedule=mindspore.profiler.schedule(wait=0, warmup=1, active=2, repeat=2, skip_first=1),
        on_trace_ready=mindspore.profiler.tensorboard_trace_handler("./data"),
        profile_memory=False,
        experimental_config=experimental_config) as prof:
    for step in range(10):
        range_id = mindspore.profiler.mstx.range_start("train")
        net.train_step()
        mindspore.profiler.mstx.range_end(range_id)
        prof.step()
