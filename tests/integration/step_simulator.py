"""A small training job whose answer to every what-if is known: simulated with a cause and without it, written as Kineto traces.

The host runs operators one after the other and launches their kernels; streams run them in order. A collective runs on a stream
of its own once the gradients are there, and ends for all ranks together. Each step ends with a synchronisation. Times are microseconds.
"""

import dataclasses
import json

LAUNCH = 6          # a launching call
LATENCY = 5         # from its return to the start on a free device
RETURN = 3          # from the end of the last task to the return of a synchronising call
SYNC = 4            # a synchronising call that finds nothing to wait for; 2 of them count as its own
STREAM_GAP = 1
COMPUTE, COMM = 7, 20
SMALL_TRANSFER = 60  # of a collective that moves next to nothing
ELEMENTS = 20_000_000  # of a collective that takes `transfer`
BASE_US = 1_700_000_000_000_000


@dataclasses.dataclass
class Settings:
    ranks: int = 1
    steps: int = 4
    layers: int = 12
    operator: int = 30        # host time of an operator before its launch
    kernel: int = 180         # of each layer
    matmul: int = 240
    transfer: int = 600       # of one of the two collectives of a step
    loader: int = 200         # host time before the first operator of a step
    items: int = 0            # .item() calls per step, each a synchronisation
    slow_rank: float = 1.0    # factor on the kernels of the last rank
    tiny: int = 0             # operators on a few numbers before the forward pass, one after the other
    casts: int = 0            # length of a cast of each layer's weights to another type
    allocations: int = 0      # calls of the device's allocator per step, which wait for the device
    jitter: int = 0           # a pause of the host in every third step
    buckets: int = 0          # small collectives instead of the last one, one after the other
    is_merged: bool = False   # the same bytes in one collective
    collections: int = 0      # a pause of the host in every step, marked as the collection of garbage
    is_again: bool = False    # the backward pass runs the forward operators again
    slow_host: float = 1.0    # factor on the operators of the last rank
    half_transfer: int = 0    # of the first collective, if not the same as the other
    is_overlapped: bool = True  # whether the first collective runs beside the second half of the backward pass


class Rank:
    def __init__(self, number, settings):
        self.number = number
        self.settings = settings
        is_last = number == settings.ranks - 1 and settings.ranks > 1
        self.factor = settings.slow_rank if is_last else 1.0
        self.host_time = round(settings.operator * settings.slow_host) if is_last else settings.operator
        self.host = 100 * number
        self.free = {COMPUTE: 0, COMM: 0}
        self.events = []
        self.correlation = 0

    def slice(self, name, category, tid, begin, end, **args):
        pid = 0 if category in ("kernel", "gpu_memcpy") else 1000
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": BASE_US + begin,
                            "dur": end - begin, "args": args})

    def call(self, name, length, correlation=None):
        args = {} if correlation is None else {"correlation": correlation}
        self.slice(name, "cuda_runtime", 1, self.host, self.host + length, **args)
        self.host += length

    def operator(self, name, kernel, length, after=None, **args):
        """An operator and its kernel; `after`: the time another stream must have reached."""
        begin = self.host
        self.host += self.host_time
        if after is not None:
            self.call("cudaStreamWaitEvent", 2)
        self.correlation += 1
        self.call("cudaLaunchKernel", LAUNCH, self.correlation)
        start = max(self.host + LATENCY, self.free[COMPUTE] + STREAM_GAP, (after or 0) + STREAM_GAP)
        self.free[COMPUTE] = start + round(length * self.factor)
        self.slice(kernel, "kernel", COMPUTE, start, self.free[COMPUTE], correlation=self.correlation)
        self.host += 4
        self.slice(name, "cpu_op", 1, begin, self.host, **args)

    def again(self):
        """A layer's forward operators inside a backward one: activation checkpointing."""
        begin = self.host
        self.host += 2
        self.operator("aten::mm", "matmul_kernel", self.settings.matmul)
        self.operator("aten::layer_norm", "norm_kernel", self.settings.kernel)
        self.host += 2
        self.slice("CheckpointFunctionBackward", "cpu_op", 1, begin, self.host, **{"Fwd thread id": 1, "Sequence number": 7})

    def tiny(self):
        begin = self.host
        self.host += 12
        self.correlation += 1
        self.call("cudaLaunchKernel", LAUNCH, self.correlation)
        start = max(self.host + LATENCY, self.free[COMPUTE] + STREAM_GAP)
        self.free[COMPUTE] = start + 2
        self.slice("elementwise_kernel", "kernel", COMPUTE, start, self.free[COMPUTE], correlation=self.correlation)
        self.host += 2
        self.slice("aten::add", "cpu_op", 1, begin, self.host)
        self.host += 3

    def allocate(self):
        begin = self.host
        self.host = max(self.host, max(self.free.values())) + 400
        self.slice("cudaMalloc", "cuda_runtime", 1, begin, self.host)

    def wait(self):
        begin = self.host
        last = max(self.free.values())
        self.host = max(self.host + SYNC, last + RETURN)
        self.slice("cudaDeviceSynchronize", "cuda_runtime", 1, begin, self.host)


def collective(ranks, number, transfer, elements=ELEMENTS):
    """Launched by all; starts on each when its gradients are there, and ends for all together."""
    starts = []
    for rank in ranks:
        rank.call("cudaEventRecord", 2)
        rank.call("cudaStreamWaitEvent", 2)
        rank.correlation += 1
        rank.call("cudaLaunchKernelExC", LAUNCH, rank.correlation)
        starts.append(max(rank.host + LATENCY, rank.free[COMM] + STREAM_GAP, rank.free[COMPUTE] + STREAM_GAP))
    end = max(starts) + transfer
    for rank, start in zip(ranks, starts):
        rank.slice("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "kernel", COMM, start, end,
                   correlation=rank.correlation, **{"Collective name": "allreduce", "In msg nelems": elements + number, "Out msg nelems": elements + number, "dtype": "Float"})
        rank.free[COMM] = end
        rank.call("cudaEventRecord", 2)
    return end


def run_step(ranks, settings, number):
    begins = [rank.host for rank in ranks]
    for rank in ranks:
        begin = rank.host
        rank.host += settings.loader
        rank.slice("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation", 1, begin, rank.host)
        if settings.jitter and number % 3 == 2:
            rank.host += settings.jitter
        if settings.collections:
            begin = rank.host
            rank.host += settings.collections
            rank.slice("GC", "GC", 1, begin, rank.host)
        for _ in range(settings.tiny):
            rank.tiny()
        for layer in range(settings.layers):
            if settings.casts:
                rank.operator("aten::_to_copy", "cast_kernel", settings.casts)
            rank.operator("aten::mm", "matmul_kernel", settings.matmul)
            if layer < settings.allocations:
                rank.allocate()
            rank.operator("aten::layer_norm", "norm_kernel", settings.kernel)
            if layer < settings.items:
                rank.wait()
    half = settings.layers // 2

    def backward(rank):
        if settings.is_again:
            rank.again()
        rank.operator("MmBackward", "matmul_kernel", settings.matmul)

    for rank in ranks:
        for _ in range(half):
            backward(rank)
    end = collective(ranks, 2 * number, settings.half_transfer or settings.transfer)
    if not settings.is_overlapped:
        for rank in ranks:
            rank.operator("MmBackward", "matmul_kernel", settings.matmul, after=end)
    for rank in ranks:
        for _ in range(half):
            backward(rank)
    sizes = [10_000 + 100 * bucket for bucket in range(settings.buckets)]
    if settings.buckets and settings.is_merged:
        full = settings.half_transfer or settings.transfer
        end = collective(ranks, 2 * number + 1, SMALL_TRANSFER + round(sum(sizes) * full / ELEMENTS), sum(sizes))
    elif settings.buckets:
        for size in sizes:
            end = collective(ranks, 2 * number + 1, SMALL_TRANSFER, size)
    else:
        end = collective(ranks, 2 * number + 1, settings.transfer)
    for rank, begin in zip(ranks, begins):
        rank.operator("Optimizer.step#SGD.step", "sgd_kernel", settings.kernel, after=end)
        rank.wait()
        rank.host += 20
        rank.slice(f"ProfilerStep#{number}", "user_annotation", 1, begin, rank.host)


def simulate(settings):
    """The ranks with their events, and the microseconds per step of the slowest."""
    ranks = [Rank(number, settings) for number in range(settings.ranks)]
    for number in range(settings.steps):
        run_step(ranks, settings, number)
    return ranks, max((rank.host - 100 * rank.number) / settings.steps for rank in ranks)


def write(settings, folder):
    """One trace per rank; returns the microseconds per step."""
    folder.mkdir(parents=True)
    ranks, step_us = simulate(settings)
    for rank in ranks:
        names = [{"ph": "M", "name": "process_name", "pid": 1000, "tid": 0, "args": {"name": "python"}},
                 {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}},
                 {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}}]
        trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}],
                 "distributedInfo": {"backend": "nccl", "rank": rank.number, "world_size": settings.ranks},
                 "traceEvents": names + sorted(rank.events, key=lambda event: (event["ts"], -event["dur"]))}
        (folder / f"rank{rank.number}.pt.trace.json").write_text(json.dumps(trace))
    return step_us
