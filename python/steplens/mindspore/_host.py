"""What a profiled program needs of MindSpore where MindSpore is not installed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class Callback:
    """What a training calls at its events; each does nothing unless a subclass says so. The older names are called by the newer."""

    def __enter__(self) -> "Callback":
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def begin(self, run_context: Any) -> None:
        """Before the first epoch."""

    def epoch_begin(self, run_context: Any) -> None:
        pass

    def epoch_end(self, run_context: Any) -> None:
        pass

    def step_begin(self, run_context: Any) -> None:
        pass

    def step_end(self, run_context: Any) -> None:
        pass

    def end(self, run_context: Any) -> None:
        """After the last epoch."""

    def on_train_begin(self, run_context: Any) -> None:
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: Any) -> None:
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: Any) -> None:
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: Any) -> None:
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: Any) -> None:
        self.step_end(run_context)

    def on_train_end(self, run_context: Any) -> None:
        self.end(run_context)


NAMES = {"Callback": Callback, "train": SimpleNamespace(Callback=Callback)}
