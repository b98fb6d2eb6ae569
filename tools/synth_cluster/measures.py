"""The numbers a profiler derives from one rank's step: step trace, communication time, bandwidth, links."""

import dataclasses

from .kernels import kernels_of
from .simulate import traffic_bytes
from .topology import LARGE_PACKET_BYTES

ON_CHIP_BANDWIDTH = 450  # bytes per ns
PICKS = ("top1", "middle", "bottom1", "bottom2", "bottom3")
# How the exporter names the type of an operation in the matrix.
MATRIX_TYPE = {"allReduce": "allreduce", "allGather": "allgather", "reduceScatter": "reduce", "alltoallv": "alltoall",
               "send": "send", "receive": "receive"}


def union(intervals):
    """Sorted, disjoint; touching intervals become one."""
    result = []
    for begin, end in sorted(intervals):
        if result and begin <= result[-1][1]:
            result[-1][1] = max(result[-1][1], end)
        else:
            result.append([begin, end])
    return result


def subtract(left, right):
    """The parts of `left` outside `right`; both as `union` returns them."""
    result = []
    for begin, end in left:
        for other_begin, other_end in right:
            if other_end <= begin or other_begin >= end:
                continue
            if other_begin > begin:
                result.append([begin, other_begin])
            begin = other_end
        if begin < end:
            result.append([begin, end])
    return result


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def overlap_parts(step):
    """(computing, communication, not overlapped, free) of a step as interval lists."""
    computing = union((start, end) for block in step.blocks for _, start, end in kernels_of(block))
    communication = union((op.start_ns, op.end_ns) for op in step.ops)
    busy = union(tuple(part) for part in computing + communication)
    free = [[before[1], after[0]] for before, after in zip(busy, busy[1:])]
    return computing, communication, subtract(communication, computing), free


def step_trace_ns(step):
    """The columns of step_trace_time after Step, in file order, in ns."""
    computing, communication, exposed, free = overlap_parts(step)
    bubble = sum(op.end_ns - op.start_ns for op in step.ops if op.type == "receive")
    first = min(part[0][0] for part in (computing, communication) if part)
    stage = length(computing) + length(exposed) + length(free) - bubble
    return (length(computing), length(exposed), length(communication) - length(exposed), length(communication),
            length(free), stage, bubble, max(0, length(exposed) - bubble), first - step.host_start_ns)


@dataclasses.dataclass
class Link:
    """What one operation of one rank sent to one peer."""
    peer: int
    transport: str
    size_bytes: int
    transfer_ns: int
    packet_bytes: int

    def packets(self):
        """[(bytes, count)], full packets first."""
        full, rest = divmod(self.size_bytes, self.packet_bytes)
        return [(size, count) for size, count in ((self.packet_bytes, full), (rest, 1)) if size and count]


def links_of(topology, rank, step_index, op):
    """A receive has none: data is counted where it is sent."""
    if op.type == "receive":
        return []
    peers = [op.peer] if op.is_p2p else op.group.peers(rank)
    traffic = op.size_bytes if op.is_p2p else traffic_bytes(op.type, len(op.group.members), op.size_bytes)
    size = traffic // len(peers)
    links = []
    for peer in peers:
        slowdown, packet = topology.link_fault(rank, peer)
        duration = topology.link_ns(rank, peer, size, slowdown, step_index, op.group.number, op.number)
        links.append(Link(peer, topology.transport(rank, peer), size, duration, packet))
    return links


@dataclasses.dataclass
class OpMeasure:
    """An operation with its links. wait + transit + idle = elapse."""
    op: object
    links: list

    @property
    def elapse_ns(self):
        return self.op.end_ns - self.op.start_ns

    @property
    def wait_ns(self):
        return self.op.ready_ns - self.op.start_ns

    @property
    def transit_ns(self):
        if not self.links:  # a receive is busy as long as its sender
            return self.op.end_ns - self.op.ready_ns
        return max(link.transfer_ns for link in self.links)

    @property
    def idle_ns(self):
        return self.elapse_ns - self.wait_ns - self.transit_ns

    def local_link(self, rank):
        """The copy inside the chip that tells which member of the group a rank is; absent from a send or receive."""
        size = self.op.size_bytes // len(self.op.group.members)
        return Link(rank, "LOCAL", size, size // ON_CHIP_BANDWIDTH, size)

    def bandwidth(self):
        """{transport: Traffic} of the transports in use."""
        result = {}
        for link in self.links:
            result.setdefault(link.transport, Traffic()).add(link)
        return result


class Traffic:
    """The links of one transport taken together."""

    def __init__(self):
        self.size_bytes = 0
        self.transfer_ns = 0
        self.packets = {}  # bytes -> [count, ns]

    def add(self, link):
        self.size_bytes += link.size_bytes
        self.transfer_ns += link.transfer_ns
        for size, count in link.packets():
            entry = self.packets.setdefault(size, [0, 0.0])
            entry[0] += count
            entry[1] += link.transfer_ns * (size * count / link.size_bytes)

    def large_packet_ratio(self, transport):
        counts = [(count, size > LARGE_PACKET_BYTES[transport]) for size, (count, _) in self.packets.items()]
        return round(sum(count for count, large in counts if large) / sum(count for count, _ in counts), 4)


def gbps(size_bytes, duration_ns):
    return round(size_bytes / duration_ns, 4) if duration_ns else 0


def measure_step(topology, rank, step_index, step):
    return [OpMeasure(op, links_of(topology, rank, step_index, op)) for op in step.ops]


def matrix(rank, measures):
    """Yields (op class, matrix key type, pick, group, peer, Link, op name): the picks and totals of each link."""
    calls = {}
    for measure in measures:
        op = measure.op
        own = [] if op.is_p2p else [measure.local_link(rank)]
        for link in own + measure.links:
            calls.setdefault((op.is_p2p, MATRIX_TYPE[op.type], op.group), {}).setdefault(link.peer, []).append((link, op.name))
    for (is_p2p, kind, group), peers in calls.items():
        for pick_index, pick in enumerate((*PICKS, "total")):
            for peer, entries in peers.items():
                chosen = _pick(entries, pick_index)
                if chosen:
                    yield is_p2p, kind, pick, group, peer, *chosen


def _pick(entries, pick_index):
    if pick_index == len(PICKS):
        first = entries[0][0]
        return Link(first.peer, first.transport, sum(link.size_bytes for link, _ in entries),
                    sum(link.transfer_ns for link, _ in entries), first.packet_bytes), ""
    ranked = sorted(entries, key=lambda entry: -entry[0].size_bytes / max(1, entry[0].transfer_ns))
    position = (0, len(ranked) // 2, -1, -2, -3)[pick_index]
    return ranked[position] if -position <= len(ranked) else None
