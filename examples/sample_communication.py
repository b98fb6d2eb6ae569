"""communication.json and communication_matrix.json of a simulated rank, derived from the plane tasks of its collectives."""

from sample_steps import step_of, step_ranges

MASTER_PLANE = 1
LINK_KINDS = ("RDMA", "HCCS", "PCIE", "SDMA", "SIO")


def ms(ns):
    return ns / 1_000_000


def ratio(part, rest):
    return round(part / (part + rest), 4) if part + rest else 0


def is_transfer(step):
    return step.kind in ("Memcpy", "Reduce_Inline") and step.link != "ON_CHIP"


def duration(steps):
    return sum(step.end - step.begin for step in steps)


def times_of(collective):
    """Elapse, transit, wait and synchronization in nanoseconds."""
    master = [step for step in collective.plane_tasks if step.plane == MASTER_PLANE]
    transfers = [step for step in master if is_transfer(step)]
    waits = [step for step in master if step.kind == "Notify_Wait"]
    return (collective.end - collective.begin, duration(transfers), duration(waits),
            duration(step for step in waits if step.begin < transfers[0].begin))


def time_info(elapse, transit, wait, synchronization):
    return {"Elapse Time(ms)": ms(elapse), "Transit Time(ms)": ms(transit), "Wait Time(ms)": ms(wait),
            "Synchronization Time(ms)": ms(synchronization), "Idle Time(ms)": ms(elapse - transit - wait),
            "Wait Time Ratio": ratio(wait, transit), "Synchronization Time Ratio": ratio(synchronization, transit)}


def packets_of(collectives):
    """Packet size in MB, as text -> [count, ms], over the link between the devices."""
    packets = {}
    for collective in collectives:
        for step in filter(is_transfer, collective.plane_tasks):
            packet = packets.setdefault(str(step.size / 1_000_000), [0, 0])
            packet[0] += 1
            packet[1] += step.end - step.begin
    return {size: [count, ms(ns)] for size, (count, ns) in packets.items()}


def traffic_of(collectives):
    """Bytes and nanoseconds over the link between the devices."""
    transfers = [step for collective in collectives for step in collective.plane_tasks if is_transfer(step)]
    return sum(step.size for step in transfers), duration(transfers)


def bandwidth_info(collective):
    size, time = traffic_of([collective])
    idle = {"Transit Size(MB)": 0, "Transit Time(ms)": 0, "Bandwidth(GB/s)": 0, "Large Packet Ratio": 0, "Size Distribution": {}}
    used = {"Transit Size(MB)": size / 1_000_000, "Transit Time(ms)": ms(time), "Bandwidth(GB/s)": round(size / time, 4)}
    info = {kind: dict(idle) for kind in LINK_KINDS}
    info["HCCS"] = {**used, "Large Packet Ratio": 0.0, "Size Distribution": packets_of([collective])}
    info["SDMA"] = {**used, "Large Packet Ratio": 0, "Size Distribution": {}}
    return info


def total_info(collectives):
    size, time = traffic_of(collectives)
    info = {kind: {"Transit Time(ms)": 0, "Transit Size(MB)": 0, "Size Distribution": {}} for kind in LINK_KINDS}
    for kind in ("HCCS", "SDMA"):
        info[kind] |= {"Transit Time(ms)": ms(time), "Transit Size(MB)": size / 1_000_000}
    info["HCCS"]["Size Distribution"] = packets_of(collectives)
    times = [sum(values) for values in zip(*map(times_of, collectives))]
    return {"Communication Time Info": time_info(*times), "Communication Bandwidth Info": info}


def by_step(rank):
    """Step number -> its collectives."""
    ranges = step_ranges(rank)
    steps = {}
    for collective in rank.collectives:
        steps.setdefault(step_of(ranges, collective.begin), []).append(collective)
    return steps


def communication(rank, group):
    result = {}
    for step, collectives in by_step(rank).items():
        ops = {f"{c.name}@{group}": {
            "Communication Time Info": {"Start Timestamp(us)": c.begin / 1000, **time_info(*times_of(c))},
            "Communication Bandwidth Info": bandwidth_info(c)} for c in collectives}
        result[f"step{step}"] = {"p2p": {}, "collective": {**ops, "Total Op Info": total_info(collectives)}}
    return result


def link(transport, size, time, **op_name):
    return {"Transport Type": transport, "Transit Size(MB)": size / 1_000_000, "Transit Time(ms)": ms(time),
            "Bandwidth(GB/s)": round(size / time, 4), **op_name}


def link_picks(rank, collectives, dst):
    """Pick name -> the link from this rank to `dst`."""
    transport = "LOCAL" if dst == rank.rank else "HCCS"
    found = []
    for collective in collectives:
        steps = [step for step in collective.plane_tasks if step.size and step.dst == dst]
        found.append((sum(step.size for step in steps), duration(steps), collective.name))
    found.sort(key=lambda item: -round(item[0] / item[1], 4))
    order = {"top1": found[0], "middle": found[len(found) // 2], "bottom1": found[-1], "bottom2": found[-2]}
    picks = {pick: link(transport, size, time, **{"Op Name": name}) for pick, (size, time, name) in order.items()}
    picks["total"] = link(transport, sum(item[0] for item in found), sum(item[1] for item in found))
    return picks


def communication_matrix(rank, group):
    result = {}
    for step, collectives in by_step(rank).items():
        matrix = {}
        for dst in (rank.rank, 1 - rank.rank):
            for pick, value in link_picks(rank, collectives, dst).items():
                matrix.setdefault(f"allreduce-{pick}@{group}", {})[f"{rank.rank}-{dst}"] = value
        result[f"step{step}"] = {"p2p": {}, "collective": matrix}
    return result
