"""pip install ./python: builds the native parts with the CMake of the tree around, and the program if it is missing, and installs them.

Nothing is downloaded: setuptools and wheel are Debian's (python3-setuptools, python3-wheel); there is no pyproject.toml because
pip would then want to fetch them anew (newer pips: add --no-build-isolation). Variables:

    STEPLENS_BUILD_DIR   the build folder (default: build/pip of the tree)
    STEPLENS_PROGRAM     the program `steplens` to install with the package (default: build/steplens, built with `make` if missing)
    STEPLENS_TORCH_ROOTS folders of PyTorch installations to record operators of, separated by `;` (default: the one this Python imports)
"""

import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig

from setuptools import Distribution, find_packages, setup
from setuptools.command.build_py import build_py

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(HERE)
NATIVE = ("_native.*.so", "_pytrace.*.so", "libsteplens_*.so")


BUILD = os.environ.get("STEPLENS_BUILD_DIR") or os.path.join(TREE, "build", "pip")


def version():
    with open(os.path.join(TREE, "VERSION"), encoding="utf-8") as file:
        return file.read().strip()


def run(command, advice):
    """Ends the installation with `advice` if the command cannot be run or fails."""
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        sys.exit(f"steplens was not installed: {problem}. {advice}")


def torch_roots():
    """PyTorch as this Python would import it, if its headers came along (Debian's are elsewhere, and found by CMake)."""
    roots = os.environ.get("STEPLENS_TORCH_ROOTS")
    if roots is not None:
        return roots
    spec = importlib.util.find_spec("torch")
    root = os.path.dirname(spec.origin) if spec and spec.origin else ""
    return root if os.path.exists(os.path.join(root, "include", "ATen", "record_function.h")) else ""


def build_native():
    """Builds the target `python`; returns the folder with its files."""
    configure = ["cmake", "-S", TREE, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", "-DSTEPLENS_BUILD_TESTS=OFF",
                 "-DSTEPLENS_BUILD_BENCH=OFF", f"-DPython3_EXECUTABLE={sys.executable}",
                 f"-DSTEPLENS_TORCH_ROOTS={torch_roots()}"]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    missing = f"Run scripts/setup in {TREE}: it installs what the build needs."
    run(configure, missing)
    run(["cmake", "--build", BUILD, "--target", "python", "--parallel"], missing)
    return os.path.join(BUILD, "python", "steplens")


def find_program():
    """The program to install; builds it on a tree that was never built."""
    program = os.environ.get("STEPLENS_PROGRAM")
    if program is None:
        program = os.path.join(TREE, "build", "steplens")
        if not os.path.isfile(program):
            run(["make", "-C", TREE, "program", "SETUP=true"],
                f"Run make in {TREE} first: it installs what the build needs.")
    if not os.path.isfile(program):
        sys.exit(f"steplens was not installed: {program} is not a file (STEPLENS_PROGRAM names the program to install)")
    return program


def find_reader(program):
    """The module that reads captures, of the build the program comes from; none if this Python cannot load it."""
    beside = os.path.dirname(os.path.abspath(program))
    for folder in (os.path.join(beside, "python", "steplens"), os.path.join(beside, "..", "lib", "steplens", "python", "steplens")):
        for path in glob.glob(os.path.join(folder, "_reader.*.so")):
            is_for_all = os.path.basename(path) == "_reader.abi3.so" and sys.version_info >= (3, 11)
            if is_for_all or sysconfig.get_config_var("SOABI") in path:
                return path
    return None


class BuildWithNative(build_py):
    def run(self):
        super().run()
        program = find_program()
        package = os.path.join(self.build_lib, "steplens")
        built = build_native()
        for pattern in NATIVE:
            for path in glob.glob(os.path.join(built, pattern)):
                shutil.copy(path, package)  # follows links: the libraries themselves
        shutil.copy(os.path.join(TREE, "VERSION"), package)
        reader = find_reader(program)
        if reader is None:
            print("steplens: without reading: no _reader module for this Python beside the program; recording does not need it")
        else:
            shutil.copy(reader, package)
            for types in glob.glob(os.path.join(os.path.dirname(reader), "_questions.pyi")):  # of what it answers
                shutil.copy(types, package)
        bootstrap = os.path.join(package, "_bootstrap")
        os.makedirs(bootstrap, exist_ok=True)
        shutil.copy(os.path.join(HERE, "steplens", "_bootstrap", "sitecustomize.py"), bootstrap)
        os.makedirs(os.path.join(package, "bin"), exist_ok=True)
        shutil.copy(program, os.path.join(package, "bin", "steplens"))


class BinaryDistribution(Distribution):
    """One wheel per version of Python and machine: it has native parts, though none that setuptools builds."""

    def has_ext_modules(self):
        return True


os.makedirs(BUILD, exist_ok=True)
setup(
    name="steplens",
    version=version(),
    description="Records where the time of a training step goes, and reads what was recorded",
    license="Apache-2.0",
    python_requires=">=3.9",
    packages=find_packages(HERE),
    package_data={"steplens": ["py.typed"]},
    package_dir={"": "."},
    zip_safe=False,
    entry_points={"console_scripts": ["steplens = steplens.__main__:main"]},
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildWithNative},
    options={"egg_info": {"egg_base": BUILD}, "build": {"build_base": os.path.join(BUILD, "wheel")}},  # nothing in the sources
)
