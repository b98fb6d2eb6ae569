"""The changed imports on a machine that has the real modules: stand-ins for torch_npu and mindspore whose calls are counted."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import steplens

TORCH_NPU = {
    "torch_npu/__init__.py": """
        import counts
        counts.add("import torch_npu")
        from . import npu, profiler
        class NPUTensor:
            def __init__(self, value):
                self.value = value
        def npu_format_cast(tensor, form):
            counts.add("npu_format_cast")
            return NPUTensor((tensor, form))
        """,
    "torch_npu/npu/__init__.py": """
        import counts
        class Stream:
            npu_stream = 7
        class config:
            allow_internal_format = True
        def set_device(device):
            counts.add(f"set_device {device}")
        def synchronize(device=None):
            counts.add("synchronize")
        def mstx():
            counts.add("the vendor's mstx")
        """,
    "torch_npu/profiler.py": "profile = 'of the vendor'\n",
    "torch_npu/optim/__init__.py": "class NpuFusedAdamW:\n    pass\n",
    "torch_npu/contrib/__init__.py": "",
    "torch_npu/contrib/transfer_to_npu.py": "import counts\ncounts.add('transfer_to_npu')\n",
}
MINDSPORE = {
    "mindspore/__init__.py": """
        import counts
        counts.add("import mindspore")
        from . import train
        from .train import Callback
        class Tensor:
            def __init__(self, value):
                self.value = value
        class Profiler:
            pass
        def set_context(**settings):
            counts.add(f"set_context {settings}")
        """,
    "mindspore/train.py": """
        import counts
        class Callback:
            def __init__(self):
                counts.add("Callback")
        """,
}
COUNTS = {"counts.py": "calls = []\nadd = calls.append\n"}
# A stand-in for torch that is loaded before: what makes `import torch_npu` register the device.
TORCH = {"torch/__init__.py": "", "torch/optim.py": ""}


class Forwarding(unittest.TestCase):
    def run_with(self, *parts, code):
        """Runs a program on a machine that has these modules; it prints what it asserts nothing about."""
        with tempfile.TemporaryDirectory() as root:
            for files in (COUNTS, *parts):
                for name, text in files.items():
                    path = pathlib.Path(root, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(textwrap.dedent(text), encoding="utf-8")
            package = str(pathlib.Path(steplens.__file__).resolve().parent.parent)
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, package])}
            for name in ("PROF_CONFIG_PATH", "MS_PROFILER_OPTIONS"):
                environment.pop(name, None)
            result = subprocess.run([sys.executable, "-B", "-c", "from counts import calls\n" + textwrap.dedent(code)], env=environment,
                                    capture_output=True, text=True, timeout=60, cwd=root)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")

    def test_names_of_torch_npu_are_the_real_ones(self):
        self.run_with(TORCH_NPU, TORCH, code="""
            import torch
            import steplens.torch_npu as torch_npu
            assert calls == ["import torch_npu"], calls  # registers the device, as the import it replaces does
            torch_npu.npu.set_device(3)
            torch_npu.npu.synchronize()
            cast = torch_npu.npu_format_cast("x", 29)
            assert calls[1:] == ["set_device 3", "synchronize", "npu_format_cast"], calls
            import torch_npu as real
            assert torch_npu.npu_format_cast is real.npu_format_cast
            assert torch_npu.npu.Stream is real.npu.Stream
            assert isinstance(cast, torch_npu.NPUTensor) and isinstance(cast, real.NPUTensor)
            torch_npu.npu.config.allow_internal_format = False
            assert real.npu.config.allow_internal_format is False
            assert torch_npu.optim.NpuFusedAdamW is __import__("torch_npu.optim").optim.NpuFusedAdamW
            assert calls.count("import torch_npu") == 1
            """)

    def test_the_profiler_and_its_marks_are_ours(self):
        self.run_with(TORCH_NPU, TORCH, code="""
            import steplens.torch_npu as torch_npu
            assert torch_npu.profiler.profile.__module__.startswith("steplens."), torch_npu.profiler.profile
            assert callable(torch_npu.npu.mstx.mark)
            from steplens.torch_npu.npu import mstx, set_device
            set_device("npu:1")
            assert calls == ["import torch_npu", "set_device npu:1"], calls
            assert torch_npu.npu._stream.handle(torch_npu.npu.Stream()) == 7
            """)

    def test_modules_inside_are_imported_from_the_real_package(self):
        self.run_with(TORCH_NPU, TORCH, code="""
            from steplens.torch_npu.contrib import transfer_to_npu
            assert calls[-1] == "transfer_to_npu", calls
            import steplens.torch_npu.optim as optim
            import torch_npu.optim, importlib
            assert optim is torch_npu.optim
            assert optim.__spec__.name == optim.__name__ == "torch_npu.optim"
            from torch_npu.contrib import transfer_to_npu as real
            assert real is transfer_to_npu and calls.count("transfer_to_npu") == 1
            try:
                import steplens.torch_npu.nothing_like_this
            except ModuleNotFoundError:
                pass
            else:
                raise AssertionError
            """)

    def test_pickles_name_the_real_classes(self):
        self.run_with(TORCH_NPU, TORCH, code="""
            import pickle
            import steplens.torch_npu as torch_npu
            text = pickle.dumps(torch_npu.NPUTensor(5))
            assert b"steplens" not in text
            again = pickle.loads(text)
            assert type(again) is torch_npu.NPUTensor and again.value == 5
            assert pickle.loads(pickle.dumps(torch_npu.npu.set_device)) is torch_npu.npu.set_device
            """)

    def test_our_own_imports_do_not_load_the_real_module(self):
        self.run_with(TORCH_NPU, TORCH, MINDSPORE, code="""
            import torch, sys
            import steplens.megatron, steplens.rl, steplens.mindspore
            assert calls == [] and "torch_npu" not in sys.modules and "mindspore" not in sys.modules, calls
            """)

    def test_names_that_are_nowhere(self):
        self.run_with(TORCH_NPU, TORCH, code="""
            import steplens.torch_npu as torch_npu
            for module in (torch_npu, torch_npu.npu):
                try:
                    module.no_such_name
                except AttributeError as problem:
                    assert "torch_npu" in str(problem), problem
                else:
                    raise AssertionError
            assert "npu_format_cast" in dir(torch_npu) and "set_device" in dir(torch_npu.npu)
            """)

    def test_without_the_real_module_the_host_is_the_device(self):
        self.run_with(code="""
            import pickle
            import steplens.torch_npu as torch_npu
            assert torch_npu.npu.set_device(0) is None and torch_npu.npu.synchronize() is None
            assert torch_npu.npu.current_stream() is torch_npu.npu.default_stream()
            from steplens.torch_npu.npu import Event, is_available
            assert not hasattr(torch_npu, "npu_format_cast") and not hasattr(torch_npu.npu, "empty_cache")
            try:
                torch_npu.npu_format_cast
            except AttributeError as problem:
                assert "torch_npu is not installed" in str(problem), problem
            assert isinstance(pickle.loads(pickle.dumps(torch_npu.npu.Stream())), torch_npu.npu.Stream)
            """)

    def test_a_program_that_puts_us_in_the_real_one_s_place(self):
        self.run_with(code="""
            import sys
            import steplens.torch_npu
            sys.modules["torch_npu"] = steplens.torch_npu
            import torch_npu
            assert torch_npu.npu.set_device(0) is None
            assert not hasattr(torch_npu, "npu_format_cast")
            """)

    def test_a_real_module_that_is_broken_says_so_itself(self):
        self.run_with({"torch_npu/__init__.py": "import libascend_hal_is_missing\n"}, code="""
            import steplens.torch_npu as torch_npu
            try:
                torch_npu.npu_format_cast
            except ModuleNotFoundError as problem:
                assert problem.name == "libascend_hal_is_missing"
            else:
                raise AssertionError
            """)

    def test_mindspore_is_loaded_when_a_name_of_it_is_used(self):
        self.run_with(MINDSPORE, code="""
            import pickle, sys
            import steplens.mindspore as ms
            assert calls == [], calls
            ms.set_context(mode=0)
            assert calls == ["import mindspore", "set_context {'mode': 0}"], calls
            import mindspore
            assert ms.Tensor is mindspore.Tensor and ms.Callback is mindspore.Callback
            assert ms.Profiler is not mindspore.Profiler
            assert b"steplens" not in pickle.dumps(ms.Tensor(1))
            from steplens.mindspore.train import Callback
            assert Callback is mindspore.train.Callback
            """)

    def test_the_monitor_is_a_callback_of_mindspore(self):
        self.run_with(MINDSPORE, code="""
            import steplens.mindspore as ms
            import mindspore
            monitor = ms.profiler.DynamicProfilerMonitor("conf")
            assert isinstance(monitor, mindspore.Callback) and isinstance(monitor, ms.profiler.DynamicProfilerMonitor)
            assert calls.count("Callback") == 1
            """)

    def test_without_mindspore_a_callback_is_a_plain_class(self):
        self.run_with(code="""
            import steplens.mindspore as ms
            class StopAtStep(ms.Callback):
                def __init__(self):
                    super().__init__()
                    self.seen = []
                def step_begin(self, run_context):
                    self.seen.append(run_context)
            one = StopAtStep()
            one.on_train_begin(None)
            one.on_train_step_begin(4)
            one.step_end(4)
            assert one.seen == [4]
            assert ms.train.Callback is ms.Callback
            assert isinstance(ms.profiler.DynamicProfilerMonitor("conf"), ms.Callback)
            assert not hasattr(ms, "Tensor")
            """)


if __name__ == "__main__":
    unittest.main()
