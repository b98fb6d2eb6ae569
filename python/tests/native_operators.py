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
from capture_support import NativeTest, captured
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


def tree_depths(nodes, depth=0):
    """Name, depth and length in ns of torch.profiler's own tree, in order of start."""
    for node in nodes:
        yield node.name, depth, node.duration_time_ns
        yield from tree_depths(node.children, depth + 1)


class SameAsTorchProfiler(NativeTest):
    """Both profilers watch the same run, so that nothing but the profilers can differ."""

    @classmethod
    def setUpClass(cls):
        model, optimizer = small_model()
        train(model, optimizer, 1)
        with captured(record_shapes=True) as cls.ours:
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profiler:
                train(model, optimizer)
        results = profiler.profiler.kineto_results  # before it is rounded to microseconds and merged
        cls.theirs = results.events()
        cls.tree = list(tree_depths(results.experimental_event_tree()))

    def test_same_names_and_counts(self):
        ours = collections.Counter(op.name for op in self.ours.ops)
        self.assertEqual(ours, collections.Counter(event.name() for event in self.theirs))
        self.assertGreater(sum(ours.values()), 300)

    def test_same_order_and_nesting(self):
        self.assertEqual({op.thread for op in self.ours.ops}, {threading.get_native_id()})
        self.assertEqual(raw_reader.depths(self.ours.ops), [(name, depth) for name, depth, _ in self.tree])

    def test_same_shapes(self):
        ours = collections.Counter((op.name, op.shapes) for op in self.ours.ops if op.scope == 0)
        theirs = collections.Counter((event.name(), ";".join(",".join(map(str, shape)) for shape in event.shapes()))
                                     for event in self.theirs if event.scope() == 0)
        self.assertEqual(ours, theirs)

    def test_same_sequence_numbers(self):
        def numbers(pairs):  # torch.profiler gives the engine's ranges their numbers later
            return collections.Counter((name, number) for name, number in pairs if number >= 0 and "evaluate" not in name)

        self.assertEqual(numbers((op.name, op.sequence) for op in self.ours.ops),
                         numbers((event.name(), event.sequence_nr()) for event in self.theirs))

    def test_times_agree(self):
        """The operators in the middle of the distribution last as long, within what the profilers cost each other."""
        megahertz = self.ours.info["start_info"]["freq"]
        ours = sorted((op.end - op.start) * 1000 / megahertz for op in self.ours.ops)
        theirs = sorted(length for _, _, length in self.tree)
        middle = len(ours) // 2
        self.assertLess(abs(ours[middle] - theirs[middle]), 0.3 * theirs[middle] + 500)


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

    def test_ranges_around_the_end_of_the_capture_are_kept(self):
        import steplens

        open_range = torch.autograd.profiler.record_function("around the end")
        ours = steplens.range("ours around the end")
        with captured() as capture:
            open_range.__enter__()
            ours.__enter__()
            torch.ones(2)
        ours.__exit__(None, None, None)
        open_range.__exit__(None, None, None)
        (kept,), (own,) = capture.named("around the end"), capture.named("ours around the end")
        (ones,) = capture.named("aten::ones")
        for op in (kept, own):
            self.assertTrue(op.start <= ones.start and ones.end <= op.end, (op, ones))

    def test_captures_of_mindspore_have_its_own_files_as_well(self):
        own = {"mindspore.op_range", "mindspore.memory_usage", "mindspore.record_shapes"}
        with captured(framework="mindspore", record_shapes=True, profile_memory=True, with_stack=True) as recorded:
            torch.ones(2).add(1)
        self.assertLessEqual(own, recorded.files)
        self.assertEqual(len(recorded.named("aten::add")), 1)
        with captured(record_shapes=True, profile_memory=True) as recorded:
            torch.ones(2).add(1)
        self.assertFalse(own & recorded.files)

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

    def test_operators_that_take_the_place_of_others_have_their_own_names(self):
        """Each definition is taken out of the framework before the next one is made, which then lies where it lay."""
        def use(name):
            library = torch.library.Library("steplens_test", "DEF")
            library.define(f"{name}(Tensor x) -> Tensor")
            library.impl(name, torch.neg, "CPU")
            torch._C._jit_get_operation(f"steplens_test::{name}")[0](torch.ones(1))

        names = [f"op_{number:02}" for number in range(40)]
        with captured() as recorded:
            for name in names:
                use(name)
        found = [op.name for op in recorded.ops if op.name.startswith("steplens_test::")]
        self.assertEqual(found, [f"steplens_test::{name}" for name in names])

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
