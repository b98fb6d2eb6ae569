"""Messages of the sources and the catalogue (src/analysis/text) agree: keys, their placeholders, and no key that nobody uses."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src/analysis/text"
PLACEHOLDER = re.compile(r"\{(\w+)(?:\}|, plural,)")
NAMED = ("rule.", "advisor.priority.", "compare.account.", "compare.cause.", "compare.class.", "compare.word.")  # keys made of a prefix and a name in the data


def placeholders(template):
    return set(PLACEHOLDER.findall(template))


def literal_args(text, at):
    """Names in `, {{"a", x}, {"b", y}}` behind a key; None if the arguments are not written there."""
    start = re.compile(r"\s*,\s*\{\s*\{").match(text, at)
    if not start:
        return set() if re.compile(r"\s*\}").match(text, at) else None
    names, depth, place = set(), 0, text.index("{", at)
    while place < len(text):
        if text[place] == '"':
            literal = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, place)
            if depth == 2 and re.search(r"\{\s*$", text[:place]):
                names.add(literal.group()[1:-1])
            place = literal.end()
            continue
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        place += 1
        if depth == 0:
            return names
    return None


def check(english, chinese, sources):
    """Problems of the two catalogues and the sources ({path: text})."""
    problems = [f"{key}: missing in zh.json" for key in english if key not in chinese]
    problems += [f"{key}: missing in en.json" for key in chinese if key not in english]
    for key in english:
        if key in chinese and placeholders(english[key]) != placeholders(chinese[key]):
            problems.append(f"{key}: the placeholders of en.json and zh.json differ")
    areas = "|".join(sorted({key.split(".")[0] for key in english}))
    literal = re.compile(rf'"((?:{areas})\.[a-z0-9_.]+)"')
    used = set()
    for path, text in sorted(sources.items()):
        for match in literal.finditer(text):
            key = match.group(1)
            if key.endswith((".csv", ".json", ".db")) or key in NAMED:
                continue
            used.add(key)
            if key not in english:
                problems.append(f"{path}: there is no message '{key}'")
                continue
            names = literal_args(text, match.end()) if text[: match.start()].rstrip().endswith("{") else None
            if names is not None and names and names != placeholders(english[key]):
                problems.append(f"{path}: '{key}' has {sorted(placeholders(english[key]))}, it is given {sorted(names)}")
    problems += [f"{key}: nobody uses it" for key in english if key not in used and not key.startswith(NAMED)]
    return problems


def main():
    english, chinese = (json.loads((FOLDER / name).read_text()) for name in ("en.json", "zh.json"))
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in sorted((ROOT / "src").rglob("*"))
               if path.suffix in (".cc", ".h") and not path.name.endswith("_test.cc")}
    problems = check(english, chinese, sources)
    for problem in problems:
        print(f"messages: {problem}")
    if not problems:
        print("messages: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
