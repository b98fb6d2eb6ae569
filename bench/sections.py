"""The measurements that are programs of their own: recording (C, Python, analysis) and the viewer. Their tables go below the others in
docs/performance.md.

    python3 bench/sections.py BUILD_DIR     measures these alone and replaces their part of the page
"""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/performance.md"
FIRST = "## Recording, in the program"
PYTHON = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable


def output_of(command, **environment):
    """What a measurement prints, whether its budgets hold or not; one sentence if it could not run."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, env=dict(os.environ, **environment))
    return done.stdout.strip() or f"not measured: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no output'}"


def record_training(program, folder):
    """A real recording to analyse: operators with shapes, types and stacks of a small transformer."""
    subprocess.run([program, "record", "--profile-step-start", "2", "--profile-step-end", "42", "--profile-with-stack", "--profile-record-shapes",
                    "--profile-with-memory", "--analyse", "no", "--profile-save-path", folder, "--", PYTHON, ROOT / "examples/train/train.py",
                    "--steps", "44", "--width", "32", "--length", "16"], check=True, capture_output=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    return next(folder.glob("*_ascend_pt"))


def measure_analyse(program):
    """CPU time, memory and size of `steplens analyse` to each form, one thread."""
    with tempfile.TemporaryDirectory() as scratch:
        capture = record_training(program, pathlib.Path(scratch))
        raw = sum(path.stat().st_size for path in (capture / "FRAMEWORK").iterdir())
        operators = int(json.loads(subprocess.run([program, "query", capture, "SELECT count(*) AS n FROM host_ops", "--format", "json"], check=True,
                                                  capture_output=True).stdout)[0]["n"])
        lines, sizes = [f"{operators} operators, {raw / 1e6:.1f} MB raw"], {}
        for form in ("text", "db"):
            best, peak = 1e9, 0
            for _ in range(3):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(["/usr/bin/env", program, "analyse", capture, "--force", "--jobs", "1", "--export-type", form], check=True, capture_output=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
                peak = max(peak, after.ru_maxrss)
            sizes[form] = sum(path.stat().st_size for path in (capture / "ASCEND_PROFILER_OUTPUT").iterdir())
            lines.append(f"to {form}: {best:.2f} CPU s, {operators / best / 1e6:.2f} M operators/s, {sizes[form] / 1e6:.1f} MB written (target 1 M operators/s to text)")
        lines.append(f"db / text: {sizes['db'] / sizes['text']:.2f} (target at most 0.35)")
        return "\n".join(lines)


def viewer_sections(program):
    """The server and the page, on the same large job."""
    with tempfile.TemporaryDirectory() as scratch:
        server = output_of([PYTHON, ROOT / "bench/viewer.py", "--program", program, "--keep", scratch])
        page = output_of([shutil.which("npm") or "npm", "--prefix", ROOT / "ui", "run", "--silent", "bench"], STEPLENS=str(program), JOB=f"{scratch}/job")
        return [("## The viewer's server", server), ("## The viewer's frames and memory", page)]


def sections(build):
    program = build / "steplens"
    parts = [(FIRST, output_of([build / "bench/collect_bench"])),
             ("## Recording PyTorch, beside torch.profiler", output_of([PYTHON, ROOT / "bench/python_record.py"], PYTHONPATH=str(build / "python"))),
             ("## `steplens analyse`", measure_analyse(program)),
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
