"""The tensors of operators and what the memory timeline makes of them."""

import gzip
import json
import os
import subprocess
import tempfile
import unittest

import torch

from capture_support import NativeTest, captured
from steplens._capture import Capture
from steplens._config import Config

torch.set_num_threads(1)
EVERYTHING = {"record_shapes": True, "profile_memory": True, "with_stack": True}


def text_of(tensor):
    """As the format wants it, from what Python knows about the tensor."""
    return (f"{tensor._cdata:#x};{tensor.storage().data_ptr():#x};float;4;{','.join(map(str, tensor.shape))};"
            f"{','.join(map(str, tensor.stride()))};0;-1")


class Tensors(NativeTest):
    def test_inputs_are_described_by_eight_items(self):
        x, y = torch.ones(3, 2), torch.ones(5, 3).t()[:, 2:4].t()  # a view: strides and storage are not the plain ones
        with captured(**EVERYTHING) as recorded:
            torch.addmm(x[0], y, x, beta=2)
        (addmm,) = recorded.named("aten::addmm")
        self.assertEqual(addmm.fields[5].split(")")[1:], [text_of(y), text_of(x)])
        self.assertEqual(addmm.shapes, "2;2,3;3,2;;")
        self.assertEqual(addmm.fields[7], "Int;Int")
        self.assertNotIn(6, addmm.fields)

    def test_lists_end_each_tensor(self):
        x, y = torch.ones(3), torch.ones(2)
        with captured(**EVERYTHING) as recorded:
            torch.cat([x, y])
        (cat,) = recorded.named("aten::cat")
        self.assertEqual(cat.fields[6], text_of(x) + ")" + text_of(y) + ")")
        self.assertEqual((cat.dtypes, cat.shapes), ("TensorList;Scalar", ";"))

    def test_what_has_no_storage_or_strides_leaves_them_empty(self):
        sparse = torch.eye(3).to_sparse()
        with captured(**EVERYTHING) as recorded:
            torch.sparse.sum(sparse)
        texts = [op.fields[5] for op in recorded.ops if 5 in op.fields]
        self.assertIn(f"{sparse._cdata:#x};;float;4;3,3;;0;-1", [text.split(")")[0] for text in texts])

    def test_a_hundred_tensors_are_kept(self):
        many = [torch.ones(1, 2, 3, 4) for _ in range(300)]
        with captured(**EVERYTHING) as recorded:
            torch.stack(many)
        (stack,) = recorded.named("aten::stack")
        self.assertEqual(stack.fields[6].split(")")[:-1], [text_of(tensor) for tensor in many])

    def test_only_with_shapes_memory_and_stacks_or_modules(self):
        for switches, expected in [({"with_stack": False, "with_modules": True}, True), ({"with_stack": False}, False),
                                   ({"profile_memory": False}, False), ({"record_shapes": False}, False)]:
            with captured(**{**EVERYTHING, **switches}) as recorded:
                torch.ones(2).add(torch.ones(2))
            self.assertEqual(5 in recorded.named("aten::add")[0].fields, expected, switches)


class Timeline(NativeTest):
    """An MLP trained with Adam: what each category must weigh is known."""

    def test_parameters_gradients_and_optimizer_state_have_their_bytes(self):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
        optimizer = torch.optim.Adam(model.parameters())
        parameters = 4 * (64 * 128 + 128 + 128 * 10 + 10)
        with tempfile.TemporaryDirectory() as root:
            capture = Capture(Config(activities={"cpu"}, **EVERYTHING), os.path.join(root, "capture"))
            capture.start()
            for _ in range(3):
                batch = torch.randn(32, 64)
                model(batch).sum().backward()
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            capture.stop()
            capture.finalize({})
            series = self.timeline(root, "timeline.json")[1]
            raw = self.timeline(root, "raw.json.gz")
        peak = [max(values) for values in zip(*series)]
        end = series[-1]
        self.assertEqual(peak[0], 0)
        self.assertEqual((peak[1], end[1]), (parameters, parameters))  # PARAMETER
        state = 2 * parameters + 4 * 4  # two moments of each parameter, and a step count of each of the four
        self.assertEqual((peak[2], end[2]), (state, state))  # OPTIMIZER_STATE
        self.assertEqual((peak[6], end[6]), (parameters, 0))  # GRADIENT
        batch_bytes = 32 * 64 * 4
        self.assertEqual((peak[3], end[3]), (2 * batch_bytes, batch_bytes))  # INPUT: the next one comes before the last one goes
        hidden = 32 * 128 * 4
        self.assertGreaterEqual(peak[5], 2 * hidden)  # ACTIVATION: before and after the ReLU
        self.assertLess(peak[5], 3 * hidden)
        self.assertGreater(sum(row[2] for row in raw if row[3] == 6), 0)  # AUTOGRAD_DETAIL

    def timeline(self, root, name):
        path = os.path.join(root, name)
        result = subprocess.run([os.environ["STEPLENS_PROGRAM"], "analyse", os.path.join(root, "capture"), "--export", "memory_timeline",
                                 "--output", path, "--device", "npu:0"], capture_output=True, text=True, timeout=120)
        self.assert_ran(result)
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
            return json.load(file)


class Stacks(NativeTest):
    """Stacks are read as far as they changed; however control moves, they are those of the interpreter."""

    def check(self, program):
        """`program(op)` calls op() wherever it likes; each call's stack must be the one Python reports there."""
        import sys

        x = torch.ones(1)
        expected = []

        def op():
            frame, lines = sys._getframe(1), []
            while frame is not None:
                lines.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
                frame = frame.f_back
            expected.append(";".join(f"{file}({line}): {name}" for file, line, name in lines))
            x.neg()

        with captured(with_stack=True) as recorded:
            program(op)
        stacks = [op.stack.split(";", 1)[1] for op in sorted(recorded.named("aten::neg"))]  # by start
        self.assertEqual(stacks, expected)
        self.assertGreater(len(stacks), 1)

    def test_calls_and_returns(self):
        def inner(op):
            op()
            op(); op()

        def outer(op):
            inner(op)
            for _ in range(2):
                op(); inner(op)
            op()

        self.check(lambda op: (outer(op), inner(op), op()))

    def test_generators_keep_their_place(self):
        def numbers(op):
            for i in range(3):
                op()
                yield i
            try:
                yield 9
            except ValueError:
                op()
                yield 10

        def program(op):
            one, two = numbers(op), numbers(op)
            for _ in range(3):
                next(one); op(); next(two)
            next(one)
            one.throw(ValueError())
            op()
            list(two)

        self.check(program)

    def test_exceptions_leave_many_frames_at_once(self):
        def deep(op, depth):
            if depth == 0:
                op()
                raise KeyError
            deep(op, depth - 1)

        def program(op):
            for depth in (5, 2, 7):
                try:
                    deep(op, depth)
                except KeyError:
                    op()

        self.check(program)

    def test_python_inside_an_operator_goes_on_between_operators(self):
        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(context, value, op):
                op()
                op()
                return value * 2

            @staticmethod
            def backward(context, gradient):
                return gradient * 2, None

        leaf = torch.ones(1, requires_grad=True)

        def program(op):
            value = Twice.apply(leaf, op)
            value.register_hook(lambda gradient: (op(),
                                                  op(), gradient)[2])
            value.backward()
            op()

        self.check(program)

    def test_operators_that_are_no_calls(self):
        x = torch.ones(1)

        class Box:
            def __add__(self, op):
                op()
                x + x  # an operator without a call of a function
                op()
                return self

        def program(op):
            box = Box()
            box + op
            x + x
            op()
            list(map(lambda other: other + op, [box, box]))
            op()

        self.check(program)

    def test_callbacks_from_c(self):
        def program(op):
            sorted([3, 1, 2], key=lambda value: (op(), value)[1])
            list(map(lambda _: op(), range(2)))

        self.check(program)

    def test_a_trace_function_of_the_user_is_no_caller(self):
        import sys

        def program(op):
            def tracer(frame, event, argument):
                if frame.f_code.co_name == "traced" and event == "call":
                    op()
                return None

            def traced():
                op()

            before = sys.gettrace()
            sys.settrace(tracer)
            try:
                traced()
            finally:
                sys.settrace(before)
            op()

        self.check(program)

    def test_threads_have_their_own(self):
        import threading

        def program(op):
            def work():
                for _ in range(3):
                    op()

            for _ in range(2):
                op()
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()

        self.check(program)


if __name__ == "__main__":
    unittest.main()
