"""Ways to damage a capture. Each takes a random.Random and a file or folder, and returns what it did in a few words."""

import csv
import io
import os
import re
import sqlite3

NUMBERS = ["0", "-1", "1", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e308", "-1e308", "1e400", "NaN", "inf",
           "0.1", "-0.0", "1736412474714493.390", "", "null", "true", "\"x\"", "[]", "{}", "2147483648", "4294967296"]
CELLS = [None, 0, -1, 2**63 - 1, -2**63, 1e308, float("inf"), "", "text", "1", "\x00", b"\xff\xfe\x00", "a" * 5000, 2**32, 0.5]
TOKENS = [b"{", b"}", b"[", b"]", b"\"", b",", b":", b"\\", b"\n", b"\x00", b"\xff", b"\"ph\":", b"e999", b"-"]


def flip(random, path):
    data = bytearray(path.read_bytes())
    for _ in range(random.choice([1, 1, 2, 8, 64])):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    path.write_bytes(data)
    return "bits flipped"


def cut(random, path):
    data = path.read_bytes()
    path.write_bytes(data[:random.randrange(len(data))])
    return "cut off"


def double(random, path):
    data = path.read_bytes()
    begin = random.randrange(len(data))
    block = data[begin:begin + random.choice([1, 16, 512, 4096])]
    at = random.randrange(len(data))
    path.write_bytes(data[:at] + block * random.choice([1, 1, 3, 40]) + data[at:])
    return "block doubled"


def remove(random, path):
    data = path.read_bytes()
    begin = random.randrange(len(data))
    path.write_bytes(data[:begin] + data[begin + random.choice([1, 2, 16, 512]):])
    return "block removed"


def insert_token(random, path):
    data = path.read_bytes()
    at = random.randrange(len(data))
    path.write_bytes(data[:at] + random.choice(TOKENS) * random.choice([1, 1, 2, 2000]) + data[at:])
    return "token inserted"


def change_number(random, path):
    text = path.read_bytes()
    places = [match.span() for match in re.finditer(rb"-?\d+(\.\d+)?", text)]
    if not places:
        return "no number to change"
    for begin, end in sorted(random.sample(places, min(len(places), random.choice([1, 1, 3, 30]))), reverse=True):
        text = text[:begin] + random.choice(NUMBERS).encode() + text[end:]
    path.write_bytes(text)
    return "numbers changed"


def change_words(random, path):
    """Numbers of binary records, at places that a record may begin at."""
    data = bytearray(path.read_bytes())
    for _ in range(random.choice([1, 1, 3, 30])):
        size = random.choice([2, 4, 8])
        if len(data) < size:
            return "too short for a word"
        at = random.randrange(len(data) // size) * size
        value = random.choice([0, 1, 2**(8 * size) - 1, 2**(8 * size - 1), 2**(8 * size - 1) - 1, random.getrandbits(8 * size)])
        data[at:at + size] = value.to_bytes(size, "little")
    path.write_bytes(data)
    return "words changed"


def swap_columns(random, path):
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        rows = list(csv.reader(file))
    width = max(map(len, rows), default=0)
    if width < 2:
        return "no columns to swap"
    a, b = random.sample(range(width), 2)
    for row in rows[random.choice([0, 0, 1, len(rows) // 2]):]:
        if len(row) > max(a, b):
            row[a], row[b] = row[b], row[a]
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    path.write_text(out.getvalue(), encoding="utf-8")
    return f"columns {a} and {b} swapped"


def change_cells(random, path):
    connection = sqlite3.connect(path)
    try:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(random.choice([1, 1, 2, 5])):
            table = random.choice(tables)
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            column = random.choice(columns)
            action = random.random()
            if action < 0.8:
                where = "" if action < 0.3 else f" WHERE rowid % {random.choice([2, 3, 7])} = 0"
                connection.execute(f'UPDATE "{table}" SET "{column}" = ?{where}', [random.choice(CELLS)])
            elif action < 0.9:
                connection.execute(f'INSERT INTO "{table}" SELECT * FROM "{table}"')
            elif action < 0.95:
                connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{column}_"')
            else:
                connection.execute(f'DROP TABLE "{table}"')
        connection.commit()
    except (sqlite3.Error, IndexError):
        return "cells as they were"
    finally:
        connection.close()
    return "cells changed"


def replace_by_odd_file(random, path, decoy):
    """A link, a FIFO, a folder or nothing in place of a file. Links lead to the decoy beside the mutant and never further: a program that
    follows one, and writes, must not reach anything of the machine."""
    kind = random.choice(["fifo", "folder", "loop", "link", "dangling", "empty", "missing", "unreadable"])
    if kind == "unreadable":
        path.chmod(0)
        return kind
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "link":
        path.symlink_to(decoy)
    elif kind == "dangling":
        path.symlink_to("/nonexistent/file")
    elif kind == "empty":
        path.touch()
    return kind


def choose(random, path):
    """A way to damage this file, by what it is; bytes of any file may change."""
    ways = [flip, flip, cut, double, remove, insert_token, replace_by_odd_file]
    if path.suffix in (".csv", ".json"):
        ways += [change_number] * 4
    if path.suffix == ".csv":
        ways += [swap_columns] * 3
    if path.suffix in (".db", ".sqlite"):
        ways += [change_cells] * 12
    if "data" in path.parts[-2:-1] or "FRAMEWORK" in path.parts:
        ways += [change_words] * 6
    return random.choice(ways)


def damage(random, folder, decoy):
    """Damages one to three files below the folder. Links lead to the folder `decoy`. Returns what was done, a line each."""
    log = []
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink() and path.stat().st_size > 0)
        files = [path for path in files if os.access(path, os.R_OK | os.W_OK) and path.stat().st_mode & 0o200]
        if not files:
            break
        path = random.choice(files)
        way = choose(random, path)
        done = way(random, path, decoy) if way is replace_by_odd_file else way(random, path)
        log.append(f"{path.relative_to(folder)}: {done}")
    return log
