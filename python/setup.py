"""pip install ./python: builds the native parts with the CMake of the tree around and installs the package.

Nothing is downloaded: setuptools and wheel are Debian's (python3-setuptools, python3-wheel); there is no pyproject.toml because
pip would then want to fetch them anew (newer pips: add --no-build-isolation). Variables:

    STEPLENS_BUILD_DIR   the build folder (default: build/pip of the tree)
    STEPLENS_PROGRAM     the program `steplens` to install with the package (default: build/steplens, if it is there)
"""

import glob
import os
import shutil
import subprocess
import sys

from setuptools import Distribution, find_packages, setup
from setuptools.command.build_py import build_py

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(HERE)
NATIVE = ("_native.abi3.so", "_pytrace.*.so", "libsteplens_*.so", "torch_version.txt")


BUILD = os.environ.get("STEPLENS_BUILD_DIR") or os.path.join(TREE, "build", "pip")


def version():
    with open(os.path.join(TREE, "VERSION"), encoding="utf-8") as file:
        return file.read().strip()


def build_native():
    """Builds the target `python`; returns the folder with its files."""
    configure = ["cmake", "-S", TREE, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", "-DSTEPLENS_BUILD_TESTS=OFF",
                 "-DSTEPLENS_BUILD_BENCH=OFF", f"-DPython3_EXECUTABLE={sys.executable}"]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    subprocess.run(configure, check=True)
    subprocess.run(["cmake", "--build", BUILD, "--target", "python", "--parallel"], check=True)
    return os.path.join(BUILD, "python", "steplens")


class BuildWithNative(build_py):
    def run(self):
        super().run()
        package = os.path.join(self.build_lib, "steplens")
        built = build_native()
        for pattern in NATIVE:
            for path in glob.glob(os.path.join(built, pattern)):
                shutil.copy(path, package)  # follows links: the libraries themselves
        shutil.copy(os.path.join(TREE, "VERSION"), package)
        bootstrap = os.path.join(package, "_bootstrap")
        os.makedirs(bootstrap, exist_ok=True)
        shutil.copy(os.path.join(HERE, "steplens", "_bootstrap", "sitecustomize.py"), bootstrap)
        program = os.environ.get("STEPLENS_PROGRAM") or os.path.join(TREE, "build", "steplens")
        if os.path.isfile(program):
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
    description="Records where the time of a training step goes",
    license="Apache-2.0",
    python_requires=">=3.11",
    packages=find_packages(HERE),
    package_dir={"": "."},
    zip_safe=False,
    entry_points={"console_scripts": ["steplens = steplens.__main__:main"]},
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildWithNative},
    options={"egg_info": {"egg_base": BUILD}, "build": {"build_base": os.path.join(BUILD, "wheel")}},  # nothing in the sources
)
