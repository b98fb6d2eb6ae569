"""Generated requests to a running viewer. Their grammar is the one the unit tests use (src/server/api/test_requests.h)."""

import ast
import http.client
import json
import pathlib
import re
import signal
import subprocess
import time
import urllib.parse

from . import runs

GRAMMAR = pathlib.Path(__file__).resolve().parents[2] / "src/server/api/test_requests.h"
ROUTES = GRAMMAR.with_name("api.cc")


def joined_literals(text):
    """Adjacent C++ literals as one text."""
    return "".join(ast.literal_eval(literal) for literal in re.findall(r'"(?:[^"\\]|\\.)*"', text))


def read_grammar():
    """[(method, path, members)], {word: choices}."""
    text = GRAMMAR.read_text(encoding="utf-8")
    endpoints_text = text.split("kEndpoints[] = {")[1].split("\n  };")[0]
    literal = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    endpoints = [tuple(joined_literals(part) for part in found) for found in re.findall(rf"\{{{literal},\s*{literal},\s*{literal}\}}", endpoints_text)]
    words_text = text.split("kWords[] = {")[1].split("\n  };")[0]
    words = {joined_literals(name): joined_literals(choices).split("|") for name, choices in re.findall(rf"\{{{literal},\s*{literal}\}}", words_text)}
    return endpoints, words


def missing_routes(endpoints):
    """Endpoints of the server that no request is generated for: new ones are noticed."""
    routes = re.findall(r'Route\{"(GET|POST)", "([^"]*)"', ROUTES.read_text(encoding="utf-8"))
    known = {path for _, path, _ in endpoints}
    return sorted({path for _, path in routes if "/ds/d" + path not in known} - {"/stop"})


class Requests:
    def __init__(self, random, metrics):
        self.random = random
        self.endpoints, self.words = read_grammar()
        self.words["metric"] = [json.dumps(name) for name in metrics] or ['"none"']
        self.words["metric_source"] = [json.dumps("metric:" + name) for name in metrics] or ['"none"']

    def expand(self, word, depth=0):
        choice = self.random.choice(self.words.get(word, ["null"])) if depth < 6 else "0"
        return re.sub(r"\$(\w+)", lambda match: self.expand(match.group(1), depth + 1), choice)

    def make(self, dataset):
        """Method, path and body of a request."""
        method, path, members = self.random.choice(self.endpoints)
        path = path.replace("/ds/d", "/ds/" + dataset)
        given = {}
        for member in members.split():
            name, word = member.split(":")
            if self.random.random() < 0.75:
                given[name] = self.expand("any" if self.random.random() < 0.08 else word)
        if method == "GET":
            query = {name: value.strip('"') for name, value in given.items()}
            return method, path + ("?" + urllib.parse.urlencode(query) if query else ""), None
        body = "{" + ",".join(f'"{name}":{value}' for name, value in given.items()) + "}"
        return method, path, body.replace('"ds":"d"', f'"ds":"{dataset}"')


class Viewer:
    """`steplens view` on a mutant, as a child process."""

    def __init__(self, program, capture, scratch, memory_mb):
        self.errors = open(scratch / "server_errors", "w+b")
        self.process = subprocess.Popen([program, "view", capture, "--no-browser", "--token", "none"], stdout=subprocess.PIPE, stderr=self.errors,
                                        env=runs.environment(scratch, memory_mb), cwd=scratch)
        line = self.process.stdout.readline().decode()
        port = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        self.port = int(port.group(1)) if port else None

    def send(self, method, path, body, seconds):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            headers = {"X-Steplens": "1", "Content-Type": "application/json"}
            connection.request(method, "/api/v1" + path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def wait_ready(self, seconds):
        """The name of the data set; nothing if the capture holds none."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            sets = json.loads(self.send("GET", "/info", None, seconds)[1])["datasets"]
            if sets and all(one["ready"] for one in sets):
                return sets[0]["ds"]
            time.sleep(0.05)
        return None

    def close(self, seconds):
        """Asks it to end. Returns (find or None, the error stream)."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        find = None
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
            find = f"SIGTERM did not end the server within {seconds} s"
        self.process.stdout.close()
        self.errors.seek(0)
        errors = self.errors.read()
        self.errors.close()
        return find or runs.verdict(code, errors), errors


def run_server(program, capture, scratch, random, count, seconds, memory_mb):
    """Serves the mutant and sends `count` requests. Returns (find or None, the error stream, requests answered)."""
    seconds *= runs.PATIENCE
    viewer = Viewer(program, capture, scratch, memory_mb)
    answered, find, last = 0, None, ""
    try:
        dataset = viewer.wait_ready(seconds) if viewer.port else None
        if dataset:
            listed = json.loads(viewer.send("GET", "/info", None, seconds)[1])
            requests = Requests(random, listed.get("metrics", []))
            for _ in range(count):
                method, path, body = requests.make(dataset)
                last = f"{method} {path} {body or ''}"
                status, _ = viewer.send(method, path, body, seconds)
                answered += 1
                if status >= 500 and status != 503:
                    find = f"status {status}: {last}"
                    break
    except (OSError, http.client.HTTPException, ValueError) as error:
        find = f"no answer ({type(error).__name__}): {last}"
    end_find, errors = viewer.close(seconds)
    if end_find and last:
        end_find += f"; last request: {last}"
    return end_find or find, errors, answered
