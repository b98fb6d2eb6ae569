"""The command line: what cluster to simulate and which faults to plant."""

import argparse
import dataclasses
import os

FIRST_STEP = 10
DIMENSIONS = ("tp", "cp", "dp", "pp", "ep")
SMALL_PACKET_BYTES = 16384
SMALL_PACKET_SLOWDOWN = 3.0


class OptionError(Exception):
    """One sentence for the user."""


@dataclasses.dataclass(frozen=True)
class LinkRule:
    """Slows the links from `src` to `dst` over `transport`; None matches any."""
    src: int | None
    dst: int | None
    transport: str | None
    factor: float
    packet_bytes: int | None = None

    def matches(self, src, dst, transport):
        return (self.src in (None, src) and self.dst in (None, dst) and self.transport in (None, transport))


@dataclasses.dataclass(frozen=True)
class Options:
    out: str
    ranks: int
    tp: int
    pp: int
    dp: int
    cp: int
    ep: int
    steps: int
    format: str
    level: str
    seed: int
    hosts_of: int
    layers: int
    pipeline: str
    timeline: bool | None
    jobs: int
    force: bool
    clock_skew_us: int
    slow_ranks: dict      # rank -> factor of its compute time
    slow_hosts: dict      # host -> factor
    late_groups: tuple    # (dimension, index, factor)
    link_rules: tuple     # LinkRule
    imbalance: float      # tokens of the most loaded EP rank / mean - 1
    freq_drops: frozenset
    host_bound: frozenset
    missing: frozenset
    missing_steps: frozenset  # (rank, step id)
    damaged: frozenset
    duplicates: frozenset
    planted: tuple        # what was asked for, in words

    @property
    def step_ids(self):
        return range(FIRST_STEP, FIRST_STEP + self.steps)

    def form(self, rank):
        if self.format != "mixed":
            return self.format
        return "db" if rank % 2 else "text"

    def has_timeline(self, rank):
        return self.form(rank) == "db" if self.timeline is None else self.timeline


def _integer(text, what):
    if not text.isdigit():
        raise OptionError(f"{what}: '{text}' is not a number.")
    return int(text)


def _number(text, what):
    try:
        value = float(text)
    except ValueError:
        raise OptionError(f"{what}: '{text}' is not a number.") from None
    if not 0 < value < 1e6:
        raise OptionError(f"{what}: {text} is not between 0 and 1000000.")
    return value


def _with_factor(text, default, what):
    target, colon, text = text.partition(":")
    factor = _number(text, what) if colon else default
    if factor < 1:
        raise OptionError(f"{what}: the factor {text} is below 1, which would make things faster.")
    return target, factor


def _rank(text, limit, what):
    rank = _integer(text, what)
    if rank >= limit:
        raise OptionError(f"{what}: there is no rank {rank}, the last one is {limit - 1}.")
    return rank


def _rank_set(text, limit, what):
    ranks = set()
    for part in filter(None, text.split(",")):
        first, dash, last = part.partition("-")
        begin = _rank(first, limit, what)
        end = _rank(last, limit, what) if dash else begin
        if end < begin:
            raise OptionError(f"{what}: the range {part} runs backwards.")
        ranks.update(range(begin, end + 1))
    return frozenset(ranks)


def _factors(texts, limit, default, what, noun="rank"):
    result = {}
    for text in texts:
        target, factor = _with_factor(text, default, what)
        index = _integer(target, what)
        if index >= limit:
            raise OptionError(f"{what}: there is no {noun} {index}, the last one is {limit - 1}.")
        result[index] = factor
    return result


def _late_groups(texts, sizes):
    result = []
    for text in texts:
        target, factor = _with_factor(text, 1.3, "--late-group")
        dimension, _, index = target.partition("=")
        if dimension not in DIMENSIONS:
            raise OptionError(f"--late-group: '{target}' is not of the form dp=1 (dimensions: {', '.join(DIMENSIONS)}).")
        if _integer(index, "--late-group") >= sizes[dimension]:
            raise OptionError(f"--late-group: {dimension} has no index {index}, the last one is {sizes[dimension] - 1}.")
        result.append((dimension, int(index), factor))
    return tuple(result)


def _link(text, limit, what):
    src, dash, dst = text.partition("-")
    if not dash:
        raise OptionError(f"{what}: '{text}' is not of the form SRC-DST.")
    pair = _rank(src, limit, what), _rank(dst, limit, what)
    if pair[0] == pair[1]:
        raise OptionError(f"{what}: rank {src} has no link to itself.")
    return pair


def _link_rules(args):
    rules = []
    for text in args.slow_link:
        link, factor = _with_factor(text, 4.0, "--slow-link")
        rules.append(LinkRule(*_link(link, args.ranks, "--slow-link"), None, factor))
    for rank, factor in _factors(args.slow_nic, args.ranks, 3.0, "--slow-nic").items():
        rules.append(LinkRule(rank, None, None, factor))
    for rank, factor in _factors(args.slow_receiver, args.ranks, 3.0, "--slow-receiver").items():
        rules.append(LinkRule(None, rank, None, factor))
    for text in args.small_packets:
        src = dst = transport = None
        if text.upper() in ("HCCS", "RDMA"):
            transport = text.upper()
        elif text != "all":
            src, dst = _link(text, args.ranks, "--small-packets")
        rules.append(LinkRule(src, dst, transport, SMALL_PACKET_SLOWDOWN, SMALL_PACKET_BYTES))
    for text in args.packets:
        transport, colon, size = text.partition(":")
        if not colon or transport.upper() not in ("HCCS", "RDMA"):
            raise OptionError(f"--packets: '{text}' is not of the form RDMA:524288.")
        rules.append(LinkRule(None, None, transport.upper(), 1.0, max(1, _integer(size, "--packets"))))
    return tuple(rules)


def _missing_steps(texts, args):
    result = set()
    for text in texts:
        rank, _, step = text.partition(":")
        pair = _rank(rank, args.ranks, "--missing-steps"), _integer(step, "--missing-steps")
        if not FIRST_STEP <= pair[1] < FIRST_STEP + args.steps:
            raise OptionError(f"--missing-steps: there is no step {pair[1]}, "
                              f"steps run from {FIRST_STEP} to {FIRST_STEP + args.steps - 1}.")
        result.add(pair)
    return frozenset(result)


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise OptionError(f"{message}.")


def _parser():
    parser = _Parser(prog="synth_cluster.py", description="Simulates a training cluster and writes what "
                                     "the profiler of each rank would have left; faults can be planted.")
    add = parser.add_argument
    add("out", metavar="OUT", help="folder to write, created if absent")
    add("--ranks", type=int, required=True)
    add("--tp", type=int, default=1)
    add("--pp", type=int, default=1)
    add("--dp", type=int, help="default: what the other dimensions leave")
    add("--cp", type=int, default=1)
    add("--ep", type=int, default=1, help="expert parallel size, a divisor of dp; above 1 the model is a mixture of experts")
    add("--steps", type=int, default=2, help=f"number of steps, counted from {FIRST_STEP}")
    add("--format", choices=("text", "db", "mixed"), default="text", help="mixed: even ranks text, odd ranks db")
    add("--level", choices=("none", "0", "1"), default="1")
    add("--seed", type=int, default=1)
    add("--hosts-of", type=int, default=8, metavar="N", help="ranks per host")
    add("--layers", type=int, default=3, help="layers per pipeline stage")
    add("--pipeline", choices=("steady", "single"), default="steady", help="steady: every stage works on a micro batch of "
        "its own; single: one micro batch passes through all stages, which leaves large bubbles")
    add("--timeline", action=argparse.BooleanOptionalAction, help="kernels and host operators (default: db only)")
    add("--jobs", type=int, default=os.cpu_count() or 1)
    add("--force", action="store_true", help="write into a folder that is not empty")
    add("--clock-skew", type=int, default=0, metavar="US", help="the clock of each host is off by up to this much")
    faults = parser.add_argument_group("faults (repeatable; :FACTOR is optional)")
    for name, metavar in (("--slow-rank", "R[:F]"), ("--slow-host", "H[:F]"), ("--slow-link", "SRC-DST[:F]"),
                          ("--slow-nic", "R[:F]"), ("--slow-receiver", "R[:F]"), ("--late-group", "DIM=INDEX[:F]")):
        faults.add_argument(name, action="append", default=[], metavar=metavar)
    faults.add_argument("--small-packets", action="append", nargs="?", const="all", default=[], metavar="HCCS|RDMA|SRC-DST")
    faults.add_argument("--packets", action="append", default=[], metavar="HCCS|RDMA:BYTES", help="size of packets, at the same speed")
    faults.add_argument("--imbalance", default="", metavar="X", help="the busiest expert rank gets (1+X) times the mean tokens")
    for name in ("--freq-drop", "--host-bound", "--missing", "--damaged", "--duplicate"):
        faults.add_argument(name, action="append", default=[], metavar="R[,R-R]")
    faults.add_argument("--missing-steps", action="append", default=[], metavar="R:STEP")
    return parser


def _check_shape(args):
    for name in ("ranks", "tp", "pp", "cp", "ep", "steps", "hosts_of", "layers", "jobs"):
        if getattr(args, name) < 1:
            raise OptionError(f"--{name.replace('_', '-')} must be at least 1.")
    rest = args.tp * args.pp * args.cp
    if args.dp is None:
        if args.ranks % rest:
            raise OptionError(f"tp*pp*cp = {rest} does not divide {args.ranks} ranks.")
        args.dp = args.ranks // rest
    if args.dp < 1 or rest * args.dp != args.ranks:
        raise OptionError(f"tp*pp*dp*cp = {rest * args.dp} is not the number of ranks, {args.ranks}.")
    if args.dp % args.ep:
        raise OptionError(f"ep = {args.ep} does not divide dp = {args.dp}.")
    if args.clock_skew < 0:
        raise OptionError("--clock-skew must not be negative.")
    if args.imbalance and args.ep == 1:
        raise OptionError("--imbalance needs experts: give --ep 2 or more.")


def _planted(args):
    """The fault options as the user wrote them, in a fixed order."""
    names = ("slow_rank", "slow_host", "slow_link", "slow_nic", "slow_receiver", "late_group", "small_packets", "packets",
             "freq_drop", "host_bound", "missing", "missing_steps", "damaged", "duplicate")
    words = [f"{name.replace('_', '-')} {value}" for name in names for value in getattr(args, name)]
    if args.imbalance:
        words.append(f"imbalance {args.imbalance}")
    if args.clock_skew:
        words.append(f"clock-skew {args.clock_skew} us")
    return tuple(words)


def parse(words):
    """Options from the command line. Raises OptionError."""
    args = _parser().parse_args(words)
    _check_shape(args)
    sizes = {"tp": args.tp, "cp": args.cp, "dp": args.dp, "pp": args.pp, "ep": args.ep}
    rank_sets = {name: _rank_set(",".join(getattr(args, name)), args.ranks, f"--{name.replace('_', '-')}")
                 for name in ("freq_drop", "host_bound", "missing", "damaged", "duplicate")}
    imbalance = _number(args.imbalance, "--imbalance") if args.imbalance else 0.0
    if imbalance >= 1:
        raise OptionError("--imbalance must be below 1, or the idlest expert rank would get no tokens.")
    if len(rank_sets["missing"]) == args.ranks:
        raise OptionError("--missing: no rank would be left.")
    for name in ("damaged", "duplicate"):
        if rank_sets[name] & rank_sets["missing"]:
            raise OptionError(f"--{name}: rank {min(rank_sets[name] & rank_sets['missing'])} is not captured at all.")
    return Options(
        out=args.out, ranks=args.ranks, tp=args.tp, pp=args.pp, dp=args.dp, cp=args.cp, ep=args.ep, steps=args.steps,
        format=args.format, level=args.level, seed=args.seed, hosts_of=args.hosts_of, layers=args.layers, pipeline=args.pipeline,
        timeline=args.timeline, jobs=args.jobs, force=args.force, clock_skew_us=args.clock_skew,
        slow_ranks=_factors(args.slow_rank, args.ranks, 1.5, "--slow-rank"),
        slow_hosts=_factors(args.slow_host, -(-args.ranks // args.hosts_of), 1.3, "--slow-host", "host"),
        late_groups=_late_groups(args.late_group, sizes), link_rules=_link_rules(args), imbalance=imbalance,
        freq_drops=rank_sets["freq_drop"], host_bound=rank_sets["host_bound"], missing=rank_sets["missing"],
        missing_steps=_missing_steps(args.missing_steps, args), damaged=rank_sets["damaged"],
        duplicates=rank_sets["duplicate"], planted=_planted(args))
