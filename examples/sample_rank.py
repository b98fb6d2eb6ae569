"""A simulated rank: a host that runs nested operators and enqueues work, a device that runs it.

Times are integer nanoseconds. The host thread runs ahead of the device, as in a real training job: an operator
enqueues a task, the dequeue thread launches it, a stream starts it when it is free. Everything that happens is kept
as plain records, from which sample_files.py writes the result files.
"""

import contextlib
import dataclasses

COMPUTE_STREAM = 2
PLANE_STREAMS = (4, 5)  # of the collectives: plane 0 copies locally, plane 1 talks to the other rank
LINK_BYTES_PER_US = 18_000
LOCAL_BYTES_PER_US = 500_000


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A compute kernel and its duration at full clock."""
    name: str
    type: str
    core: str
    blocks: int
    full_clock_us: int
    inputs: str
    outputs: str


@dataclasses.dataclass
class Op:
    name: str
    thread: int
    begin: int
    sequence: int
    fwd_thread: int
    dims: str
    types: str
    stack: str
    parent: "Op"
    end: int = 0
    tasks: list = dataclasses.field(default_factory=list)  # of this operator itself


@dataclasses.dataclass
class Frame:
    """A Python function call."""
    name: str
    begin: int
    id: int
    parent_id: int
    module_id: int
    end: int = 0


@dataclasses.dataclass
class Queued:
    """A task's way through the queue: the enqueue on the operator's thread and the dequeue."""
    correlation: int
    label: str
    thread: int
    begin: int
    end: int
    dequeue_begin: int = 0
    dequeue_end: int = 0


@dataclasses.dataclass
class Call:
    """A CANN API call."""
    level: str
    name: str
    thread: int
    begin: int
    end: int
    connection: int
    item: str = "0"


@dataclasses.dataclass
class Task:
    """Something on a device stream; `flow` is the id of the arrow from its launch, if it has one of its own."""
    name: str
    task_type: str
    stream: int
    begin: int
    end: int
    task_id: int
    subtask: int
    connection: int
    flow: str = ""
    launch: int = 0
    kernel: Kernel = None
    mhz: int = 0


@dataclasses.dataclass
class PlaneTask:
    """A step of a collective on one of its planes."""
    kind: str
    plane: int
    begin: int
    end: int
    dst: int
    transport: str
    link: str
    size: int
    task: Task


@dataclasses.dataclass
class Collective:
    name: str
    begin: int
    end: int
    connection: int
    flow: str
    launch: int
    count: int
    plane_tasks: list


@dataclasses.dataclass
class Block:
    """A block of device memory; totals are (allocated, reserved, active) in bytes."""
    name: str
    size: int
    begin: int
    totals: tuple
    active_end: int = None
    end: int = None
    end_totals: tuple = None


class Rank:
    RESERVED = 256 << 20
    GE_RESERVED = 24 << 20
    NO_SUBTASK = 4294967295

    def __init__(self, rank, begin):
        self.rank = rank
        self.pid = 4100 + 100 * rank
        self.main, self.dequeue, self.autograd = self.pid, self.pid + 30, self.pid + 60
        self.begin = self.now = begin
        self.thread = self.main
        self.ops, self.frames, self.queue, self.calls = [], [], [], []
        self.tasks, self.collectives, self.blocks, self.ge_blocks = [], [], [], []
        self.memory, self.ge_memory = [], []  # (time, totals)
        self.clock_changes = []               # (time, MHz)
        self.steps = []
        self._random = 20260101 + rank
        self._open_ops, self._open_frames, self._modules = [], [], {}
        self._python_records = 0
        self._correlation, self._connection, self._sequence = 3000, 500, 100
        self._task_id = {COMPUTE_STREAM: 900, PLANE_STREAMS[0]: 40, PLANE_STREAMS[1]: 40}
        self._free_at = {stream: begin for stream in self._task_id}
        self._dequeue_free_at = begin
        self._allocated = self._active = 96 << 20

    # The host.

    def jitter(self, low, high):
        """A number in [low, high), the same in every run."""
        self._random = (self._random * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return low + (self._random >> 33) % (high - low)

    def spend(self, low_us, high_us):
        self.now += self.jitter(low_us * 1000, high_us * 1000)

    def set_clock(self, mhz):
        self.clock_changes.append((self.now, mhz))

    @contextlib.contextmanager
    def on_autograd_thread(self):
        self.thread = self.autograd
        self.spend(20, 30)
        yield
        self.spend(5, 10)
        self.thread = self.main

    @contextlib.contextmanager
    def frame(self, name, module=None):
        """A Python function; with `module` it is the call of that object of the model."""
        module_id = None
        if module:
            name = f"nn.Module: {module}_0"
            module_id = 0
        frame = Frame(name, self.now, self._python_records, self._open_frames[-1].id if self._open_frames else 0, module_id)
        self._python_records += 1
        self._open_frames.append(frame)
        self.spend(3, 6)
        yield
        self.spend(1, 3)
        frame.end = self.now
        self._open_frames.pop()
        self._python_records += 1
        self.frames.append(frame)
        self.spend(1, 2)

    @contextlib.contextmanager
    def op(self, name, dims="", types="", sequence=-1, fwd_thread=0):
        stack = ";\r\n".join(f.name for f in reversed(self._open_frames) if not f.name.startswith("nn.Module"))
        if self.thread == self.autograd:
            stack = ""
        parent = self._open_ops[-1] if self._open_ops else None
        op = Op(name, self.thread, self.now, sequence, fwd_thread, dims, types, stack, parent)
        self._open_ops.append(op)
        self.spend(6, 14)
        yield op
        self.spend(2, 5)
        op.end = self.now
        self._open_ops.pop()
        self.ops.append(op)
        self.spend(1, 3)

    @contextlib.contextmanager
    def step(self, number):
        with self.op(f"ProfilerStep#{number}") as op:
            yield
        self.steps.append((number, op))

    def next_sequence(self):
        self._sequence += 1
        return self._sequence

    # The queue and the device.

    def launch(self, kernel):
        """Enqueues a compute kernel for the operator that is open."""
        launch, connection = self._enqueue(kernel.name.split("_")[0], [("acl", kernel.name.split("_")[0]), ("node", "launch")], kernel.name)
        mhz = self.clock_changes[-1][1]
        begin = max(launch + 4000, self._free_at[COMPUTE_STREAM] + 900)
        end = begin + kernel.full_clock_us * 1000 * 1800 // mhz + self.jitter(0, 3000)
        task = self._add_task(kernel.name, "MIX_AIC" if kernel.core == "MIX_AIC" else "AI_CORE", COMPUTE_STREAM, begin, end,
                              connection, subtask=0 if kernel.core == "MIX_AIC" else self.NO_SUBTASK)
        task.flow = str((task.stream << 64) | (task.task_id << 48) | task.subtask)
        task.launch, task.kernel, task.mhz = launch, kernel, mhz
        self._open_ops[-1].tasks.append(task)

    def copy(self, label, duration_us):
        """Enqueues a copy between host and device for the operator that is open."""
        launch, connection = self._enqueue(label, [("acl", "aclrtMemcpyAsync")], "0")
        begin = max(launch + 4000, self._free_at[COMPUTE_STREAM] + 900)
        task = self._add_task("MEMCPY_ASYNC", "PCIE_DMA_SQE", COMPUTE_STREAM, begin, begin + duration_us * 1000, connection)
        task.flow, task.launch = str(connection), launch
        self._open_ops[-1].tasks.append(task)

    def all_reduce(self, name, count):
        """Enqueues an all-reduce of `count` floats. A generator: yields when this rank is ready, is sent when both are."""
        label = "HcclAllreduce"
        launch, connection = self._enqueue(label, [("hccl", "Launch_Ffts"), ("node", "launch")], name)
        ready = max(launch + 6000, *(free_at + 1500 for free_at in self._free_at.values()))
        op = self._open_ops[-1]
        both_ready = yield ready
        plane_tasks = self._plane_tasks(ready, both_ready + 3000, count * 4 // 2, connection)
        collective = Collective(name, ready, max(p.end for p in plane_tasks), connection, str(connection * (1 << 32) - 1),
                                launch, count, plane_tasks)
        self.collectives.append(collective)
        op.tasks.append(collective)

    def wait_for_collectives(self):
        """Makes the compute stream wait for the communication streams."""
        done = max(self._free_at[stream] for stream in PLANE_STREAMS)
        begin = max(self._free_at[COMPUTE_STREAM] + 500, self.now)
        self._add_task("EVENT_WAIT", "EVENT_WAIT_SQE", COMPUTE_STREAM, begin, max(begin + 20, done + 800), self._next_connection())

    def synchronize(self):
        """Blocks the host until the compute stream is done."""
        begin = self.now
        self.now = max(self.now, self._free_at[COMPUTE_STREAM]) + self.jitter(6000, 9000)
        self.calls.append(Call("acl", "aclrtSynchronizeStreamWithTimeout", self.thread, begin, self.now, self._next_connection()))
        self.spend(1, 2)

    def _enqueue(self, label, calls, item):
        """Enqueue, dequeue and the nested API calls inside. Returns the launch time and its connection id."""
        queued = Queued(self._correlation, label, self.thread, self.now, 0)
        self._correlation += 1
        self.spend(3, 6)
        queued.end = self.now
        self.spend(1, 2)
        time = queued.dequeue_begin = max(queued.end + 2000, self._dequeue_free_at + 800)
        nested = []
        for level, name in calls:
            time += self.jitter(1000, 2500)
            nested.append(Call(level, name, self.dequeue, time, 0, self._next_connection(), item if level == "node" else "0"))
        launch = time + self.jitter(300, 900)
        time = launch + self.jitter(1500, 3000)
        for call in reversed(nested):
            call.end = time
            time += self.jitter(300, 800)
        queued.dequeue_end = self._dequeue_free_at = time
        self.calls += nested
        self.queue.append(queued)
        return launch, nested[-1].connection

    def _plane_tasks(self, ready, go, half, connection):
        """The steps of an all-reduce between two ranks: meet, add the other's half, fetch the rest."""
        peer = 1 - self.rank
        link_ns = half * 1000 // LINK_BYTES_PER_US
        local_ns = half * 1000 // LOCAL_BYTES_PER_US
        steps = []

        def add(kind, plane, begin, duration, transport="SDMA", link="INVALID_TYPE", size=0, dst=peer):
            name = {"Notify_Wait": "Notify Wait", "Notify_Record": "Write Value"}.get(kind, "SDMA")
            task = self._add_task(name, name, PLANE_STREAMS[plane], begin, begin + duration, connection, subtask=len(steps))
            steps.append(PlaneTask(kind, plane, begin, begin + duration, dst, transport, link, size, task))
            return begin + duration

        time = add("Notify_Record", 1, ready, 700)
        add("Memcpy", 0, ready + 200, local_ns, link="ON_CHIP", size=half, dst=self.rank)
        time = add("Notify_Wait", 1, time + 300, go - (time + 300), "LOCAL")
        time = add("Reduce_Inline", 1, time + 800, link_ns + self.jitter(0, 4000), link="HCCS", size=half)
        add("Memcpy", 0, time + 250, local_ns, link="ON_CHIP", size=half, dst=self.rank)
        time = add("Notify_Record", 1, time + 600, 700)
        time = add("Notify_Wait", 1, time + 300, self.jitter(5000, 9000), "LOCAL")
        add("Memcpy", 1, time + 800, link_ns + self.jitter(0, 4000), link="HCCS", size=half)
        return steps

    def _add_task(self, name, task_type, stream, begin, end, connection, subtask=NO_SUBTASK):
        if subtask in (0, self.NO_SUBTASK):
            self._task_id[stream] += 1
        task = Task(name, task_type, stream, begin, end, self._task_id[stream], subtask, connection)
        self._free_at[stream] = max(self._free_at[stream], end)
        self.tasks.append(task)
        return task

    def _next_connection(self):
        self._connection += 1
        return self._connection

    # Memory.

    def allocate(self, kilobytes):
        """A tensor of the operator that is open."""
        self._allocated += kilobytes << 10
        self._active += kilobytes << 10
        block = Block(self._open_ops[-1].name, kilobytes << 10, self.now, self._totals())
        self.memory.append((self.now, block.totals))
        self.blocks.append(block)
        self.spend(1, 2)
        return block

    def release(self, block):
        self._active -= block.size
        block.active_end = self.now
        self.memory.append((self.now, self._totals()))
        self.now += self.jitter(300, 700)
        self._allocated -= block.size
        block.end, block.end_totals = self.now, self._totals()
        self.memory.append((self.now, block.end_totals))
        self.spend(1, 2)

    def workspace(self, name, kilobytes):
        """Memory that CANN takes for the last task while launching it."""
        queued = self.queue[-1]
        held = (kilobytes << 10, self.GE_RESERVED)
        block = Block(name, kilobytes << 10, queued.dequeue_begin + 500, held, end=queued.dequeue_end - 200,
                      end_totals=(0, self.GE_RESERVED))
        self.ge_blocks.append(block)
        self.ge_memory += [(block.begin, block.totals), (block.end, block.end_totals)]

    def _totals(self):
        return (self._allocated, self.RESERVED, self._active)
