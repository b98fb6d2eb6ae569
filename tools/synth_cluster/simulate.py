"""The training job: every rank's device work, step by step, in integer nanoseconds.

All ranks are advanced together, one operation after the other. A collective starts on each rank when that rank gets
there, moves data once the last member is there, and ends for all members at the same moment.
"""

from typing import NamedTuple

from .kernels import BLOCKS, block_kernel_count
from .topology import BANDWIDTH, LINK_NOISE, Group, mix, uniform

US = 1000
MS = 1000 * US
BASE_NS = 1_700_000_000 * 1000 * MS
LATENCY_NS = 12 * US      # of one operation, beside its transfers
PREPARE_NS = 2 * MS       # from the start of a step on the host to its first kernel
LAUNCH_GAP_NS = 2 * US    # between kernels when the host runs ahead
HOST_BOUND_GAP_NS = 400 * US
HOST_TAIL_NS = 20 * US    # the host is done with a step this long before the device
DROPPED_CLOCK_SLOWDOWN = 1800 / 800
COMPUTE_NOISE = 0.0245    # half width of a triangle whose standard deviation is 1 %

TENSOR_BYTES = {"tp": 134_217_728, "cp": 33_554_432, "pp": 8_388_608, "exp": 50_331_648,
                "dp": 402_653_184, "dp_cp": 402_653_184, "default_group": 8_388_608}


class Block(NamedTuple):
    """A run of kernels on the compute stream; `busy_ns` is the sum of their durations."""
    kind: str
    start_ns: int
    busy_ns: int
    gap_ns: int
    tokens: int

    @property
    def end_ns(self):
        return self.start_ns + self.busy_ns + self.gap_ns * block_kernel_count(self.kind)


class Op(NamedTuple):
    """One communication operation as one rank sees it; `ready_ns` is when the last member arrived."""
    type: str
    group: Group
    number: int
    start_ns: int
    ready_ns: int
    end_ns: int
    size_bytes: int
    peer: int  # the other end of a send or receive, else -1

    @property
    def name(self):
        return f"hcom_{self.type}__{self.group.name[-3:]}_{self.number}_1"

    @property
    def is_p2p(self):
        return self.peer >= 0


class RankStep(NamedTuple):
    """One step of one rank. Ops and blocks are in the order in which they were issued."""
    host_start_ns: int
    host_end_ns: int
    blocks: list
    ops: list


class Simulation:
    def __init__(self, options, topology):
        self.options = options
        self.topology = topology
        self.factor = [self._compute_factor(rank) for rank in range(options.ranks)]
        self.gap_ns = [HOST_BOUND_GAP_NS if rank in options.host_bound else LAUNCH_GAP_NS for rank in range(options.ranks)]
        self.tokens = [self._tokens(rank) for rank in range(options.ranks)]
        self.ranks_of_stage = [range(stage * topology.stage_ranks, (stage + 1) * topology.stage_ranks)
                               for stage in range(options.pp)]
        self.call_numbers = [{} for _ in range(options.ranks)]

    def run(self):
        """result[rank][step index] is a RankStep."""
        result = [[] for _ in range(self.options.ranks)]
        host_start = [BASE_NS + mix(self.options.seed, rank, 1) % (50 * US) for rank in range(self.options.ranks)]
        for self.step in range(self.options.steps):
            self.clock = [start + PREPARE_NS + mix(self.options.seed, rank, 2, self.step) % (100 * US)
                          for rank, start in enumerate(host_start)]
            self.blocks = [[] for _ in self.clock]
            self.ops = [[] for _ in self.clock]
            self.pending_ns = [0] * len(self.clock)
            self._run_step()
            for rank, end in enumerate(self.clock):
                result[rank].append(RankStep(host_start[rank], end - HOST_TAIL_NS, self.blocks[rank], self.ops[rank]))
            host_start = [end - HOST_TAIL_NS + 10 * US for end in self.clock]
        return result

    def _compute_factor(self, rank):
        o = self.options
        factor = o.slow_ranks.get(rank, 1.0) * o.slow_hosts.get(self.topology.host(rank), 1.0)
        coordinates = self.topology.coordinates(rank)
        for dimension, index, late in o.late_groups:
            if coordinates[dimension] == index:
                factor *= late
        return factor

    def _tokens(self, rank):
        if self.options.ep == 1:
            return 4096
        share = 2 * self.topology.coordinates(rank)["ep"] / (self.options.ep - 1) - 1  # -1 ... 1
        return int(4096 * (1 + self.options.imbalance * share))

    def _run_step(self):
        everyone = range(self.options.ranks)
        if self.options.pipeline == "steady":
            self._forward(everyone)
            for stage in range(1, self.options.pp):
                self._take_activations(stage)
            self._backward(everyone)
            for stage in reversed(range(self.options.pp - 1)):
                self._take_gradients(stage)
        else:
            self._run_single_batch()
        self.clock = [max(pair) for pair in zip(self.clock, self.pending_ns)]
        self._compute(everyone, "optimizer")
        self._collective(everyone, "allGather", self.topology.gradients)
        self._collective(everyone, "allReduce", "default_group")

    def _run_single_batch(self):
        """One micro batch goes down the stages and its gradients come back up."""
        for stage in range(self.options.pp):
            if stage > 0:
                self._take_activations(stage)
            self._forward(self.ranks_of_stage[stage])
        for stage in reversed(range(self.options.pp)):
            if stage < self.options.pp - 1:
                self._take_gradients(stage)
            self._backward(self.ranks_of_stage[stage])

    def _take_activations(self, stage):
        self._move(self.ranks_of_stage[stage], -self.topology.stage_ranks)

    def _take_gradients(self, stage):
        self._move(self.ranks_of_stage[stage], self.topology.stage_ranks)

    def _forward(self, ranks):
        for _ in range(self.options.layers):
            self._forward_layer(ranks)

    def _backward(self, ranks):
        for layer in reversed(range(self.options.layers)):
            self._backward_layer(ranks, layer)

    def _forward_layer(self, ranks):
        self._collective(ranks, "allGather", "cp")
        self._compute(ranks, "attention_forward")
        self._feed_forward(ranks, "forward")
        self._collective(ranks, "allReduce", "tp")

    def _backward_layer(self, ranks, layer):
        self._feed_forward(ranks, "backward")
        self._collective(ranks, "allReduce", "tp")
        if layer == 0:  # gradients are complete but for one block, which hides their reduction
            self._collective(ranks, "reduceScatter", self.topology.gradients, hidden=True)
        self._compute(ranks, "attention_backward")

    def _feed_forward(self, ranks, direction):
        if self.options.ep == 1:
            self._compute(ranks, f"mlp_{direction}")
            return
        self._collective(ranks, "alltoallv", "exp")
        self._compute(ranks, f"experts_{direction}")
        self._collective(ranks, "alltoallv", "exp")

    def _compute(self, ranks, kind):
        base_ns = BLOCKS[kind].duration_ns
        drops_clock = kind.endswith("backward")
        for rank in ranks:
            blocks = self.blocks[rank]
            dice = mix(self.options.seed, rank, self.step, len(blocks), 3)
            noise = COMPUTE_NOISE * ((dice & 0xFFFFFFFF) + (dice >> 32) - (1 << 32)) / (1 << 32)
            factor = self.factor[rank] * (1 + noise)
            if drops_clock and rank in self.options.freq_drops:
                factor *= DROPPED_CLOCK_SLOWDOWN
            if kind.startswith("experts"):
                factor *= self.tokens[rank] / 4096
            blocks.append(Block(kind, self.clock[rank], int(base_ns * factor), self.gap_ns[rank], self.tokens[rank]))
            self.clock[rank] = blocks[-1].end_ns

    def _collective(self, ranks, op_type, pg_name, hidden=False):
        """All groups of that name among `ranks`; a hidden one does not hold up the compute stream."""
        if pg_name not in self.topology.of:
            return
        for group in dict.fromkeys(self.topology.of[pg_name][rank] for rank in ranks):
            ready = max(self.clock[rank] for rank in group.members)
            end = ready + self._transfer_ns(group, op_type, TENSOR_BYTES[pg_name])
            for rank in group.members:
                self._record(rank, op_type, group, ready, end, TENSOR_BYTES[pg_name], -1)
                if hidden:
                    self.pending_ns[rank] = end
                else:
                    self.clock[rank] = end

    def _move(self, receivers, distance):
        """Each receiver takes a tensor from the rank `distance` away, which waits for it."""
        size = TENSOR_BYTES["pp"]
        for receiver in receivers:
            sender = receiver + distance
            group = self.topology.of["pp"][receiver]
            ready = max(self.clock[sender], self.clock[receiver])
            slowdown, _ = self.topology.link_fault(sender, receiver)
            speed = BANDWIDTH[self.topology.transport(sender, receiver)] * (1 - LINK_NOISE)
            end = ready + LATENCY_NS + int(size * slowdown / speed) + 1
            self._record(sender, "send", group, ready, end, size, receiver)
            self._record(receiver, "receive", group, ready, end, size, sender)
            self.clock[sender] = self.clock[receiver] = end

    def _record(self, rank, op_type, group, ready, end, size, peer):
        numbers = self.call_numbers[rank]
        number = numbers.get((op_type, group.number), 0)
        numbers[op_type, group.number] = number + 1
        self.ops[rank].append(Op(op_type, group, number, self.clock[rank], ready, end, size, peer))

    def _transfer_ns(self, group, op_type, size_bytes):
        """Long enough for the slowest link of the group at its noisiest."""
        traffic = traffic_bytes(op_type, len(group.members), size_bytes)
        slowest = max(share * self.topology.worst_slowdown(group, kind) / BANDWIDTH[kind]
                      for kind, share in group.widest_link_share.items())
        return LATENCY_NS + int(traffic * slowest / (1 - LINK_NOISE)) + 1


def traffic_bytes(op_type, member_count, size_bytes):
    """What one member sends in a collective over a tensor of `size_bytes`."""
    rounds = 2 if op_type == "allReduce" else 1
    return rounds * size_bytes * (member_count - 1) // member_count


def clock_offset_ns(options, host):
    """How far the clock of a host is off."""
    span = options.clock_skew_us * US
    return int(span * (2 * uniform(options.seed, host, 4) - 1))
