"""Two ranks with gloo, each recording itself: collectives carry their group and agree between the ranks."""

import os
import socket
import subprocess
import sys
import tempfile
import unittest

import raw_reader
from capture_support import NativeTest

RANK = """
import os, sys, torch
import torch.distributed as dist
from steplens._capture import Capture
from steplens._config import Config

rank = int(os.environ["RANK"])
torch.set_num_threads(1)
if sys.argv[2] == "before":
    capture = Capture(Config(activities={"cpu"}, mstx=True), sys.argv[1])
    capture.start()
dist.init_process_group("gloo")
pair, alone = dist.new_group([0, 1]), [dist.new_group([r]) for r in range(2)][rank]
if sys.argv[2] == "after":
    capture = Capture(Config(activities={"cpu"}, record_shapes=True), sys.argv[1])
    capture.start()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 4))
for step in range(3):
    capture.step_begin(step)
    model(torch.ones(2, 8)).sum().backward()
    works = [dist.all_reduce(torch.ones(10), group=group, async_op=True) for group in (pair, dist.group.WORLD) * 4]
    for work in works:
        work.wait()
    dist.all_reduce(torch.ones(3), group=alone)
    dist.all_gather([torch.ones(5, dtype=torch.int64) for _ in range(2)], torch.ones(5, dtype=torch.int64))
    dist.broadcast(torch.ones(7), src=0)
    dist.scatter(torch.ones(8), [torch.ones(8) for _ in range(2)] if rank == 0 else None, src=0)
    dist.all_to_all_single(torch.ones(4), torch.ones(4))
    if rank == 0:
        dist.send(torch.ones(6), 1)
    else:
        dist.recv(torch.ones(6), 0)
    dist.barrier(group=pair)
    capture.step_end()
capture.stop()
dist.destroy_process_group()
capture.finalize({})
"""


MINDSPORE_RANK = """
import os, sys, torch
import torch.distributed as dist
from steplens.mindspore.profiler import Profiler

del os.environ["RANK"]
dist.init_process_group("gloo", rank=int(os.environ["LOCAL_RANK"]), world_size=2)
profiler = Profiler(output_path=sys.argv[1])
dist.all_reduce(torch.ones(2))
profiler.stop()
dist.destroy_process_group()
"""


# Rank 1 comes when the capture of rank 0 is over: of eight collectives at most two, one a thread of gloo, have begun by then.
WAITING_RANK = """
import os, sys, time, torch
import torch.distributed as dist
from steplens._capture import Capture
from steplens._config import Config

rank = int(os.environ["RANK"])
dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1))
over = sys.argv[1].replace("rank1", "rank0") + ".over"
if rank == 0:
    capture = Capture(Config(activities={"cpu"}), sys.argv[1])
    capture.start()
else:
    while not os.path.exists(over):
        time.sleep(0.01)
works = [dist.all_reduce(torch.ones(count), async_op=True) for count in range(10, 18)]
if rank == 0:
    capture.stop()
    open(over, "w").close()
for work in works:
    work.wait()
dist.destroy_process_group()
if rank == 0:
    capture.finalize({})
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_ranks(root, when, code=RANK):
    port = free_port()
    programs = []
    for rank in range(2):
        environment = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                       "MASTER_PORT": str(port)}
        programs.append(subprocess.Popen([sys.executable, "-c", code, os.path.join(root, f"rank{rank}"), when], env=environment,
                                         stderr=subprocess.PIPE, text=True))
    for program in programs:
        _, said = program.communicate(timeout=120)
        if program.returncode:
            raise AssertionError(said)
    return [os.path.join(root, f"rank{rank}") for rank in range(2)]


def works(directory, group):
    """(kind, elements, type) of each work of a group, in order of start."""
    found = sorted((op for op in raw_reader.ops(directory) if op.name.startswith("gloo:") and op.fields.get(32) == group),
                   key=lambda op: op.start)
    return [(op.fields[37], op.fields[34], op.fields.get(35)) for op in found]


class Collectives(NativeTest):
    def check(self, when):
        with tempfile.TemporaryDirectory() as root:
            first, second = run_ranks(root, when)
            self.assertEqual(raw_reader.info(first)["rank_id"], "0")
            groups = raw_reader.metadata(first)["parallel_group_info"]
            world = next(name for name, group in groups.items() if group["group_name"] == "default_group")
            self.assertEqual(groups[world], {"group_name": "default_group", "group_rank": 0, "global_ranks": [0, 1]})
            others = [name for name, group in groups.items() if name != world and group["global_ranks"] == [0, 1]]
            self.assertEqual(len(others), 1)
            self.check_matching(first, second, world, others[0])
            self.check_every_work_is_known(first)

    def check_matching(self, first, second, world, pair):
        for group in (world, pair):
            ours, theirs = works(first, group), works(second, group)
            mirrored = [("recv", *rest) if kind == "send" else (kind, *rest) for kind, *rest in ours]
            self.assertEqual(sorted(mirrored, key=str), sorted(theirs, key=str))
        self.assertEqual(works(first, pair).count(("all_reduce", "10", "fp32")), 12)
        self.assertEqual(works(first, world).count(("all_reduce", "10", "fp32")), 12)
        self.assertEqual(works(first, world).count(("all_gather", "5", "int64")), 3)
        self.assertEqual(works(first, world).count(("broadcast", "7", "fp32")), 3)
        self.assertEqual(works(first, world).count(("send", "6", "fp32")), 3)
        self.assertEqual(works(first, world).count(("scatter", "8", "fp32")), 3)
        self.assertEqual(works(first, world).count(("all_to_all", "4", "fp32")), 3)
        self.assertEqual(works(first, pair).count(("barrier", "0", None)), 3)

    def check_every_work_is_known(self, directory):
        ops = raw_reader.ops(directory)
        found = [op for op in ops if op.name.startswith("gloo:")]
        self.assertGreater(len(found), 40)
        for op in found:
            self.assertTrue(op.is_async)
            self.assertIn(op.fields[36], ("0,1", "0"))
            if 35 in op.fields:
                size = {"fp32": 4, "int64": 8, "int32": 4, "uint8": 1}[op.fields[35]]
                self.assertEqual(int(op.fields[33]), int(op.fields[34]) * size)
        sends = [op for op in found if op.fields[37] == "send"]
        self.assertEqual({op.fields[38] for op in sends}, {"1"})
        # What DDP reduces by itself during backward is there as well.
        self.assertEqual(sum(op.fields[34] == "36" and op.fields[37] == "all_reduce" for op in found), 3)
        self.assertTrue([op for op in ops if op.name == "c10d::allreduce_"])

    def test_collectives_that_have_not_begun_at_the_end_are_kept(self):
        with tempfile.TemporaryDirectory() as root:
            first, _ = run_ranks(root, "", WAITING_RANK)
            found = sorted((op for op in raw_reader.ops(first) if op.name == "gloo:all_reduce"), key=lambda op: int(op.fields[34]))
            self.assertEqual([op.fields[34] for op in found], [str(count) for count in range(10, 18)])
            self.assertEqual({(op.fields[36], op.fields[37], op.is_async) for op in found}, {("0,1", "all_reduce", True)})
            calls = sorted((op for op in raw_reader.ops(first) if op.name == "c10d::allreduce_"), key=lambda op: op.start)
            self.assertEqual(len(found), len(calls))
            for op, call in zip(found, calls):
                self.assertGreaterEqual(op.end, calls[-1].end)
                if call not in calls[:2]:  # it lasts from its call on
                    self.assertLessEqual(op.start, call.end)

    def test_ranks_of_mindspore_are_those_of_their_group(self):
        with tempfile.TemporaryDirectory() as root:
            for rank, folder in enumerate(run_ranks(root, "", MINDSPORE_RANK)):
                (capture,) = (os.path.join(folder, name) for name in os.listdir(folder))
                self.assertTrue(os.path.exists(os.path.join(capture, f"profiler_info_{rank}.json")), os.listdir(capture))
                self.assertEqual(raw_reader.info(capture)["ms_profiler_info"]["rank_id"], str(rank))
                (group,) = raw_reader.metadata(capture)["parallel_group_info"].values()
                self.assertEqual(group, {"group_name": "default_group", "group_rank": rank, "global_ranks": [0, 1]})

    def test_capture_after_the_groups(self):
        self.check("after")

    def test_capture_before_the_groups_and_without_shapes(self):
        self.check("before")


if __name__ == "__main__":
    unittest.main()
