"""PyTorch's operators, memory and Python's calls, as recorded, against what is known about the same run."""

import collections
import gc
import io
import os
import sys
import threading
import unittest

import torch

import raw_reader
from native_support import NativeTest, captured
from steplens import _ranges

torch.set_num_threads(1)


def small_model():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


def train(model, optimizer, steps=3):
    for _ in range(steps):
        loss = model(torch.ones(4, 8)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def merged(items):
    """(name, depth, item) without operators that are the only child of one of the same name: torch.profiler leaves these out."""
    out, removed = [], set()
    for index, (name, depth) in enumerate(items):
        children = []
        for later, (_, below) in enumerate(items[index + 1:], index + 1):
            if below <= depth:
                break
            if below == depth + 1:
                children.append(later)
        if len(children) == 1 and items[children[0]][0] == name:
            removed.add(children[0])
    return [item for index, item in enumerate(items) if index not in removed]


class SameAsTorchProfiler(NativeTest):
    """Both profilers watch the same run, so that nothing but the profilers can differ."""

    @classmethod
    def setUpClass(cls):
        model, optimizer = small_model()
        train(model, optimizer, 1)
        with captured(record_shapes=True) as cls.ours:
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profiler:
                train(model, optimizer)
        cls.theirs = [event for event in profiler.events() if not event.name.startswith("[memory]")]

    def test_same_names_and_counts(self):
        ours = collections.Counter(name for name, _ in merged(raw_reader.depths(self.ours.ops)))
        theirs = collections.Counter(event.name for event in self.theirs)
        self.assertEqual(ours, theirs)
        self.assertGreater(sum(ours.values()), 300)

    def test_same_order_and_nesting_on_the_main_thread(self):
        main = threading.get_native_id()
        ours = merged(raw_reader.depths([op for op in self.ours.ops if op.thread == main]))
        first = self.theirs[0].thread
        theirs = []
        for event in sorted((e for e in self.theirs if e.thread == first), key=lambda e: e.id):
            depth, parent = 0, event.cpu_parent
            while parent is not None:
                depth, parent = depth + 1, parent.cpu_parent
            theirs.append((event.name, depth))
        self.assertEqual([name for name, _ in ours], [name for name, _ in theirs])
        # torch.profiler counts microseconds, so that short neighbours may look nested in each other: nearly all agree.
        same = sum(a[1] == b[1] for a, b in zip(ours, theirs))
        self.assertGreater(same / len(ours), 0.9)

    def test_same_shapes(self):
        ours = collections.Counter((op.name, op.shapes) for op in self.ours.ops if op.scope == 0 and op.name != "aten::sum")
        theirs = collections.Counter()
        for event in self.theirs:
            if event.scope == 0 and event.name != "aten::sum":  # see `merged`
                theirs[event.name, ";".join(",".join(map(str, shape)) for shape in event.input_shapes)] += 1
        self.assertEqual(ours, theirs)

    def test_same_sequence_numbers(self):
        ours = collections.Counter((op.name, op.sequence) for op in self.ours.ops if op.sequence >= 0)
        theirs = collections.Counter((event.name, event.sequence_nr) for event in self.theirs if event.sequence_nr >= 0)
        self.assertEqual(ours, theirs)

    def test_times_agree(self):
        """Sum of the time of all optimizer steps, within a third: a microsecond's rounding and the profilers themselves."""
        hertz = self.ours.info["start_info"]["freq"]
        ours = sum(op.end - op.start for op in self.ours.ops if op.name.startswith("Optimizer.step")) / hertz
        theirs = sum(e.time_range.elapsed_us() for e in self.theirs if e.name.startswith("Optimizer.step"))
        self.assertLess(abs(ours - theirs) / theirs, 0.34)


class Operators(NativeTest):
    def test_backward_is_linked_to_forward(self):
        model, optimizer = small_model()
        with captured() as recorded:
            train(model, optimizer, 1)
        forward = {op.sequence: op for op in recorded.named("aten::addmm")}
        backward = {op.sequence: op for op in recorded.named("AddmmBackward0")}
        self.assertEqual(len(forward), 2)
        self.assertEqual(set(forward), set(backward))
        for op in backward.values():
            self.assertEqual(op.scope, 1)
            self.assertNotEqual(op.forward_thread, 0)
            self.assertEqual(
                [around.forward_thread for around in recorded.named("autograd::engine::evaluate_function: AddmmBackward0")
                 if around.sequence == op.sequence], [op.forward_thread])
        self.assertTrue(all(op.forward_thread == 0 for op in forward.values()))

    def test_types_have_their_names_in_c(self):
        x, index = torch.ones(3, 2), torch.zeros(2, dtype=torch.int64)
        with captured(record_shapes=True) as recorded:
            torch.index_select(x, 0, index)
            torch.cat([x, x])
            x.to(torch.float16)
            x.sum(dim=[0, 1])
        types = {op.name: op.dtypes for op in recorded.ops}
        self.assertEqual(types["aten::index_select"], "float;Scalar;long int")
        self.assertEqual(types["aten::cat"], "TensorList;Scalar")
        self.assertEqual(types["aten::sum"].split(";")[:2], ["float", "ScalarList"])
        self.assertEqual(recorded.named("aten::index_select")[0].shapes, "3,2;;2")
        self.assertIn("c10::Half;float;Scalar", [op.dtypes for op in recorded.named("aten::copy_")])

    def test_ranges_of_the_user(self):
        with captured() as recorded:
            with torch.autograd.profiler.record_function("outer"), _ranges.range("inner"):
                torch.ones(2)
        outer, inner, ones = (recorded.named(name)[0] for name in ("outer", "inner", "aten::ones"))
        self.assertTrue(outer.start <= inner.start <= ones.start <= ones.end <= inner.end <= outer.end)
        self.assertEqual((outer.scope, inner.scope), (7, 7))

    def test_threads_that_come_later_are_seen(self):
        with captured() as recorded:
            threads = [threading.Thread(target=lambda: torch.ones(2).add(1)) for _ in range(5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(len(recorded.named("aten::add")), 5)

    def test_nothing_is_recorded_before_and_after(self):
        torch.ones(2).sub(1)
        with captured() as recorded:
            torch.ones(2).add(1)
        torch.ones(2).sub(1)
        self.assertEqual(recorded.named("aten::sub"), [])
        self.assertEqual(len(recorded.named("aten::add")), 1)

    def test_an_operator_that_raises_ends(self):
        with captured() as recorded:
            with self.assertRaises(RuntimeError):
                torch.mm(torch.ones(2, 3), torch.ones(2, 3))
        self.assertEqual(len(recorded.named("aten::mm")), 1)

    def test_only_the_device_means_operators_without_details(self):
        with captured(activities={"npu"}, record_shapes=True, level="1") as recorded:
            torch.ones(2).add(1)
        self.assertEqual(recorded.named("aten::add")[0].shapes, "")

    def test_level_none_records_no_operators(self):
        with captured(activities={"npu"}, level="none", mstx=True) as recorded:
            torch.ones(2).add(1)
        self.assertEqual(recorded.ops, [])


class Memory(NativeTest):
    def test_allocations_balance(self):
        model, optimizer = small_model()
        train(model, optimizer, 1)
        with captured(profile_memory=True) as recorded:
            train(model, optimizer, 3)
        live, total = {}, None
        for event in recorded.memory:
            if event.kind == 0:
                self.assertNotIn(event.address, live)
                self.assertGreaterEqual(event.size, 0)
                live[event.address] = event.size
            else:
                self.assertEqual(-event.size, live.pop(event.address))
        self.assertGreater(len(recorded.memory), 100)
        first = recorded.memory[0]
        base = first.allocated - first.size
        self.assertEqual(sum(event.size for event in recorded.memory), sum(live.values()))
        if len({event.thread for event in recorded.memory}) == 1:
            self.assertEqual(recorded.memory[-1].allocated - base, sum(live.values()))

    def test_a_block_has_its_size_and_device(self):
        with captured(profile_memory=True) as recorded:
            torch.empty(1000, dtype=torch.float32)
        (allocation,) = [event for event in recorded.memory if event.kind == 0 and event.size == 4000]
        self.assertEqual((allocation.device_type, allocation.device_index, allocation.component), (20, 0, 0))

    def test_tensors_survive_the_capture(self):
        with captured(profile_memory=True):
            kept = torch.ones(100)
        self.assertEqual(kept.add(1).sum().item(), 200)
        kept.resize_(1000)
        del kept

    def test_parameters_are_listed(self):
        model, optimizer = small_model()
        with captured(profile_memory=True, record_shapes=True, with_stack=True) as recorded:
            train(model, optimizer, 1)
        texts = [fields[1] for _, fields in recorded.parameters if 1 in fields]
        weight = hex(model[0].weight._cdata)
        self.assertTrue(any(text.startswith(f"weight){weight};") for text in texts), texts)
        self.assertTrue(any("exp_avg>" in fields.get(2, "") for _, fields in recorded.parameters))


class Python(NativeTest):
    def test_stacks_name_file_line_and_function(self):
        def inner():
            return torch.ones(2).add(1)

        with captured(with_stack=True) as recorded:
            line = sys._getframe().f_lineno + 1
            inner()
        frames = recorded.named("aten::add")[0].stack.split(";")
        self.assertEqual(frames[0], f"{__file__}({inner.__code__.co_firstlineno + 1}): inner")
        self.assertEqual(frames[1], f"{__file__}({line}): test_stacks_name_file_line_and_function")

    def test_backward_operators_have_no_stack(self):
        model, optimizer = small_model()
        with captured(with_stack=True) as recorded:
            train(model, optimizer, 1)
        self.assertTrue(all(op.stack == "" for op in recorded.ops if op.scope == 1))

    def test_modules_of_an_operator_outermost_first(self):
        model, _ = small_model()
        with captured(with_modules=True) as recorded:
            model(torch.ones(4, 8))
        self.assertEqual({op.modules for op in recorded.named("aten::addmm")}, {"Sequential;Linear"})
        self.assertEqual(recorded.named("aten::addmm")[0].stack, "")

    def test_calls_and_returns_pair_up(self):
        model, optimizer = small_model()
        with captured(with_stack=True) as recorded:
            thread = threading.Thread(target=train, args=(model, optimizer, 1))
            thread.start()
            thread.join()
        open_calls = collections.Counter()
        for call in recorded.calls:
            open_calls[call.thread] += 1 if call.tag in (0, 2) else -1
            self.assertGreaterEqual(open_calls[call.thread], 0)
        self.assertEqual(len(open_calls), 2)
        self.assertTrue(all(call.key in recorded.call_names for call in recorded.calls))
        names = [recorded.call_names[call.key] for call in recorded.calls if call.tag == 0]
        self.assertIn(f"Sequential######{id(model)}", names)
        self.assertTrue(any(name.endswith("): train") for name in names))
        # Frames from before the capture come first, at its begin.
        self.assertEqual({call.time for call in recorded.calls[:3]}, {recorded.calls[0].time})

    def test_the_interpreter_is_left_as_it_was(self):
        before = sys.getprofile(), threading.getprofile() if hasattr(threading, "getprofile") else threading._profile_hook
        with captured(with_stack=True):
            torch.ones(2)
        after = sys.getprofile(), threading.getprofile() if hasattr(threading, "getprofile") else threading._profile_hook
        self.assertEqual(before, after)

    def test_recursion_is_survived(self):
        def deep(level):
            return torch.ones(1) if level == 0 else deep(level - 1)

        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(12000)
        try:
            with captured(with_stack=True) as recorded:
                deep(10000)
        finally:
            sys.setrecursionlimit(limit)
        self.assertEqual(len(recorded.named("aten::ones")[0].stack.split(";")), 128)

    def test_collections_of_garbage(self):
        with captured(gc_detect_threshold=0) as recorded:
            gc.collect()
        self.assertTrue(recorded.collections)
        pid, start, end = recorded.collections[0]
        self.assertEqual(pid, os.getpid())
        self.assertGreater(end, start)
        with captured(gc_detect_threshold=60_000) as recorded:
            gc.collect()
        self.assertEqual(recorded.collections, [])
        self.assertEqual([callback for callback in gc.callbacks if "gc_hook" in repr(callback)], [])


class Marks(NativeTest):
    def test_data_loader_and_checkpoints(self):
        loader = torch.utils.data.DataLoader(torch.arange(4.0), batch_size=2)
        before = torch.save, torch.utils.data.dataloader._BaseDataLoaderIter.__next__
        with captured(mstx=True) as recorded:
            list(loader)
            torch.save({"a": torch.ones(2)}, io.BytesIO())
        self.assertIn("steplens.mark", recorded.files)
        self.assertEqual(len(recorded.named("save_checkpoint")), 1)
        self.assertTrue([op for op in recorded.ops if op.name.startswith("enumerate(DataLoader)")])
        self.assertEqual(before, (torch.save, torch.utils.data.dataloader._BaseDataLoaderIter.__next__))


if __name__ == "__main__":
    unittest.main()
