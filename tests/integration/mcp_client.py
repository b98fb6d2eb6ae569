"""A client of `steplens mcp` over pipes, one message per line."""

import json
import subprocess

from support import PROGRAM


class Client:
    def __init__(self, root, *options, environment=None):
        self.process = subprocess.Popen([PROGRAM, "mcp", "--root", str(root), *map(str, options)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self.number = 0
        self.chars = 0  # of the texts that tools answered with

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the input; the exit code."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def receive(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def request(self, method, **params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        answer = self.receive()
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.number, answer
        return answer

    def result(self, method, **params):
        answer = self.request(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def call(self, tool, **arguments):
        """(text, whether it is an error) of a tool's answer."""
        result = self.result("tools/call", name=tool, arguments=arguments)
        [content] = result["content"]
        assert content["type"] == "text"
        self.chars += len(content["text"])
        return content["text"], result["isError"]

    def text(self, tool, **arguments):
        text, is_error = self.call(tool, **arguments)
        assert not is_error, text
        return text
