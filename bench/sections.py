"""The measurements that are programs of their own: recording (C, Python, analysis) and the viewer. Their tables go below the others in
docs/performance.md.

    python3 bench/sections.py BUILD_DIR     measures these alone and replaces their part of the page
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import analyse

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/performance.md"
FIRST = "## Recording, in the program"
PYTHON = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable


def output_of(command, **environment):
    """What a measurement prints, whether its budgets hold or not; one sentence if it could not run."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, env=dict(os.environ, **environment))
    return done.stdout.strip() or f"not measured: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no output'}"


def viewer_sections(program):
    """The server and the page, on the same large job."""
    with tempfile.TemporaryDirectory() as scratch:
        server = output_of([PYTHON, ROOT / "bench/viewer.py", "--program", program, "--keep", scratch])
        page = output_of([shutil.which("npm") or "npm", "--prefix", ROOT / "ui", "run", "--silent", "bench"], STEPLENS=str(program), JOB=f"{scratch}/job")
        return [("## The viewer's server", server), ("## The viewer's start, frames and memory", page)]


def sections(build):
    program = build / "steplens"
    parts = [(FIRST, output_of([build / "bench/collect_bench"])),
             ("## Recording PyTorch, compared with torch.profiler", output_of([PYTHON, ROOT / "bench/python_record.py"], PYTHONPATH=str(build / "python"))),
             ("## Reading in Python", output_of([PYTHON, ROOT / "bench/python_columns.py"], PYTHONPATH=str(build / "python"))),
             ("## `steplens analyse`", analyse.measure_analyse(program)),
             *viewer_sections(program)]
    lines = []
    for title, text in parts:
        print(f"{title}\n{text}\n")
        lines += [title, "", "```text", re.sub(r"\x1b\[[0-9;]*m", "", text), "```", ""]
    return lines


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    page = PAGE.read_text(encoding="utf-8").split(FIRST)[0].rstrip("\n")
    PAGE.write_text("\n".join([page, ""] + sections(build)), encoding="utf-8")


if __name__ == "__main__":
    main()
