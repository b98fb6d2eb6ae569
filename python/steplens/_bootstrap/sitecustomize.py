"""Run by Python at its start under `steplens record`. Must never break a program: every failure is one line on standard error."""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_users_own():
    """The sitecustomize that this one hides."""
    others = [folder for folder in sys.path if os.path.abspath(folder or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _start_recording():
    package = os.path.dirname(os.path.dirname(_HERE))
    if package not in sys.path:
        sys.path.append(package)
    from steplens import _autorecord

    _autorecord.install()


try:
    _run_users_own()
finally:
    if os.environ.get("STEPLENS_RECORD"):
        try:
            _start_recording()
        except Exception as problem:
            sys.stderr.write(f"steplens: this program is not recorded: {problem}\n")
