"""Intervals and steps of a simulated rank. An interval is (begin, end) in nanoseconds."""


def union(intervals):
    """The same time as disjoint, sorted intervals; touching ones become one."""
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def subtract(intervals, holes):
    """What is left of disjoint intervals outside the (disjoint, sorted) holes."""
    left = []
    for begin, end in intervals:
        for hole_begin, hole_end in holes:
            if hole_end <= begin or hole_begin >= end:
                continue
            if hole_begin > begin:
                left.append((begin, hole_begin))
            begin = hole_end
        if begin < end:
            left.append((begin, end))
    return left


def step_ranges(rank):
    """(step, host begin, device begin, end): from the first task a step launched to the end of its last one or of the host."""
    ranges = []
    for number, op in rank.steps:
        own = [task for inner in rank.ops if op.begin <= inner.begin <= op.end for task in inner.tasks]
        ranges.append((number, op.begin, min(task.begin for task in own), max([op.end, *(task.end for task in own)])))
    return ranges


def step_of(ranges, time):
    """The step that holds a time, or None."""
    for number, _, begin, end in ranges:
        if begin <= time <= end:
            return number
    return None
