"""Who talks to whom: parallel coordinates, communication groups, links and their bandwidth."""

import bisect
import functools

FULL_MESH_LIMIT = 64       # larger groups talk to ring neighbours and to their own host only
LISTED_MEMBERS_LIMIT = 1024  # larger groups do not list their members in every rank's metadata
BANDWIDTH = {"HCCS": 18.0, "RDMA": 12.0}  # bytes per ns of one healthy link
PACKET_BYTES = {"HCCS": 33_554_432 + 4096, "RDMA": 2_097_152}
LARGE_PACKET_BYTES = {"HCCS": 32_000_000, "RDMA": 500_000}
LINK_NOISE = 0.04          # a link is slower than its best by at most this share
MASK = (1 << 64) - 1


def mix(*numbers):
    """A 64-bit hash: the same numbers give the same value in every process."""
    state = 0x9E3779B97F4A7C15
    for number in numbers:
        state = ((state ^ number) * 0xBF58476D1CE4E5B9) & MASK
        state ^= state >> 29
    state = (state * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 32)


def uniform(*numbers):
    """In [0, 1)."""
    return mix(*numbers) / 2**64


def double_hash(text):
    """The decimal name that tools derive from a group id or a host address."""
    high = low = 0
    for letter in text.encode():
        high = (high * 29 + letter) & 0xFFFFFFFF
        low = (low * 131 + letter) & 0xFFFFFFFF
    return str(high << 32 | low)


class Group:
    """One communicator. `members` are global ranks, ascending; a local rank is an index into it."""

    def __init__(self, number, pg_name, members, hosts_of):
        first = members[0] // hosts_of
        self.number = number
        self.pg_name = pg_name
        self.members = members
        address = f"10.{first >> 16 & 255}.{first >> 8 & 255}.{first & 255}"
        self.id = f"{address}%enp189s0f0_{60000 + members[0] % hosts_of}_0_{1700000000000000 + number}"
        self.name = double_hash(self.id)
        self.hosts_of = hosts_of

    def local(self, rank):
        return bisect.bisect_left(self.members, rank)

    def peers(self, rank):
        """The global ranks that `rank` sends to, ascending."""
        members = self.members
        if len(members) <= FULL_MESH_LIMIT:
            return [peer for peer in members if peer != rank]
        here = self.local(rank)
        host = rank // self.hosts_of
        begin = bisect.bisect_left(members, host * self.hosts_of)
        end = bisect.bisect_left(members, (host + 1) * self.hosts_of)
        near = {members[here - 1], members[(here + 1) % len(members)], *members[begin:end]}
        return sorted(near - {rank})

    @functools.cached_property
    def widest_link_share(self):
        """{transport: largest share of a member's traffic that one of its links of that kind carries}."""
        if len(self.members) <= FULL_MESH_LIMIT:
            return self._mesh_share()
        share = {}
        for rank in self.members:
            peers = self.peers(rank)
            for peer in peers:
                kind = transport(rank, peer, self.hosts_of)
                share[kind] = max(share.get(kind, 0), 1 / len(peers))
        return share

    def _mesh_share(self):
        hosts = [rank // self.hosts_of for rank in self.members]
        share = {}
        if len(set(hosts)) > 1:
            share["RDMA"] = 1 / (len(hosts) - 1)
        if len(set(hosts)) < len(hosts):
            share["HCCS"] = 1 / (len(hosts) - 1)
        return share


def transport(src, dst, hosts_of):
    return "HCCS" if src // hosts_of == dst // hosts_of else "RDMA"


class Unlinked(Exception):
    """A fault was planted on a link that carries no data."""


class Topology:
    """Rank = ((pp * DP + dp) * CP + cp) * TP + tp."""

    def __init__(self, options):
        self.options = options
        self.stage_ranks = options.tp * options.cp * options.dp
        self.groups = []
        self.of = {}  # pg name -> the group of each rank
        self._add_groups()
        self._check_link_rules()

    def coordinates(self, rank):
        o = self.options
        rest, tp = divmod(rank, o.tp)
        rest, cp = divmod(rest, o.cp)
        pp, dp = divmod(rest, o.dp)
        return {"tp": tp, "cp": cp, "dp": dp, "pp": pp, "ep": dp % o.ep}

    def _add_groups(self):
        o = self.options
        gradients = "dp_cp" if o.cp > 1 else "dp"
        keys = {"default_group": lambda c: (), "tp": lambda c: (c["pp"], c["dp"], c["cp"]),
                "cp": lambda c: (c["pp"], c["dp"], c["tp"]), "pp": lambda c: (c["dp"], c["cp"], c["tp"]),
                "exp": lambda c: (c["pp"], c["dp"] // o.ep, c["cp"], c["tp"]),
                gradients: lambda c: (c["pp"], c["tp"])}
        sizes = {"default_group": o.ranks, "tp": o.tp, "cp": o.cp, "pp": o.pp, "exp": o.ep, gradients: o.dp * o.cp}
        coordinates = [self.coordinates(rank) for rank in range(o.ranks)]
        for pg_name, key in keys.items():
            if sizes[pg_name] > 1:
                self._add(pg_name, [key(c) for c in coordinates])
        self.gradients = gradients

    def _add(self, pg_name, keys):
        members = {}
        for rank, key in enumerate(keys):
            members.setdefault(key, []).append(rank)
        made = {}
        for key, ranks in members.items():
            made[key] = Group(len(self.groups), pg_name, ranks, self.options.hosts_of)
            self.groups.append(made[key])
        self.of[pg_name] = [made[key] for key in keys]

    def _check_link_rules(self):
        for rule in self.options.link_rules:
            ranks = [rank for rank in (rule.src, rule.dst) if rank is not None]
            if not self.of:
                raise Unlinked("A single rank has no links that could be slow.")
            if len(ranks) == 2 and not self._are_linked(*ranks):
                raise Unlinked(f"Rank {ranks[0]} never sends to rank {ranks[1]}, so that link cannot be slow.")

    def _are_linked(self, src, dst):
        for pg_name, groups in self.of.items():
            if groups[src] is not groups[dst]:
                continue
            if pg_name == "pp":
                if abs(src - dst) == self.stage_ranks:
                    return True
            elif dst in groups[src].peers(src):
                return True
        return False

    def host(self, rank):
        return rank // self.options.hosts_of

    def transport(self, src, dst):
        return transport(src, dst, self.options.hosts_of)

    def link_fault(self, src, dst):
        """(slowdown, packet bytes) of a link: the worst rule that matches it."""
        kind = self.transport(src, dst)
        rules = [rule for rule in self.options.link_rules if rule.matches(src, dst, kind)]
        slowdown = max((rule.factor for rule in rules), default=1.0)
        packet = min((rule.packet_bytes for rule in rules if rule.packet_bytes), default=PACKET_BYTES[kind])
        return slowdown, packet

    def link_ns(self, src, dst, size_bytes, slowdown, *instance):
        """Time of one transfer; `instance` numbers the call, so that calls differ a little."""
        speed = BANDWIDTH[self.transport(src, dst)] * (1 - LINK_NOISE * uniform(self.options.seed, src, dst, *instance))
        return int(size_bytes * slowdown / speed)

    @functools.lru_cache(maxsize=None)
    def worst_slowdown(self, group, kind):
        """Upper bound of the slowdown of the group's links of one kind."""
        return max((rule.factor for rule in self.options.link_rules if self._touches(rule, group, kind)), default=1.0)

    def _touches(self, rule, group, kind):
        if rule.transport not in (None, kind):
            return False
        ends = [rank for rank in (rule.src, rule.dst) if rank is not None]
        if any(self.of[group.pg_name][rank] is not group for rank in ends):
            return False
        if len(ends) < 2:
            return True
        return self.transport(*ends) == kind and ends[1] in group.peers(ends[0])
