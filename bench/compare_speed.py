"""How long `steplens compare` takes beyond opening both sides, in CPU seconds, and how much memory.

    python3 bench/compare_speed.py PROGRAM [COPIES]

On a real rank repeated COPIES times (142: 300 MB of text a side), with all sheets and with the HTML report; on two GPU traces of 34 MB, made of a real one; on the
real pair of ranks. Needs the shared data.
"""

import gzip
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("STEPLENS_SHARED", ROOT.parent / "shared"))
LEVEL1 = SHARED / "data/ascend_pt/text/level1"
GPU = SHARED / "data/kineto/hta"
GPU_BYTES = 34_000_000


def cost(words, cache):
    """CPU seconds of a command and its peak of memory in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *map(str, words)], capture_output=True, text=True, check=False,
                          env=dict(os.environ, STEPLENS_CACHE_DIR=str(cache)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stderr}")
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds, int(done.stderr.split()[-1]) / 1024


def measure(program, title, base, new, scratch):
    output = scratch / "out"

    def opening():
        return sum(cost([program, "info", "--no-cache", path], scratch / "cache")[0] for path in (base, new))

    open_s = min(opening() for _ in range(2))
    for name, form, words in (("all sheets, csv", "csv", []), ("html report", "html", []), ("overall only", "csv", ["--enable_profiling_compare"])):
        seconds, peak = min(cost([program, "compare", "-bp", base, "-d", new, "-o", output, "--output_name", "r", "--format", form, "--no-cache", *words],
                                 scratch / "cache") for _ in range(2))
        print(f"{title}: {name}: {seconds:.2f} CPU s, {seconds - open_s:.2f} above opening both ({open_s:.2f}); {peak:.0f} MB", flush=True)


def repeated_gpu(scratch):
    """A trace of GPU_BYTES, copies of a real one behind each other."""
    source = max(GPU.rglob("*.json.gz"), key=lambda path: path.stat().st_size)
    events = json.loads(gzip.decompress(source.read_bytes()))["traceEvents"]
    text = json.dumps(events)
    span = 1 + max(event.get("ts", 0) + event.get("dur", 0) for event in events if "ts" in event) - min(event["ts"] for event in events if event.get("ts"))
    paths = []
    for side in range(2):
        out = [json.dumps(event) for event in events if "ts" not in event]
        for copy in range(max(1, GPU_BYTES // len(text))):
            for event in events:
                if "ts" not in event:
                    continue
                moved = dict(event, ts=event["ts"] + copy * span)
                if "dur" in event and side:
                    moved["dur"] = event["dur"] * 1.01
                if "id" in event:
                    moved["id"] = f"{event['id']}_{copy}"
                out.append(json.dumps(moved))
        paths.append(scratch / f"gpu{side}.json")
        paths[-1].write_text('{"traceEvents": [' + ",\n".join(out) + "]}")
    return paths


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    copies = sys.argv[2] if len(sys.argv) > 2 else "142"
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        measure(program, "real Level1 pair", LEVEL1 / "rank1_ascend_pt", LEVEL1 / "rank0_ascend_pt", scratch)
        measure(program, "GPU, 2 x 34 MB", *repeated_gpu(scratch), scratch)
        sides = []
        for rank in (1, 0):
            out = scratch / f"scaled{rank}"
            subprocess.run([sys.executable, SHARED / "tools/scale_trace.py", "--src", LEVEL1 / f"rank{rank}_ascend_pt", "--out", out, "--rank", str(rank),
                            "--copies", copies], check=True, stdout=subprocess.DEVNULL)
            sides.append(next(path for path in out.rglob("*_ascend_pt")))
        measure(program, f"text, {copies} steps", *sides, scratch)


if __name__ == "__main__":
    main()
