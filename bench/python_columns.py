"""What reading in Python costs: `import steplens`, and the columns of 10 million slices for NumPy and Arrow, in time and memory.

    PYTHONPATH=BUILD/python python3 bench/python_columns.py [SLICES]

Times are the best of 5 on the wall clock, each of a job just opened from the cache; memory is what the process holds more afterwards.
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

BUDGET_MS = 50
IMPORT_BUDGET_MS = 30
REPEATS = 5


def make_trace(path, slices):
    with path.open("w", encoding="utf-8") as file:
        file.write('[{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"t"}}')
        for begin in range(0, slices, 10_000):
            file.write("".join(f',\n{{"ph":"X","name":"n{i % 97}","pid":1,"tid":1,"ts":"{1700000000000000 + 10 * i}.5","dur":{i % 9 + 1}}}'
                               for i in range(begin, min(slices, begin + 10_000))))
        file.write("]")


def resident_mb():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def measured(action, table):
    """(ms, MB more, what it gave) of an action that is done for the first time with a table."""
    before, begin = resident_mb(), time.perf_counter()
    kept = action(table)
    return (time.perf_counter() - begin) * 1e3, resident_mb() - before, kept


def take_buffers(table):
    return [memoryview(table[name]) for name in table.selected]


def take_batch(table):
    """Asks for the first batch as a library in C does: get_next is the second function of the stream."""
    capsule = table.__arrow_c_stream__()
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = pointer_of(capsule, b"arrow_array_stream")
    get_next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(ctypes.c_void_p.from_address(stream + 8).value)
    array = (ctypes.c_int64 * 10)()
    assert get_next(stream, ctypes.addressof(array)) == 0
    return capsule, array


def import_ms():
    script = "import time; begin = time.perf_counter(); import steplens; print(time.perf_counter() - begin)"
    return min(float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout) * 1e3
               for _ in range(REPEATS))


def report(what, milliseconds, budget, megabytes=None):
    memory = "" if megabytes is None else f", {megabytes:8.1f} MB more"
    print(f"{what:<44} {milliseconds:8.2f} ms (budget {budget} ms{'' if milliseconds <= budget else ', EXCEEDED'}){memory}")


def main():
    slices = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    report("import steplens", import_ms(), IMPORT_BUDGET_MS)
    import steplens

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "trace_view.json")
        make_trace(path, slices)
        os.environ["STEPLENS_CACHE_DIR"] = os.path.join(folder, "cache")
        steplens.open(path)
        for action, what in ((take_buffers, "all columns as buffers, as NumPy takes them"), (take_batch, "all columns as one Arrow batch")):
            results = []
            for _ in range(REPEATS):
                table = steplens.open(path).ranks[0].slices
                results.append(measured(action, table)[:2])
            best, grown = min(results)
            report(what, best, BUDGET_MS, grown)
        print(f"{len(table):,} slices, {len(table.selected)} columns, {sum(view.nbytes for view in take_buffers(table)) / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
