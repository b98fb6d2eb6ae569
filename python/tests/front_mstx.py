"""Marks of both frameworks, and FLOP marks of torch."""

import sys
import threading
import types
import unittest
import warnings
from unittest import mock

from support import FakeNative, FrontTest, needs
from steplens import _marks
from steplens.mindspore.profiler import mstx as ms_mstx
from steplens.torch_npu import npu
from steplens.torch_npu.npu import mstx
from steplens.torch_npu.profiler import _flops, _npu_flops


class TorchMarks(FrontTest):
    def test_marks_and_ranges_reach_the_recorder(self):
        mstx.mark("m", domain="d")
        first = mstx.range_start("a")
        second = mstx.range_start("b", npu.current_stream(), "d")
        mstx.range_end(second, "d")
        mstx.range_end(first)
        mstx.range_end(0)
        self.assertEqual(self.native.log, [("mark", "m", "d"), ("start", "a", "default"), ("start", "b", "d"),
                                           ("end", 2, "d"), ("end", 1)])

    def test_a_stream_of_the_device_goes_along(self):
        class NpuStream(npu.Stream):
            npu_stream = 0x5000

        mstx.mark("m", NpuStream())
        mstx.range_push("p", NpuStream(), "d")
        mstx.range_pop("d")
        with mstx.annotate("a", NpuStream()):
            pass
        self.assertEqual(self.native.log, [("mark", "m", "default", 0x5000), ("start", "p", "d", 0x5000),
                                           ("end", 1, "d"), ("start", "a", "default", 0x5000), ("end", 2)])

    def test_the_plain_module_takes_handles(self):
        import steplens.mstx as plain

        plain.mark("m")
        plain.mark("m", 7)
        self.assertEqual(plain.range_start("r", stream=7), 1)
        plain.range_end(1)
        plain.range_end()
        plain.mark()
        self.assertEqual(plain.range_start(None), 0)
        self.assertEqual(self.native.log, [("mark", "m", "default"), ("mark", "m", "default", 7), ("start", "r", "default", 7),
                                           ("end", 1)])
        for wrong in ("7", 7.0, True, npu.Stream()):
            with self.assertRaises(TypeError):
                plain.mark("m", wrong)
        with self.assertRaises(TypeError):
            plain.range_end("1")
        self.assertEqual(plain.get_tool_id(), 0x1000)
        _marks._native = _marks._Silent
        self.assertEqual((plain.get_tool_id(), plain.range_start("r", 7)), (0, 0))

    def test_push_and_pop_count_the_depth_by_thread_and_domain(self):
        self.assertEqual([mstx.range_push("a"), mstx.range_push("b"), mstx.range_push("x", domain="d")], [0, 1, 0])
        other = []
        thread = threading.Thread(target=lambda: other.extend([mstx.range_pop(), mstx.range_push("t"), mstx.range_pop()]))
        thread.start()
        thread.join()
        self.assertEqual(other, [-1, 0, 0])
        self.assertEqual([mstx.range_pop(), mstx.range_pop("d"), mstx.range_pop(), mstx.range_pop()], [1, 0, 0, -1])

    def test_while_nothing_records_the_results_are_neutral(self):
        _marks._native = FakeNative(records=False)
        self.assertEqual([mstx.range_start("a"), mstx.range_push("a"), mstx.range_pop()], [0, -1, -1])

    def test_wrong_arguments_give_a_python_warning_and_the_neutral_result(self):
        for call, expected in [
                (lambda: mstx.mark(""), None), (lambda: mstx.mark(5), None), (lambda: mstx.mark("a", stream=5), None),
                (lambda: mstx.mark("a", domain=5), None), (lambda: mstx.range_start(""), 0),
                (lambda: mstx.range_start("a", "stream"), 0), (lambda: mstx.range_push(None), -1),
                (lambda: mstx.range_pop(5), -1), (lambda: mstx.range_end("1"), None), (lambda: mstx.range_end(1, 5), None)]:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.assertEqual(call(), expected)
            self.assertEqual(len(caught), 1)
            self.assertIn("Invalid", str(caught[0].message))
        self.assertEqual(self.native.log, [])

    def test_annotate_is_a_context_manager_and_a_decorator(self):
        @mstx.annotate()
        def work(value):
            return value + 1

        @mstx.mstx_range("named", domain="d")
        def fails():
            raise ValueError

        with mstx.annotate("block"):
            self.assertEqual(work(1), 2)
        with self.assertRaises(ValueError):
            fails()
        self.assertEqual(work.__name__, "work")
        self.assertEqual(self.native.log, [("start", "block", "default"), ("start", "work", "default"), ("end", 2), ("end", 1),
                                           ("start", "named", "d"), ("end", 3, "d")])

    def test_one_annotation_may_be_nested(self):
        mark = mstx.annotate("again")
        with mark, mark:
            pass
        self.assertEqual([item[1] for item in self.native.log], ["again", "again", 2, 1])

    def test_events_are_ranges(self):
        begin, end = npu.Event(enable_timing=True), npu.Event(enable_timing=True)
        begin.record()
        end.record()
        self.assertGreaterEqual(begin.elapsed_time(end), 0)
        self.assertEqual([item for item in self.native.log if item != "range_end"],
                         [("begin", "Event::record"), ("begin", "Event::record"), ("begin", "Event::elapsed_time")])
        with self.assertRaises(RuntimeError):
            npu.Event().elapsed_time(end)
        self.assertEqual(self.native.log.count("range_end"), 4)


class MindSporeMarks(FrontTest):
    def test_ids_are_its_own_and_end_the_native_range(self):
        self.native._next = 40
        first = ms_mstx.range_start("a")
        second = ms_mstx.range_start("b", domain="d")
        self.assertEqual(second, first + 1)
        ms_mstx.range_end(second, "d")
        ms_mstx.range_end(first)
        ms_mstx.range_end(first)
        ms_mstx.mark("m")
        self.assertEqual(self.native.log, [("start", "a", "default"), ("start", "b", "d"), ("end", 42, "d"),
                                           ("end", 41), ("mark", "m", "default")])

    def test_a_range_ends_only_in_its_own_domain(self):
        range_id = ms_mstx.range_start("a", domain="d")
        self.warns("not open in domain 'other'", lambda: ms_mstx.range_end(range_id, "other"))
        self.quiet(lambda: ms_mstx.range_end(range_id, "d"))
        self.assertEqual(self.native.log, [("start", "a", "d"), ("end", 1, "d")])

    def test_wrong_arguments_warn_and_do_nothing(self):
        for call in (lambda: ms_mstx.mark(""), lambda: ms_mstx.mark(1), lambda: ms_mstx.mark("a", domain=""),
                     lambda: ms_mstx.mark("a", stream=1), lambda: ms_mstx.range_end(-1), lambda: ms_mstx.range_end("a"),
                     lambda: ms_mstx.range_end(True)):
            self.warns("Invalid", call)
        self.assertEqual(self.warns("Invalid", lambda: ms_mstx.range_start(None)), 0)
        self.quiet(lambda: ms_mstx.range_end(0))
        self.assertEqual(self.native.log, [])

    def test_while_nothing_records_the_id_is_zero(self):
        _marks._native = FakeNative(records=False)
        self.assertEqual(ms_mstx.range_start("a"), 0)


class Tensor:
    """As much of a tensor as the formulas look at."""

    def __init__(self, *shape, values=None):
        self.shape = shape
        self._values = values

    def tolist(self):
        return self._values


class NpuFlops(FrontTest):
    """The functions of torch_npu, which is not here: a module of that name whose functions do nothing."""

    def setUp(self):
        super().setUp()
        names = [target.split(":")[1] for target in _npu_flops.FORMULAS]
        self.npu = types.SimpleNamespace(**{name: lambda *_args, **_kwargs: "result" for name in names})
        patch = mock.patch.dict(sys.modules, {"torch_npu": self.npu})
        patch.start()
        self.addCleanup(patch.stop)
        _flops.install()
        self.addCleanup(_flops.remove)

    def flops(self, function, *args, **kwargs):
        """The number in the mark of a call, None without one."""
        del self.native.log[:]
        self.assertEqual(getattr(self.npu, function)(*args, **kwargs), "result")
        marks = [item for item in self.native.log if item[0] == "start"]
        if not marks:
            return None
        (_, message, domain), = marks
        number, name = message.split("-")
        self.assertEqual((domain, name), ("mfu_flops", function))
        return int(number)

    def test_attention_by_layout(self):
        # 2 batches, 4 heads, 6 queries, 10 keys, width 8, values of width 8: 2 * 2 * 4 * 60 * 16
        expected = 15360
        q, k = Tensor(2, 4, 6, 8), Tensor(2, 4, 10, 8)
        self.assertEqual(self.flops("npu_fusion_attention", q, k, k, 4, "BNSD"), expected)
        q, k = Tensor(2, 6, 4, 8), Tensor(2, 10, 4, 8)
        self.assertEqual(self.flops("npu_fusion_attention", q, k, k, 4, "BSND"), expected)
        q, k = Tensor(2, 6, 32), Tensor(2, 10, 16)  # keys and values have 2 heads only
        self.assertEqual(self.flops("npu_fusion_attention", q, k, k, 4, input_layout="BSH"), expected)
        self.assertEqual(self.flops("npu_fused_infer_attention_score", q, k, k, num_heads=4), expected)
        q, k = Tensor(6, 2, 32), Tensor(10, 2, 32)
        self.assertEqual(self.flops("npu_fusion_attention", q, k, k, 4, "SBH"), expected)
        self.assertIsNone(self.flops("npu_fusion_attention", q, k, k, 4, "NSD"))

    def test_attention_of_sequences_in_a_row(self):
        q, k, v = Tensor(9, 2, 8), Tensor(12, 2, 8), Tensor(12, 2, 4)  # 3 x 5, then 6 x 7 tokens
        self.assertEqual(self.flops("npu_fusion_attention", q, k, v, 2, "TND", actual_seq_qlen=[3, 9, 0], actual_seq_kvlen=[5, 12, 0]),
                         2 * 2 * 12 * (15 + 42))

    def test_attention_under_a_mask(self):
        long, short = Tensor(1, 1, 10, 1), Tensor(1, 1, 4, 1)

        def pairs(q, k, mode):
            flops = self.flops("npu_fusion_attention", q, k, k, 1, "BNSD", sparse_mode=mode)
            return None if flops is None else flops / 4

        self.assertEqual([pairs(long, short, mode) for mode in (0, 2, 3, 4)], [40, 32, 8, None])
        self.assertEqual([pairs(short, long, mode) for mode in (0, 2, 3)], [40, 8, 32])

    def test_products(self):
        self.assertEqual(self.flops("npu_all_gather_base_mm", Tensor(4, 8), Tensor(8, 16), "group", 2), 2 * 8 * 8 * 16)
        self.assertEqual(self.flops("npu_transpose_batchmatmul", Tensor(3, 2, 5), Tensor(2, 5, 7), perm_x1=[1, 0, 2]), 2 * 6 * 5 * 7)
        self.assertEqual(self.flops("npu_transpose_batchmatmul", Tensor(2, 3, 5), Tensor(2, 7, 5), perm_x2=[0, 2, 1]), 2 * 6 * 5 * 7)
        self.assertEqual(self.flops("npu_quant_matmul_gelu", Tensor(2, 3, 5), Tensor(5, 7), None), 2 * 6 * 5 * 7)
        self.assertEqual(self.flops("npu_grouped_matmul_swiglu_quant", Tensor(6, 5), Tensor(3, 5, 7), None, None, None), 2 * 6 * 5 * 7)

    def test_groups(self):
        x, weights = Tensor(9, 5), [Tensor(5, 7), Tensor(5, 3)]
        self.assertEqual(self.flops("npu_grouped_matmul", [Tensor(2, 5), Tensor(4, 5)], weights), 2 * (2 * 5 * 7 + 4 * 5 * 3))
        self.assertEqual(self.flops("npu_grouped_matmul", [x], weights, group_list=[2, 9]), 2 * (2 * 5 * 7 + 7 * 5 * 3))
        self.assertEqual(self.flops("npu_grouped_matmul", [x], weights, group_list=[2, 7], group_list_type=1), 2 * (2 * 5 * 7 + 7 * 5 * 3))
        self.assertEqual(self.flops("npu_grouped_matmul", [x], [Tensor(2, 5, 7)], group_list=[2, 9]), 2 * 9 * 5 * 7)
        self.assertIsNone(self.flops("npu_grouped_matmul", [x], weights))

    def test_products_with_an_exchange(self):
        x, weight = Tensor(4, 5), Tensor(2, 5, 7)
        self.assertEqual(self.flops("npu_alltoallv_gmm", x, weight, "group", 2, [2, 2], [3, 3]), 2 * 6 * 5 * 7)
        self.assertEqual(self.flops("npu_gmm_alltoallv", x, weight, "group", 2, [2, 2], [3, 3], mm_x=Tensor(2, 3), mm_weight=Tensor(4, 3),
                                    trans_mm_weight=True), 2 * 4 * 5 * 7 + 2 * 2 * 3 * 4)

    def test_blocks(self):
        mask = Tensor(1, 1, 2, 2, values=[[[[1, 0], [1, 1]]]])  # 6 x 5 tokens in blocks of 4 x 4: 4x4 + 2x4 + 2x1
        self.assertEqual(self.flops("npu_block_sparse_attention", Tensor(6, 1, 8), Tensor(5, 1, 8), Tensor(5, 1, 8), mask, [4, 4],
                                    actual_seq_lengths=[6], actual_seq_lengths_kv=[5]), 2 * 26 * 16)

    def test_arguments_that_do_not_fit_make_no_mark(self):
        self.assertIsNone(self.flops("npu_fusion_attention", 1, 2, 3))


@needs("torch")
class Flops(FrontTest):
    def setUp(self):
        super().setUp()
        import torch

        self.torch = torch
        self.before = {name: getattr(torch, name) for name in ("mm", "addmm", "bmm", "matmul")}
        self.linear = torch.nn.functional.linear
        _flops.install()
        self.addCleanup(_flops.remove)

    def marks(self, call):
        del self.native.log[:]
        call()
        return [item[1] for item in self.native.log if item[0] == "start"]

    def test_formulas(self):
        torch, ones = self.torch, self.torch.ones
        for call, expected in [
                (lambda: torch.mm(ones(2, 3), ones(3, 4)), "48-mm"),
                (lambda: torch.addmm(ones(2, 4), ones(2, 3), ones(3, 4)), "48-addmm"),
                (lambda: torch.bmm(ones(5, 2, 3), ones(5, 3, 4)), "240-bmm"),
                (lambda: torch.matmul(ones(3), ones(3)), "6-matmul"),
                (lambda: torch.matmul(ones(2, 3), ones(3)), "12-matmul"),
                (lambda: torch.matmul(ones(7, 1, 2, 3), ones(5, 3, 4)), f"{2 * 7 * 5 * 2 * 3 * 4}-matmul"),
                (lambda: ones(2, 3) @ ones(3, 4), "48-matmul"),
                (lambda: ones(2, 3).mm(ones(3, 4)), "48-mm"),
                (lambda: torch.nn.functional.linear(ones(7, 2, 3), ones(4, 3), ones(4)), f"{2 * 14 * 4 * 3}-linear"),
                (lambda: torch.mm(input=ones(2, 3), mat2=ones(3, 4)), "48-mm")]:
            self.assertEqual(self.marks(call), [expected])
            self.assertEqual({item[2] for item in self.native.log if item[0] == "start"}, {"mfu_flops"})
            self.assertEqual(len([item for item in self.native.log if item[0] == "end"]), 1)

    def test_modules_are_counted_once(self):
        model = self.torch.nn.Linear(3, 4)
        self.assertEqual(self.marks(lambda: model(self.torch.ones(2, 3))), ["48-linear"])

    def test_a_wrong_call_raises_what_it_always_did_and_closes_its_range(self):
        with self.assertRaises(RuntimeError):
            self.torch.mm(self.torch.ones(2, 3), self.torch.ones(4, 5))
        with self.assertRaises(TypeError):
            self.torch.mm(1)
        self.assertEqual([item[0] for item in self.native.log], ["start", "end"])
        self.assertEqual(self.marks(lambda: self.torch.mm(self.torch.ones(1, 1), self.torch.ones(1, 1))), ["2-mm"])

    def test_everything_is_put_back(self):
        _flops.remove()
        for name, function in self.before.items():
            self.assertIs(getattr(self.torch, name), function)
        self.assertIs(self.torch.nn.functional.linear, self.linear)
        self.assertNotIn("mm", vars(self.torch.Tensor))
        self.assertEqual(self.marks(lambda: self.torch.ones(1, 1) @ self.torch.ones(1, 1)), [])

    def test_more_functions_can_be_registered_and_the_later_wins(self):
        _flops.remove()
        before = dict(_flops._formulas)
        try:
            _flops.register("torch:relu", lambda value: 1)
            _flops.register("torch:relu", lambda value: value.numel())
            _flops.register("no_such_module:f", lambda: 1)
            _flops.install()
            self.assertEqual(self.marks(lambda: self.torch.relu(self.torch.ones(5))), ["5-relu"])
        finally:
            _flops._formulas.clear()
            _flops._formulas.update(before)
        with self.assertRaises(ValueError):
            _flops.register("relu", lambda: 1)


if __name__ == "__main__":
    unittest.main()
