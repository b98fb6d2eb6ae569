"""What one rank's profiler saw: its steps on its own clock, and who launched what."""

from typing import NamedTuple

from .kernels import kernels_of
from .measures import OpMeasure, measure_step
from .simulate import MS, US, clock_offset_ns
from .topology import LISTED_MEMBERS_LIMIT

HOST_LEAD_NS = 1500 * US       # the host launches this long before the device gets there
HOST_BOUND_LEAD_NS = 20 * US
OPERATOR_NS = 12 * US
LAUNCH_OFFSET_NS = 4 * US      # from the start of an operator to its launch
LAUNCH_NS = 5 * US
FIRST_CONNECTION = 1000
NOTIFY_NS = 20
COMPUTE_STREAM = 2
FIRST_COMM_STREAM = 4
RATED_MHZ = 1800
DROPPED_MHZ = 800
HCCL_OPERATOR = {"allReduce": "HcclAllreduce", "allGather": "HcclAllgather", "reduceScatter": "HcclReduceScatter",
                 "alltoallv": "HcclAlltoAllV", "send": "HcclSend", "receive": "HcclReceive"}
ALGORITHM = "MESH-RING"
# The device task behind each kind of plane task.
DEVICE_TASK = {"Notify_Wait": "Notify Wait", "Notify_Record": "Write Value", "Memcpy": "SDMA", "RDMASend": "RDMASend"}


class Kernel(NamedTuple):
    shape: object
    tokens: int
    start_ns: int
    end_ns: int

    @property
    def inputs(self):
        return self.shape.input_shapes.format(tokens=self.tokens)

    @property
    def outputs(self):
        return self.shape.output_shapes.format(tokens=self.tokens)


class Launch(NamedTuple):
    """An operator on the host with the device work it started: a Kernel, or an OpMeasure."""
    operator: str
    start_ns: int
    connection: int
    work: object

    @property
    def end_ns(self):
        return self.start_ns + OPERATOR_NS

    @property
    def is_communication(self):
        return isinstance(self.work, OpMeasure)

    @property
    def device_name(self):
        return self.work.op.name if self.is_communication else self.work.shape.name

    @property
    def device_start_ns(self):
        return self.work.op.start_ns if self.is_communication else self.work.start_ns

    @property
    def device_end_ns(self):
        return self.work.op.end_ns if self.is_communication else self.work.end_ns

    @property
    def launch_ns(self):
        return self.start_ns + LAUNCH_OFFSET_NS


class PlaneTask(NamedTuple):
    type: str
    plane: int
    start_ns: int
    end_ns: int
    peer: int
    link: object  # of a transfer, else None


class CapturedStep(NamedTuple):
    id: int
    step: object      # RankStep on the rank's clock
    measures: list    # OpMeasure of each communication operation
    launches: list    # in launch order


class Capture:
    """Everything the writers need about one rank."""

    def __init__(self, options, topology, rank, rank_steps, shift_ns=0, shift_step=0):
        self.options = options
        self.topology = topology
        self.rank = rank
        self.device = rank % options.hosts_of
        self.host = topology.host(rank)
        self.pid = 100_000 + rank
        self.timeline = options.has_timeline(rank)
        self.groups = [groups[rank] for groups in topology.of.values()]
        offset = clock_offset_ns(options, self.host) + shift_ns
        self.session_ns = (rank_steps[0].host_start_ns + offset - 5 * MS, rank_steps[-1].host_end_ns + offset + 5 * MS)
        self.lead_ns = HOST_BOUND_LEAD_NS if rank in options.host_bound else HOST_LEAD_NS
        self._connection = FIRST_CONNECTION
        self.steps = [self._captured(step_id + shift_step, index, _shifted(step, offset))
                      for index, (step_id, step) in enumerate(zip(options.step_ids, rank_steps))
                      if (rank, step_id) not in options.missing_steps]

    def _captured(self, step_id, index, step):
        measures = measure_step(self.topology, self.rank, index, step)
        return CapturedStep(step_id, step, measures, self._launches(step, measures) if self.timeline else [])

    def _launches(self, step, measures):
        work = [(start, shape.operator, Kernel(shape, block.tokens, start, end))
                for block in step.blocks for shape, start, end in kernels_of(block)]
        work += [(measure.op.start_ns, HCCL_OPERATOR[measure.op.type], measure) for measure in measures]
        launches = []
        free_ns = 0
        for device_start, operator, item in sorted(work, key=lambda entry: entry[0]):
            start = max(free_ns, device_start - self.lead_ns)
            launches.append(Launch(operator, start, self._connection, item))
            self._connection += 1
            free_ns = start + OPERATOR_NS + US
        return launches

    def comm_stream(self, group):
        return FIRST_COMM_STREAM + self.groups.index(group)

    def frequency_samples(self):
        """[(ns, MHz)] at the changes and at both ends of the session."""
        samples = [(self.session_ns[0], RATED_MHZ)]
        if self.rank in self.options.freq_drops:
            for captured in self.steps:
                slow = [block for block in captured.step.blocks if block.kind.endswith("backward")]
                samples += [(slow[0].start_ns, DROPPED_MHZ), (slow[-1].end_ns, RATED_MHZ)]
        return samples + [(self.session_ns[1], RATED_MHZ)]

    def metadata(self):
        """The content of profiler_metadata.json."""
        o = self.options
        groups = {group.id: {"group_name": group.pg_name, "group_rank": group.local(self.rank),
                             "global_ranks": group.members if len(group.members) <= LISTED_MEMBERS_LIMIT else []}
                  for group in self.groups}
        return {"distributed_args": {"world_size": o.ranks, "rank": self.rank, "tensor_model_parallel_size": o.tp,
                                     "pipeline_model_parallel_size": o.pp, "data_parallel_size": o.dp,
                                     "context_parallel_size": o.cp, "expert_model_parallel_size": o.ep,
                                     "sequence_parallel": o.tp > 1},
                "parallel_group_info": groups,
                "ENV_VARIABLES": {"ASCEND_GLOBAL_LOG_LEVEL": "", "ASCEND_LAUNCH_BLOCKING": ""}}

    def profiler_info(self):
        """The content of profiler_info_<rank>.json."""
        level = {"none": "Level_none", "0": "Level0", "1": "Level1"}[self.options.level]
        return {"config": {"common_config": {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
                                             "record_shapes": False, "profile_memory": False, "with_stack": False,
                                             "with_flops": False, "with_modules": False},
                           "experimental_config": {"_profiler_level": level, "_aic_metrics": "ACL_AICORE_NONE",
                                                   "_l2_cache": False, "_msprof_tx": True, "_data_simplification": True,
                                                   "_export_type": self.options.form(self.rank)}},
                "end_info": {"collectionTimeEnd": self.session_ns[1], "MonotonicTimeEnd": self.session_ns[1]},
                "rank_id": self.rank}


def _shifted(step, offset):
    return step._replace(
        host_start_ns=step.host_start_ns + offset, host_end_ns=step.host_end_ns + offset,
        blocks=[block._replace(start_ns=block.start_ns + offset) for block in step.blocks],
        ops=[op._replace(start_ns=op.start_ns + offset, ready_ns=op.ready_ns + offset, end_ns=op.end_ns + offset)
             for op in step.ops])


def data_type(op):
    """Gradients and losses are reduced in full precision, activations travel in half."""
    return "FP32" if op.group.pg_name in ("dp", "dp_cp", "default_group") else "BFP16"


def element_count(op):
    return op.size_bytes // (4 if data_type(op) == "FP32" else 2)


def plane_tasks(measure):
    """One plane per link: wait for the last member, transfer, notify. A receive only waits."""
    op = measure.op
    if not measure.links:
        return [PlaneTask("Notify_Wait", 1, op.start_ns, op.ready_ns, op.peer, None),
                PlaneTask("Notify_Wait", 1, op.ready_ns, op.end_ns, op.peer, None)]
    tasks = []
    for plane, link in enumerate(measure.links, 1):
        done = op.ready_ns + link.transfer_ns
        transfer = "Memcpy" if link.transport == "HCCS" else "RDMASend"
        tasks += [PlaneTask("Notify_Wait", plane, op.start_ns, op.ready_ns, link.peer, None),
                  PlaneTask(transfer, plane, op.ready_ns, done, link.peer, link),
                  PlaneTask("Notify_Record", plane, done, done + NOTIFY_NS, link.peer, None)]
    return tasks
