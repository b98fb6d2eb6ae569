"""Fails on an #include that the link lists of src/CMakeLists.txt do not grant, and where docs/architecture.md ("Rooms") differs from them.

    python3 tests/lint/layers.py [SRC]

Three rules, reported as file:line:
  * a file includes only headers of its own room and of the rooms its room may use;
  * inside of analysis, pages are on top: only viewer itself and the list of questions include viewer's headers;
  * a third-party header appears in no header of ours and, outside base, in one file a room: its adapter there.
    Tests (x_test.cc, test_x.h, testing/), benchmarks and fuzz targets are free to use the libraries directly.
"""

import collections
import pathlib
import re
import sys

# Rooms that are not made by steplens_room in src/CMakeLists.txt, and what they may use directly.
OTHER_ROOMS = {
    "mpi": [],
    "steplens": [],  # include/steplens, the public headers of the collection library
    "collect": ["format", "steplens"],
    "torch_adapter": ["steplens"],
}

# The collection library links nothing: of base it may use what needs only the standard library's headers.
COLLECT_SAFE_BASE = {"base/utf8.h", "base/saturate.h", "base/testing/scratch_folder.h"}

# Folders of analysis that may include the page layout, analysis/viewer.
ABOVE_PAGES = {"viewer", "question"}

# Third-party libraries by the header that stands for them. fmt is welcome in every .cc file.
LIBRARIES = {
    "simdjson.h": "simdjson",
    "sqlite3.h": "SQLite",
    "zlib.h": "zlib",
    "libdeflate.h": "libdeflate",
    "xxhash.h": "xxHash",
    "CLI/": "CLI11",
    "tsl/": "robin-map",
    "xlsxwriter.h": "libxlsxwriter",
    "mpi.h": "MPI",
    "fmt/": "fmt",
}
WELCOME_IN_EVERY_CC = {"fmt", "robin-map"}
# A room that is, as a whole, the adapter of a library.
ADAPTER_ROOMS = {("query", "SQLite")}

ROOM = re.compile(r"^steplens_room\((\w+)(?: LINK ([^)]*?))?(?:\s+PRIVATE [^)]*)?\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


def rooms_of(cmake):
    """{room: rooms it may use directly}, from the link lists in the text of src/CMakeLists.txt."""
    rooms = dict(OTHER_ROOMS)
    for name, links in ROOM.findall(cmake):
        rooms[name] = [link.removeprefix("steplens_") for link in links.split() if link.startswith("steplens_")]
    return rooms


MAY_USE = rooms_of((pathlib.Path(__file__).resolve().parents[2] / "src/CMakeLists.txt").read_text(encoding="utf-8"))


def reachable(room):
    """The room itself and every room below it."""
    found = {room}
    for used in MAY_USE[room]:
        found |= reachable(used)
    return found


def documented_rooms(page):
    """{room: rooms it may use}, from the table "Rooms" of docs/architecture.md."""
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", page, re.MULTILINE)
    return {room: sorted(word for word in re.findall(r"\w+", cell) if word in MAY_USE) for room, cell in rows}


def check_page(page):
    """Rooms that docs/architecture.md describes otherwise than src/CMakeLists.txt makes them."""
    documented = documented_rooms(page)
    return [f"docs/architecture.md: room {room} may use {', '.join(sorted(uses)) or 'nothing of ours'}; "
            f"the page says {', '.join(documented[room]) if room in documented else 'nothing about it'}"
            for room, uses in MAY_USE.items()
            if room not in OTHER_ROOMS and documented.get(room) != sorted(uses)]


def library_of(header):
    for prefix, library in LIBRARIES.items():
        if header == prefix or (prefix.endswith("/") and header.startswith(prefix)):
            return library
    return None


def is_test_code(file):
    return file.stem.endswith(("_test", "_bench", "_fuzz")) or file.stem.startswith("test_") or "testing" in file.parts


def includes(path):
    """(line number, quoted header or None, angle header or None) of each include."""
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def room_problem(room, header):
    """Why `room` may not include our header, or None."""
    owner = header.split("/", 1)[0]
    if "/" not in header or owner not in MAY_USE:
        return f'"{header}" is not "room/..."; rooms are {", ".join(MAY_USE)}'
    if owner not in reachable(room):
        return f'{room} may not use {owner} ("{header}")'
    if room == "collect" and owner == "base" and header not in COLLECT_SAFE_BASE:
        return f'collect may use of base only {", ".join(sorted(COLLECT_SAFE_BASE))} (not "{header}")'
    return None


def page_problem(inner, header):
    """Why a file of the folder `inner` of analysis may not include our header, or None."""
    if not header.startswith("analysis/viewer/") or inner in ABOVE_PAGES:
        return None
    return f'analysis/viewer is page layout, which analysis/{inner} may not use ("{header}")'


def check(src):
    """All problems below the folder `src`, as "file:line: text"."""
    problems = []
    adapters = collections.defaultdict(dict)  # (room, library) -> {file: line}
    for path in sorted(p for p in src.rglob("*") if p.suffix in (".h", ".cc")):
        file = path.relative_to(src.parent)
        room = path.relative_to(src).parts[0]
        if room not in MAY_USE:
            problems.append(f"{file}:1: '{room}' is not a room of the house")
            continue
        for line, ours, theirs in includes(path):
            problem = room_problem(room, ours) if ours else None
            if ours and room == "analysis" and not is_test_code(file):
                problem = problem or page_problem(path.relative_to(src).parts[1], ours)
            if problem:
                problems.append(f"{file}:{line}: {problem}")
            library = library_of(theirs) if theirs else None
            if not library or is_test_code(file):
                continue
            if path.suffix == ".h":
                problems.append(f"{file}:{line}: {library} must not appear in a header")
            elif room != "base" and library not in WELCOME_IN_EVERY_CC and (room, library) not in ADAPTER_ROOMS:
                adapters[room, library].setdefault(file, line)
    for (room, library), files in sorted(adapters.items()):
        first = next(iter(files))
        problems += [f"{file}:{line}: {room} uses {library} in {first} already; one adapter a room"
                     for file, line in list(files.items())[1:]]
    return problems


def main(arguments):
    root = pathlib.Path(__file__).resolve().parents[2]
    src = pathlib.Path(arguments[0]) if arguments else root / "src"
    problems = check(src) + check_page((root / "docs/architecture.md").read_text(encoding="utf-8"))
    for problem in problems:
        print(problem)
    print(f"layers: {len(problems)} problems" if problems else "layers: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
