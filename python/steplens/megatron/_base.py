"""What both kinds of step profilers are: a profile that may not be there."""

from __future__ import annotations

from typing import Any, Optional

from .. import _command
from .._config import Config


class BaseStepProfiler:
    """Does nothing where this process is not to record: `_profile` is None then."""

    def __init__(self) -> None:
        self._profile: Optional[_command.CommandProfile] = None

    def _make(self, args: Any, steps: Any, ranks: Any, sizes: tuple, kind: type = _command.CommandProfile) -> None:
        """The profile that the flags `args` ask for. `ranks`: "all" or a list; `sizes`: which arguments go to the metadata."""
        self._profile = _command.make_profile(
            level=args.profile_level, export_type=args.profile_export_type, save_path=args.profile_save_path,
            with_cpu=args.profile_with_cpu, data_simplification=args.profile_data_simplification, steps=steps,
            kind=kind, with_stack=args.profile_with_stack, profile_memory=args.profile_with_memory,
            record_shapes=args.profile_record_shapes)
        self._profile._config.ranks = ranks
        self._profile.add_metadata_json("distributed_args", _command.distributed_args(args, sizes))

    @property
    def enabled(self) -> bool:
        return self._profile is not None

    @property
    def config(self) -> Optional[Config]:
        """What is recorded; None if nothing is."""
        return self._profile._config if self._profile is not None else None

    def start(self) -> None:
        """Before the first iteration."""
        if self._profile is not None:
            self._profile.start()

    def step(self) -> None:
        """After each iteration."""
        if self._profile is not None:
            self._profile.step()

    def stop(self) -> None:
        """After the loop."""
        if self._profile is not None:
            self._profile.stop()

    def __enter__(self) -> "BaseStepProfiler":
        self.start()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self.stop()
