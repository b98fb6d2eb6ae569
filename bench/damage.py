"""What damage costs: a trace of 100 MB with one fault at each tenth of it, and with faults in every event, beside the same trace without."""

import gzip
import subprocess
import sys

COPIES = 3  # of a 32 MB trace
TENTHS = range(1, 10)


def make_trace(shared, folder):
    path = folder / f"kineto_{COPIES}.json"
    if not path.is_file():
        source = next((shared / "data/kineto/tb_plugin/resnet50_num_workers_0").glob("*.gz"))
        subprocess.run([sys.executable, shared / "tools/scale_kineto.py", source, path, str(COPIES)], check=True, stdout=subprocess.DEVNULL)
    return path


def border_near(text, place):
    """Behind the brace that closes an event."""
    opening = text.rindex(b"{", 0, text.index(b'"ph"', place))
    return text.rindex(b"}", 0, opening) + 1


def damaged_texts(text):
    """(what, function from a place to the damaged bytes)."""
    def bracket(place):
        at = border_near(text, place)
        return text[:at] + b"]" + text[at:]

    def brace(place):
        at = border_near(text, place)
        return text[:at - 1] + text[at:]

    return [("a ']' put in", bracket), ("a closing brace taken out", brace), ("512 bytes taken out", lambda place: text[:place] + text[place + 512:])]


def measure_damage(bench, shared, folder):
    path = make_trace(shared, folder)
    text = path.read_bytes()
    label = f"{len(text) / 1e6:.0f} MB Kineto trace"
    scratch = folder / "damaged.json"
    sound = bench.measure("trace", path, 1)

    def compare(what, contents, target, before):
        worst, kept = 0, 1.0
        for content in contents:
            scratch.write_bytes(content)
            times = bench.measure("trace", scratch, 1)
            worst = max(worst, times["cpu_s"] / before["cpu_s"])
            kept = min(kept, times["rows"] / before["rows"])
        bench.add(f"{label}, {what}: CPU time, times that of the sound one (at least {kept * 100:.2f} % of its rows kept)", f"{worst:.2f}", "at most 3",
                  worst <= 3 and kept >= target)

    for what, damage in damaged_texts(text):
        compare(f"{what} at each tenth", (damage(len(text) * tenth // 10) for tenth in TENTHS), 0.9999, sound)
    compare("every event without its closing brace", [text.replace(b"},\n  {", b",\n  {")], 0, sound)
    packed = gzip.compress(text, 1)
    scratch.write_bytes(packed)
    sound_packed = bench.measure("trace", scratch, 1)

    def flip(tenth):
        place = len(packed) * tenth // 10
        return packed[:place] + bytes([packed[place] ^ 0x55]) + packed[place + 1:]

    compare("as .json.gz, a byte changed at each tenth", map(flip, TENTHS), 0, sound_packed)
    scratch.unlink()
