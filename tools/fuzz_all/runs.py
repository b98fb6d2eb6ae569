"""The commands a mutant goes through, and what counts as a find."""

import json
import os
import pathlib
import random
import re
import signal
import subprocess

MODES = ["all", "summary", "communication_time_sum", "cann_api_sum,compute_op_sum,hccl_sum", "slow_rank,slow_link", "p2p_pairing,pp_chart",
         "freq_analysis,ep_load_balance", "cluster_time_summary"]
QUERIES = ["SELECT * FROM breakdown", "SELECT count(*), min(begin_ns), max(begin_ns + dur_ns) FROM slices", "SELECT * FROM kernels LIMIT 50",
           "SELECT name, sum(dur_ns) FROM slices GROUP BY name", "SELECT * FROM flows", "SELECT * FROM comm_ops", "SELECT * FROM memory_samples"]
CHANGES = [["--scale", "kernel:*=0.5"], ["--remove", "comm"], ["--overlap", "comm"], ["--network", "2x", "--host", "2x"], ["--balance", "ranks"]]
MSPROF = [["--export=on", "--output={}"], ["export", "summary", "-dir", "{}"], ["export", "db", "-dir", "{}"], ["--analyze=on", "--output={}"],
          ["--query=on", "--output={}"], ["--parse=on", "--output={}"]]
GATES = [[], ["--fail-on", "e2e>3%"], ["--fail-on", "kernel:*>5%", "--fail-on", "memory>1MB"], ["--noise-level", "50%", "--least-change", "0.1%"]]
QUESTIONS_PER_MUTANT = 6
# What an agent asks of a capture: tools of `steplens mcp` with arguments besides the path.
TOOLS = {"open": {}, "describe": {}, "findings": {}, "breakdown": {}, "operators": {"by": "type"}, "sql": {"query": "SELECT * FROM breakdown"},
         "ask": {"question": "overview"}, "explain": {"rank": 0, "slice_id": 5}, "cluster": {}, "link": {}}
# Nothing of a capture reaches these, or they are run elsewhere (server.py).
NOT_RUN = {"record", "view", "auto-completion"}
PATIENCE = 10  # times the limit of CPU time: the machine may be busy with other work
# 0 done, 1 a rule is broken, 2 usage, 3 not found, 4 damaged, 5 not supported, 6 the system refused, 7 out of memory
EXPECTED_CODES = range(0, 8)
REPORT = re.compile(rb"AddressSanitizer|runtime error:|LeakSanitizer|terminate called|SL_CHECK|Assertion")


def questions_of(program):
    """All questions that `ask` knows: the names of their arguments by name."""
    listed = subprocess.run([program, "ask", "--list"], capture_output=True, text=True, check=True)
    out, last = {}, None
    for line in listed.stdout.splitlines():
        if line and not line.startswith(" "):
            last = out.setdefault(line.split()[0], [])
        elif last is not None and (argument := re.match(r"  (\w+) +\w+: ", line)):
            last.append(argument.group(1))
    return out


def commands_of(program):
    """The names of all commands."""
    shown = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z-]+)  ", shown.split("Subcommands:")[1], re.MULTILINE)


def missing_commands(program):
    """Commands that no mutant goes through: new ones are noticed."""
    scratch = pathlib.Path("/nowhere")
    run = {str(words[0]) for words in words_of(random.Random(0), scratch, scratch, scratch, questions_of(program)).values()}
    return sorted(set(commands_of(program)) - run - NOT_RUN)


VALUES = ["0", "1", "-1", "9223372036854775807", "-9223372036854775808", "1e300", "x", "", "0,3-7", "all", "2x", "comm", "*=0.5", "Total Op Info"]


def arguments_of(chance, names):
    """Some arguments of a question, some of them sensible."""
    out = []
    for name in names:
        if chance.random() < 0.3:
            out += ["--arg", f"{name}={chance.choice(VALUES)}"]
    return out


def words_of(chance, capture, sound, scratch, questions):
    """One command line for each command, by name; the parts that `cluster map` makes are there for `cluster reduce` if it came first, and the
    baseline that `baseline save` keeps for `baseline check`. `sound` is what the capture was before it was damaged."""
    threads = ["--threads", chance.choice(["1", "2", "7"])]
    cache = chance.choice([[], ["--no-cache"], ["--strict"]])
    out = scratch / "out"
    return {
        "info": ["info", capture, *threads, *cache, *chance.choice([[], ["--json"]])],
        "breakdown": ["breakdown", capture, *threads, *cache, *chance.choice([[], ["--json"], ["--csv"], ["--compat"], ["--step", "1"]])],
        "ops": ["ops", capture, *threads, *cache, "--by", chance.choice(["name", "type", "shape", "core", "api", "operator"])],
        "query": ["query", capture, chance.choice(QUERIES), *threads, *cache, "--format", chance.choice(["table", "csv", "json", "arrow"])],
        "schema": ["query", capture, "--schema", *threads],
        **{f"ask {question}": ["ask", question, capture, *threads, *cache, *arguments_of(chance, questions[question])]
           for question in chance.sample(sorted(questions), QUESTIONS_PER_MUTANT)},
        "verify": ["verify", capture, *threads, *cache, *chance.choice([[], ["--all"], ["--json"]])],
        "convert": ["convert", capture, "--to", chance.choice(["text", "db", "chrome", "perfetto"]), "-o", out, *threads, *cache],
        "analyse": ["analyse", capture, "--force", "--export-type", chance.choice(["text", "db", "text,db"])],
        "export": ["analyse", capture, "--export", chance.choice(["chrome_trace", "stacks", "memory_timeline"]), "--output", scratch / "one_file"],
        "cluster": ["cluster", "-d", capture, "-m", chance.choice(MODES), "-o", out, "--export_type",
                    chance.choice(["db", "text", "csv", "json", "console"]), *threads, *chance.choice([[], ["--no-cache"], ["--compat"]])],
        "cluster map": ["cluster", "map", "-d", capture, "-m", chance.choice(MODES), "--out", scratch / "parts"],
        "cluster reduce": ["cluster", "reduce", scratch / "parts", "-o", scratch / "reduced"],
        "in place": ["cluster", "-d", capture, "-m", "p2p_pairing", "-o", out, "--in_place"],
        "link": ["link", capture, "--time", "1ms,3ms"],
        "advisor": ["advisor", chance.choice(["all", "computation", "schedule"]), "-d", capture, "-o", out, *threads, *cache,
                    *chance.choice([["--format", "html,md,json"], ["--json"], ["--csv"], ["--language", "cn"]])],
        "whatif": ["whatif", capture, *threads, *cache, *chance.choice(CHANGES), *chance.choice([[], ["--step", "1"], ["--json"]])],
        "critical-path": ["critical-path", capture, *threads, *cache, *chance.choice([[], ["--table", "slack", "--csv"], ["--json"]])],
        "compare": ["compare", "-d", capture, "--benchmark_profiling_path", sound, "-o", scratch / "compared", "--format",
                    chance.choice(["json", "csv", "db", "html"]), *threads,
                    *chance.choice([[], ["--compat"], ["--use_input_shape"], ["--disable_module"], ["--use_kernel_type", "--max_kernel_num", "4"]])],
        "compare gate": ["compare", "-d", capture, "--benchmark_profiling_path", chance.choice([sound, "baseline:one"]), "--fail-on", "e2e>3%",
                         "-o", scratch / "compared", "--baseline-dir", scratch / "baselines", "--junit", scratch / "junit.xml", "--markdown",
                         scratch / "gate.md", *threads],
        "compare base": ["compare", "-d", sound, "--benchmark_profiling_path", capture, "-o", scratch / "compared", "--format", "json", *threads],
        "baseline save": ["baseline", "save", "one", capture, "--dir", scratch / "baselines", *threads, *cache],
        "baseline save sound": ["baseline", "save", "sound", sound, "--dir", scratch / "baselines"],
        "baseline check": ["baseline", "check", "one", sound, "--dir", scratch / "baselines", *threads, *chance.choice(GATES)],
        "baseline check mutant": ["baseline", "check", "sound", capture, "--dir", scratch / "baselines", *threads, *chance.choice(GATES)],
        "baseline show": ["baseline", chance.choice(["show", "remove"]), "one", "--dir", scratch / "baselines"],
        "mcp": ["mcp", "--root", capture.parent, *chance.choice([[], ["--no-cache"], ["--timeout", "5"]])],
        "msprof": ["msprof", *(word.format(capture) for word in chance.choice(MSPROF))],
    }


WRITES_INTO_THE_CAPTURE = {"analyse", "in place", "msprof"}


def stamp_of(folder):
    """What must not change below a folder: names, sizes, times."""
    out = []
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        out.append((str(path), info.st_mode, info.st_size, info.st_mtime_ns))
    return out


def environment(scratch, memory_mb):
    options = f"exitcode=99:hard_rss_limit_mb={memory_mb}:detect_leaks=0:abort_on_error=0:max_allocation_size_mb={memory_mb}"
    return dict(os.environ, ASAN_OPTIONS=options, UBSAN_OPTIONS="print_stacktrace=1:exitcode=99", STEPLENS_CACHE_DIR=str(scratch / "cache"),
                HOME=str(scratch), TMPDIR=str(scratch))


def verdict(code, errors):
    """Why an end is a find; nothing if it is not."""
    if REPORT.search(errors):
        return "a sanitizer or an assertion spoke"
    if code < 0:
        return f"ended by signal {-code}"
    if code not in EXPECTED_CODES:
        return f"exit code {code}"
    return None


def spoken_to_mcp(capture):
    """The lines of an agent's session about a capture."""
    calls = [("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fuzz_all", "version": "1"}})]
    calls += [("tools/call", {"name": name, "arguments": {"path": capture, **arguments}}) for name, arguments in TOOLS.items()]
    lines = [json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) for number, (method, params) in enumerate(calls)]
    return "\n".join([*lines, '{"jsonrpc": "2.0", "id": [', ""]).encode()


def run_command(program, words, scratch, seconds, memory_mb, said=b""):
    """Runs one command line, which may take so much CPU time and reads `said`. Returns (find or None, the error stream)."""
    try:
        done = subprocess.run(["prlimit", f"--cpu={seconds}", program, *map(str, words)], input=said, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, env=environment(scratch, memory_mb), timeout=PATIENCE * seconds, cwd=scratch, check=False)
    except subprocess.TimeoutExpired as late:
        return f"not done after {PATIENCE * seconds} s", late.stderr or b""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"more than {seconds} s of CPU time", done.stderr
    return verdict(done.returncode, done.stderr), done.stderr


def first_report(errors):
    """The lines of an error stream that say what and where."""
    lines = errors.decode("utf-8", "replace").splitlines()
    telling = [line for line in lines if re.search(r"ERROR:|runtime error:|^\s+#[0-9] .* /.*src/", line)]
    return "\n".join((telling or lines)[:12])


def default_program():
    return pathlib.Path(__file__).resolve().parents[2] / "build/asan/steplens"
