"""The types of the questions. Made by `python3 -m steplens._stubs`; do not edit by hand."""

from typing import Any, Iterable, Sequence

from ._result import Answer

def as_argument(value: Any) -> Any: ...
def method_name(question: str, tables: Iterable[str]) -> str: ...
def define(native: Any) -> None: ...
def document(description: str, arguments: Any, answer: Any) -> str: ...

class Questions:
    """The methods of a job that are questions, named as in `steplens ask`."""

    def step_times(self) -> Answer:
        """How long each step took on the host and on the device; without a step: on average."""

    def temporal_breakdown(self) -> Answer:
        """Idle, compute and other device time of each rank."""

    def op_stats(self) -> Answer:
        """Device kernels by operator type and core, as in op_statistic.csv."""

    def kernel_stats_by_name(self) -> Answer:
        """Device kernels by name."""

    def kernel_stats_by_shape(self) -> Answer:
        """Device kernels by name and input shapes."""

    def kernel_stats_by_core(self) -> Answer:
        """Device kernels by the core they ran on."""

    def operator_stats(self) -> Answer:
        """Host operators by name and pass (forward, backward, recomputed), with host and device time."""

    def operator_tree(self) -> Answer:
        """Every host operator with its parent, host and device time, and its pass."""

    def operator_rooflines(self) -> Answer:
        """FLOPs, bytes and roofline bound of host operators by name and input shapes."""

    def api_stats(self) -> Answer:
        """CANN and GPU runtime calls by name, as in api_statistic.csv."""

    def verify(self) -> Answer:
        """Whether the files of the ranks agree with each other, rule by rule."""

    def critical_path(self, *, rank: int | None = ..., step: int | None = ..., top: int | None = ...) -> Answer:
        """What the chain of work that decides how long a step takes is spent with.

        rank: the rank; without it all ranks
        step: the step; without it all
        top: how many rows (default 15)

        Tables: critical_path, parts, chains, slack, pieces
        """

    def whatif(self, *, rank: int | None = ..., step: int | None = ..., scale: str | None = ..., remove: str | None = ..., overlap: str | None = ..., network: str | None = ..., host: str | None = ..., balance: str | None = ...) -> Answer:
        """How long a step would take after a change, by a replay of what was recorded.

        rank: the rank; without it all ranks
        step: the step; without it all
        scale: parts and factors, e.g. 'kernel:MatMul*=0.5; comm=0.8'
        remove: parts, e.g. 'sync; host:*DataLoader*'
        overlap: parts that computing does not wait for, e.g. 'comm'
        network: how many times as fast collectives transfer, e.g. '2x'
        host: how many times as fast the host is, e.g. '2x'
        balance: 'ranks': each computes as long as the average one

        Tables: whatif, replay
        """

    def overall(self, *, rank: int | None = ..., t0: int | None = ..., t1: int | None = ...) -> Answer:
        """Where the time of a rank went, as a tree.

        rank: the rank; without it the first
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count
        """

    def overall_details(self, *, rank: int | None = ..., path: str | None = ..., t0: int | None = ..., t1: int | None = ...) -> Answer:
        """The kernels of a path of that tree.

        rank: the rank; without it the first
        path: a node of the tree of `overall` (default Computing Time)
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count
        """

    def layer_summary(self, *, rank: int | None = ..., layer: str | None = ..., name: str | None = ..., t0: int | None = ..., t1: int | None = ...) -> Answer:
        """The names of a layer of the timeline with their times.

        rank: the rank; without it the first
        layer: the layer of the timeline (default Python API)
        name: only slices or kernels of this name
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count
        """

    def kernel_details(self, *, rank: int | None = ..., t0: int | None = ..., t1: int | None = ...) -> Answer:
        """Every kernel.

        rank: the rank; without it the first
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count
        """

    def kernel_types(self, *, rank: int | None = ..., t0: int | None = ..., t1: int | None = ...) -> Answer:
        """Kernels by type and core.

        rank: the rank; without it the first
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count
        """

    def memcpy_overall(self, *, rank: int | None = ..., t0: int | None = ..., t1: int | None = ...) -> Answer:
        """Copies by stream and operation.

        rank: the rank; without it the first
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count
        """

    def dispatch(self, *, rank: int | None = ..., t0: int | None = ..., t1: int | None = ...) -> Answer:
        """From the call in Python to the launch.

        rank: the rank; without it the first
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count
        """

    def operator_groups(self, *, rank: int | None = ..., group_by: str | None = ..., top: int | None = ..., step: int | None = ..., t0: int | None = ..., t1: int | None = ...) -> Answer:
        """Kernels grouped, with shares.

        rank: the rank; without it the first
        group_by: what kernels are grouped by (default Computing Operator Type)
        top: how many rows (default 15)
        step: the step; without it all
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count

        Tables: groups, pie, cores
        """

    def operator_details_page(self, *, rank: int | None = ..., group_by: str | None = ..., type: str | None = ..., name: str | None = ..., shape: str | None = ..., core: str | None = ..., step: int | None = ..., t0: int | None = ..., t1: int | None = ...) -> Answer:
        """Kernels of a group with their metrics.

        rank: the rank; without it the first
        group_by: what kernels are grouped by (default Computing Operator Type)
        type: only kernels of this type
        name: only slices or kernels of this name
        shape: only kernels with these input shapes
        core: only kernels on this core
        step: the step; without it all
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count
        """

    def kernel_places(self) -> Answer:
        """Kernels with the module and line that launched them."""

    def memory_curve(self, *, rank: int | None = ..., group_by: str | None = ..., width: int | None = ..., t0: int | None = ..., t1: int | None = ...) -> Answer:
        """Memory over time.

        rank: the rank; without it the first
        group_by: Overall, Component or Stream (default Overall)
        width: how many points are wanted; 0: all (default 0)
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count

        Tables: points, peaks
        """

    def memory_operators(self, *, rank: int | None = ..., t0: int | None = ..., t1: int | None = ..., live_at: int | None = ...) -> Answer:
        """Every allocation.

        rank: the rank; without it the first
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count
        live_at: nanoseconds: only what is allocated then
        """

    def memory_growth(self, *, rank: int | None = ...) -> Answer:
        """Memory that steps leave behind.

        rank: the rank; without it the first

        Tables: leak_candidates, memory_growth
        """

    def memory_components(self, *, rank: int | None = ..., min_mb: float | None = ...) -> Answer:
        """The peak of each component.

        rank: the rank; without it the first
        min_mb: components with a smaller peak are left out (default 100)
        """

    def memory_static(self, *, rank: int | None = ..., graph: str | None = ...) -> Answer:
        """Memory of a static graph by node.

        rank: the rank; without it the first
        graph: the graph; without it the first

        Tables: memory_static, points, graphs
        """

    def comm_steps(self) -> Answer:
        """Steps with communication."""

    def comm_groups(self, *, step: int | None = ...) -> Answer:
        """Communication groups.

        step: the step; without it all
        """

    def comm_operators(self, *, step: int | None = ..., group: str | None = ...) -> Answer:
        """Operators of a group.

        step: the step; without it all
        group: the communication group; without it all
        """

    def comm_matrix(self, *, step: int | None = ..., group: str | None = ..., operator: str | None = ..., inner: int | None = ..., src: int | None = ..., dst: int | None = ...) -> Answer:
        """Traffic between any two ranks.

        step: the step; without it all
        group: the communication group; without it all
        operator: the communication operator (default Total Op Info)
        inner: 1: with what a rank sends to itself (default 0)
        src: the sender whose calls are listed; -1: none (default -1)
        dst: the receiver whose calls are listed; -1: none (default -1)

        Tables: matrix, operators
        """

    def comm_durations(self, *, step: int | None = ..., group: str | None = ..., operator: str | None = ..., rank: int | None = ...) -> Answer:
        """Times of the ranks in an operator, a group or all.

        step: the step; without it all
        group: the communication group; without it all
        operator: the communication operator (default Total Op Info)
        rank: the rank; without it all ranks

        Tables: durations, operators
        """

    def comm_bandwidth(self, *, rank: int | None = ..., step: int | None = ..., group: str | None = ..., operator: str | None = ...) -> Answer:
        """Transports of a rank.

        rank: the rank; without it the first
        step: the step; without it all
        group: the communication group; without it all
        operator: the communication operator (default Total Op Info)
        """

    def comm_packets_page(self, *, rank: int | None = ..., step: int | None = ..., group: str | None = ..., operator: str | None = ..., transport: str | None = ...) -> Answer:
        """Packet sizes of a rank.

        rank: the rank; without it the first
        step: the step; without it all
        group: the communication group; without it all
        operator: the communication operator (default Total Op Info)
        transport: the kind of link; without it all
        """

    def comm_thumbnail(self, *, step: int | None = ..., group: str | None = ...) -> Answer:
        """Communication operators of all ranks in time.

        step: the step; without it all
        group: the communication group; without it all
        """

    def comm_advice(self, *, step: int | None = ..., group: str | None = ...) -> Answer:
        """Bandwidth, packets, alignment, contention, retransmission.

        step: the step; without it all
        group: the communication group; without it all

        Tables: bandwidth, packet, byte_alignment, contention, retransmission
        """

    def comm_slow_ranks(self, *, step: int | None = ..., group: str | None = ...) -> Answer:
        """Ranks that the others wait for.

        step: the step; without it all
        group: the communication group; without it all
        """

    def summary_base(self) -> Answer:
        """The job in numbers.

        Tables: base, steps
        """

    def summary_ranks(self, *, step: int | None = ..., rank: int | None = ...) -> Answer:
        """Times of the ranks.

        step: the step; without it all
        rank: the rank; without it all ranks

        Tables: ranks, domains, computing_detail
        """

    def summary_strategy(self, *, algorithm: str | None = ..., pp: int | None = ..., tp: int | None = ..., cp: int | None = ..., dp: int | None = ..., ep: int | None = ..., moe_tp: int | None = ...) -> Answer:
        """The parallel strategy.

        algorithm: the order of ranks; without it as the capture says
        pp: pipeline parallel size; without it as the capture says
        tp: tensor parallel size; without it as the capture says
        cp: context parallel size; without it as the capture says
        dp: data parallel size; without it as the capture says
        ep: expert parallel size; without it as the capture says
        moe_tp: tensor parallel size of experts; without it as the capture says

        Tables: strategy, algorithms
        """

    def summary_arrangement(self, *, algorithm: str | None = ..., pp: int | None = ..., tp: int | None = ..., cp: int | None = ..., dp: int | None = ..., ep: int | None = ..., moe_tp: int | None = ..., dimension: str | None = ..., step: int | None = ...) -> Answer:
        """The grid of parallel elements with their times.

        algorithm: the order of ranks; without it as the capture says
        pp: pipeline parallel size; without it as the capture says
        tp: tensor parallel size; without it as the capture says
        cp: context parallel size; without it as the capture says
        dp: data parallel size; without it as the capture says
        ep: expert parallel size; without it as the capture says
        moe_tp: tensor parallel size of experts; without it as the capture says
        dimension: the dimensions that stay apart (default DP+PP+CP+TP)
        step: the step; without it all

        Tables: elements, groups, domains
        """

    def summary_advice(self, *, algorithm: str | None = ..., pp: int | None = ..., tp: int | None = ..., cp: int | None = ..., dp: int | None = ..., ep: int | None = ..., moe_tp: int | None = ..., step: int | None = ...) -> Answer:
        """Ranks that differ, slow groups, findings.

        algorithm: the order of ranks; without it as the capture says
        pp: pipeline parallel size; without it as the capture says
        tp: tensor parallel size; without it as the capture says
        cp: context parallel size; without it as the capture says
        dp: data parallel size; without it as the capture says
        ep: expert parallel size; without it as the capture says
        moe_tp: tensor parallel size of experts; without it as the capture says
        step: the step; without it all

        Tables: differences, slow_groups, ClusterFindings
        """

    def pipeline(self, *, ranks: Sequence[int] | str | None = ...) -> Answer:
        """Forward and backward passes of the ranks.

        ranks: the ranks; without it all

        Tables: blocks, p2p, arrows, bubbles, stages, ideal
        """

    def rl(self, *, ranks: Sequence[int] | str | None = ..., config: str | None = ...) -> Answer:
        """Tasks of a reinforcement learning loop on the ranks.

        ranks: the ranks; without it all
        config: the tasks of the loop, as docs/metrics.md has it

        Tables: tasks, batches, iterations, bubbles, frameworks
        """

    def experts(self, *, layers: int | None = ...) -> Answer:
        """Work of the experts of a mixture, by layer and rank.

        layers: how many layers of experts a step has (default 1)

        Tables: load, balance
        """

    def findings(self, *, rank: int | None = ...) -> Answer:
        """What could be made faster, the largest gain first.

        rank: the rank; without it the first
        """

    def overview(self, *, rank: int | None = ..., step: int | None = ..., top: int | None = ...) -> Answer:
        """Steps, top kernels, data quality.

        rank: the rank; without it the first
        step: the step; without it all
        top: how many rows (default 15)

        Tables: steps, step_times, top_kernels, quality
        """

    def expert(self, *, rank: int | None = ...) -> Answer:
        """What the reference viewer points out.

        rank: the rank; without it the first

        Tables: frequency, aicpu, affinity_api, affinity_optimizer, aclnn, fusion, dispatch
        """

    def flame(self, *, rank: int | None = ..., tracks: Sequence[int] | str | None = ..., t0: int | None = ..., t1: int | None = ..., order: str | None = ...) -> Answer:
        """A flame graph of tracks.

        rank: the rank; without it the first
        tracks: rows of `tracks`; without it those of operators
        t0: nanoseconds: what ends before does not count
        t1: nanoseconds: what begins after does not count
        order: merged or time (default merged)
        """

    def communication_group_map(self, *, step: int | None = ...) -> Answer:
        """Communication groups, their ranks and the parallel dimension they serve.

        step: the step; without it all
        """

    def communication_time_sum(self, *, step: int | None = ...) -> Answer:
        """Time and bandwidth of every communication operator of every rank.

        step: the step; without it all

        Tables: communication_time, communication_bandwidth
        """

    def communication_matrix_sum(self, *, step: int | None = ..., full_matrix: int | None = ...) -> Answer:
        """Traffic and bandwidth between any two ranks.

        step: the step; without it all
        full_matrix: 1: every link of groups with more than 64 ranks (default 0)
        """

    def step_trace(self, *, step: int | None = ...) -> Answer:
        """Where each rank's steps went, and the pipeline stages.

        step: the step; without it all
        """

    def host_info(self, *, step: int | None = ...) -> Answer:
        """Where the ranks ran.

        step: the step; without it all

        Tables: host_info, rank_device_map, base_info
        """

    def cluster_summary(self, *, step: int | None = ...) -> Answer:
        """Which rank, group, host or link is slow, what it costs a step, and why.

        step: the step; without it all

        Tables: findings, rank_score, wait_attribution, overview, link_bandwidth, wait_pairs, group_wait, host_sum, parallel_sum, rank_step, host_links
        """

    def cann_api_sum(self, *, step: int | None = ...) -> Answer:
        """Durations of API calls by name, for each rank and over all.

        step: the step; without it all

        Tables: cann_api_sum, cann_api_sum_rank
        """

    def compute_op_sum(self, *, step: int | None = ..., exclude_op_name: int | None = ...) -> Answer:
        """Durations of compute kernels by type, rank, name and shape.

        step: the step; without it all
        exclude_op_name: 1: no table by operator name (default 0)

        Tables: compute_op_all_rank_stats, compute_op_per_rank_stats_by_op_type, compute_op_per_rank_stats_by_op_name
        """

    def freq_analysis(self, *, step: int | None = ...) -> Answer:
        """Ranks whose AI Core frequency dropped.

        step: the step; without it all

        Tables: free_frequency_ranks, abnormal_frequency_ranks
        """

    def ep_load_balance(self, *, step: int | None = ...) -> Answer:
        """Tokens that the experts of each rank computed, and the differences in a group.

        step: the step; without it all

        Tables: ep_tokens_summary, top_ep_tokens_info
        """

    def computational_op_masking(self, *, step: int | None = ..., parallel_types: str | None = ...) -> Answer:
        """Communication that no computation covers, by step and kind of group.

        step: the step; without it all
        parallel_types: sets of kinds of groups, e.g. 'edp;dp,edp' (default dp,edp;edp;dp;ep;pp;mp;tp)
        """

    def free_analysis(self, *, step: int | None = ..., top_num: int | None = ...) -> Answer:
        """The longest times in which a device had no work, and why.

        step: the step; without it all
        top_num: how many rows; without it as docs/cluster has it
        """

    def mstx_sum(self, *, step: int | None = ...) -> Answer:
        """Durations of the user's marks and ranges on host and device.

        step: the step; without it all

        Tables: mstx_mark_stats, mstx_all_framework_stats, mstx_all_cann_stats, mstx_all_device_stats
        """

    def hccl_sum(self, *, step: int | None = ..., top_num: int | None = ...) -> Answer:
        """Durations of communication operators by type, rank and operator.

        step: the step; without it all
        top_num: how many rows; without it as docs/cluster has it

        Tables: hccl_all_rank_stats, hccl_per_rank_stats, hccl_top_op_stats, hccl_group_name_map
        """

    def module_statistic(self, *, step: int | None = ...) -> Answer:
        """Kernel time of nn.Modules by operator, forward and backward.

        step: the step; without it all
        """

    def operator_mfu(self, *, step: int | None = ...) -> Answer:
        """Share of the chip's peak that matrix operators reach, by kernel and by module.

        step: the step; without it all

        Tables: operator_mfu, module_mfu
        """

    def cluster_time_summary(self, *, step: int | None = ...) -> Answer:
        """Where the time of each step of each rank went.

        step: the step; without it all
        """

    def slow_rank(self, *, step: int | None = ...) -> Answer:
        """Ranks that others wait for in collectives.

        step: the step; without it all

        Tables: slow_rank, slow_op_stats, rank_wait
        """

    def slow_link(self, *, step: int | None = ..., top_num: int | None = ...) -> Answer:
        """Operators whose transmit time is far from that of their like.

        step: the step; without it all
        top_num: how many rows; without it as docs/cluster has it

        Tables: slow_link_sum, slow_link_ops
        """

    def communication_bottleneck(self, *, step: int | None = ..., rank_id: int | None = ..., top_num: int | None = ...) -> Answer:
        """Why the longest communication operators of a rank take so long.

        step: the step; without it all
        rank_id: the rank that is looked at; without it the first
        top_num: how many rows; without it as docs/cluster has it
        """

    def p2p_pairing(self, *, step: int | None = ...) -> Answer:
        """Ids that join a send with its receive.

        step: the step; without it all
        """

    def pp_chart(self, *, step: int | None = ...) -> Answer:
        """Forward and backward passes of pipeline stages, for a chart.

        step: the step; without it all
        """

    def op_duration(self, *, step: int | None = ..., top_num: int | None = ...) -> Answer:
        """How durations of the same operator differ between devices.

        step: the step; without it all
        top_num: how many rows; without it as docs/cluster has it

        Tables: op_duration, op_duration_top, op_counter_top
        """
