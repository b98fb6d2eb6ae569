"""Every npm package of the web app runs with the Node of Debian 12.

npm only warns where `engines` of a package asks for a newer Node; the build or the browser tests would then fail on Debian alone.
"""

import json
import re

DEBIAN_NODE = (18, 13, 0)  # the oldest that Debian 12 shipped

PART = r"(?:\d+|[xX*])"
VERSION = rf"v?({PART})(?:\.({PART}))?(?:\.({PART}))?(?:[-+][\w.+-]*)?"
COMPARATOR = re.compile(rf"(>=|<=|>|<|=|\^|~)?\s*{VERSION}")
HYPHEN = re.compile(rf"{VERSION}\s+-\s+{VERSION}")


def admits(engines, node=DEBIAN_NODE):
    """Whether a version range as npm writes it ("^16 || >=18.2") contains a version. A range that is not understood admits nothing."""
    return any(_admits_all(part.strip(), node) for part in engines.split("||"))


def check(lock):
    """Problems of the text of a package-lock.json."""
    problems = []
    for path, package in sorted(json.loads(lock)["packages"].items()):
        wanted = package.get("engines", {})
        wanted = wanted.get("node", "*") if isinstance(wanted, dict) else "*"
        if not admits(wanted):
            name = path.rpartition("node_modules/")[2] or "the app itself"
            problems.append(f"{name} {package.get('version', '')} wants Node {wanted}; Debian 12 has {'.'.join(map(str, DEBIAN_NODE))}")
    return problems


def _admits_all(text, node):
    hyphen = HYPHEN.fullmatch(text)
    if hyphen:
        low, high = _bounds(hyphen.groups()[:3])[0], _bounds(hyphen.groups()[3:])[1]
        return low <= node < high
    position = 0
    while position < len(text):
        match = COMPARATOR.match(text, position)
        if not match or not _holds(match.group(1) or "=", match.groups()[1:], node):
            return False
        position = match.end()
        while position < len(text) and text[position] in " \t,":
            position += 1
    return True


def _bounds(parts):
    """The first version a possibly shortened version ("18", "18.x") stands for, and the first after it."""
    numbers = []
    for part in parts:
        if part is None or not part.isdigit():
            break
        numbers.append(int(part))
    if not numbers:
        return (0, 0, 0), (float("inf"), 0, 0)
    after = numbers[:-1] + [numbers[-1] + 1]
    return _filled(numbers), _filled(after)


def _filled(numbers):
    return tuple(numbers + [0] * (3 - len(numbers)))


def _holds(operator, parts, node):
    low, after = _bounds(parts)
    if operator == ">=":
        return node >= low
    if operator == ">":
        return node >= after
    if operator == "<":
        return node < low
    if operator == "<=":
        return node < after
    if operator == "^":
        return low <= node < (low[0] + 1, 0, 0)
    if operator == "~":
        given = sum(1 for part in parts if part and part.isdigit())
        return low <= node < (after if given < 2 else (low[0], low[1] + 1, 0))
    return low <= node < after
