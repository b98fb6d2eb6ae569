"""The sound captures that mutants are made of: one folder each, of every format steplens reads, all small."""

import gzip
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import fuzz_seeds  # noqa: E402
import make_framework  # noqa: E402
import make_prof  # noqa: E402


def kineto_events():
    """A short Kineto trace: operators, launches, kernels, arrows, memory, a step."""
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}}]
    for step in range(3):
        begin = 1000 + step * 1000
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": begin, "dur": 900})
        for i in range(8):
            ts, link = begin + 10 + i * 100, step * 8 + i + 1
            events += [
                {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": ts, "dur": 50.5,
                 "args": {"External id": link, "Sequence number": i, "Input Dims": [[2, 3], [3, 4]]}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts + 5, "dur": 3,
                 "args": {"correlation": link}},
                {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": link, "pid": 1, "tid": 1, "ts": ts + 5},
                {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": link, "pid": 0, "tid": 7, "ts": ts + 60, "bp": "e"},
                {"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce" if i == 7 else "gemm", "pid": 0, "tid": 7, "ts": ts + 60,
                 "dur": 30, "args": {"correlation": link, "device": 0, "stream": 7}},
                {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts + 6,
                 "args": {"Bytes": 512 if i % 2 == 0 else -512, "Addr": 4096, "Device Type": 1, "Device Id": 0, "Total Allocated": 512,
                          "Total Reserved": 1024}},
                {"ph": "C", "name": "GPU 0", "pid": 0, "ts": ts, "args": {"Utilization": i}}]
    return events


def kineto(folder):
    trace = {"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": kineto_events(), "baseTimeNanoseconds": 10}
    (folder / "rank0.pt.trace.json").write_text(json.dumps(trace), encoding="utf-8")
    trace["distributedInfo"]["rank"] = 1
    (folder / "rank1.pt.trace.json.gz").write_bytes(gzip.compress(json.dumps(trace).encode(), mtime=0))


def sample(folder):
    shutil.copytree(ROOT / "examples/sample", folder, dirs_exist_ok=True)


def raw(folder):
    shutil.copytree(ROOT / "examples/raw_ascend_pt", folder / "rank0_ascend_pt")
    make_framework.synthetic(20, str(folder / "rank1_ascend_pt"), stack=True)


def databases(folder):
    output = folder / "rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    fuzz_seeds.db_seed(output / "ascend_pytorch_profiler_0.db", fuzz_seeds.DB_TABLES)
    fuzz_seeds.db_seed(output / "analysis.db", fuzz_seeds.DB_TABLES)
    shutil.copy(ROOT / "examples/sample/rank0_ascend_pt/profiler_info_0.json", folder / "rank0_ascend_pt")


def nsys(folder):
    fuzz_seeds.db_seed(folder / "export.sqlite", fuzz_seeds.NSYS_TABLES)


def prof(folder):
    """Raw data of devices on their own, of two chips."""
    make_prof.make([folder / "two", "--ranks", 2, "--ops", 6])
    make_prof.make([folder / "old", "--chip", 1, "--ops", 4, "--level", "l0", "--no-comm"])


def raw_prof(folder):
    """Captures of torch_npu whose device data are raw."""
    make_prof.make([folder, "--ranks", 2, "--ops", 6, "--framework"])


def cluster(folder):
    for form in ("text", "db"):
        subprocess.run([sys.executable, ROOT / "tools/synth_cluster.py", folder / form, "--ranks", "4", "--tp", "2", "--steps", "2", "--layers",
                        "1", "--format", form, "--timeline", "--force"], check=True, stdout=subprocess.DEVNULL)


KINDS = {"sample": sample, "kineto": kineto, "raw": raw, "db": databases, "nsys": nsys, "prof": prof, "raw_prof": raw_prof, "cluster": cluster}


def make_captures(folder):
    """A folder for each kind; returns them by name."""
    out = {}
    for name, make in KINDS.items():
        out[name] = folder / name
        out[name].mkdir(parents=True)
        make(out[name])
    return out
