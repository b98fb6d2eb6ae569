"""torch_npu: records steps 3 and 4 of 8, with stacks, shapes and memory, into ./result."""

import steplens.torch_npu as torch_npu
from tiny import Tiny

experimental_config = torch_npu.profiler._ExperimentalConfig(
    export_type=[torch_npu.profiler.ExportType.Text],
    profiler_level=torch_npu.profiler.ProfilerLevel.Level1,
    mstx=True,
    aic_metrics=torch_npu.profiler.AiCMetrics.PipeUtilization,
    l2_cache=False,
    op_attr=False,
    data_simplification=False,
    record_op_args=False,
    gc_detect_threshold=None,
)

model = Tiny()
with torch_npu.profiler.profile(
        activities=[torch_npu.profiler.ProfilerActivity.CPU, torch_npu.profiler.ProfilerActivity.NPU],
        schedule=torch_npu.profiler.schedule(wait=0, warmup=1, active=2, repeat=1, skip_first=2),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("./result"),
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_modules=False,
        with_flops=False,
        experimental_config=experimental_config) as prof:
    prof.add_metadata("model", "tiny")
    for step in range(8):
        range_id = torch_npu.npu.mstx.range_start("train", torch_npu.npu.current_stream())
        model.train_step()
        torch_npu.npu.mstx.range_end(range_id)
        prof.step()
