"""`steplens mcp`: the protocol, every tool on the sample, bad input, and the numbers against the other commands."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from mcp_client import Client
from support import PROGRAM, ROOT, SAMPLE, Case, snapshot

TOOLS = ["open", "describe", "findings", "breakdown", "operators", "explain", "cluster", "ask", "sql", "compare", "link"]
MOST_CHARS = 7800  # of an answer, its words about what was cut included


class McpCase(Case):
    def client(self, root=SAMPLE.parent, *options):
        client = Client(root, *options, environment=self.environment)
        self.addCleanup(client.close)
        return client


class Protocol(McpCase):
    def test_initialize_agrees_on_a_version(self):
        client = self.client()
        for asked, given in (("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-06-18")):
            answer = client.result("initialize", protocolVersion=asked, capabilities={}, clientInfo={"name": "test", "version": "0"})
            self.assertEqual(answer["protocolVersion"], given)
            self.assertEqual(answer["serverInfo"]["name"], "steplens")
            self.assertEqual(set(answer["capabilities"]), {"tools", "resources"})
            self.assertIn("findings", answer["instructions"])

    def test_notifications_get_no_answer(self):
        client = self.client()
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        client.send({"jsonrpc": "2.0", "method": "no/such/notification"})
        self.assertEqual(client.result("ping"), {})

    def test_tools_have_schemas(self):
        tools = self.client().result("tools/list")["tools"]
        self.assertEqual([tool["name"] for tool in tools], TOOLS)
        for tool in tools:
            with self.subTest(tool=tool["name"]):
                self.assertTrue(tool["description"])
                self.assertTrue(tool["annotations"]["readOnlyHint"])
                schema = tool["inputSchema"]
                self.assertEqual(schema["type"], "object")
                self.assertFalse(schema["additionalProperties"])
                self.assertLessEqual(set(schema["required"]), set(schema["properties"]))
        self.assertLess(len(json.dumps(tools)) / 4, 2500)  # an agent pays for it in every conversation

    def test_resources_are_the_pages(self):
        client = self.client()
        for resource in client.result("resources/list")["resources"]:
            [content] = client.result("resources/read", uri=resource["uri"])["contents"]
            name = resource["uri"].removeprefix("steplens://")
            self.assertEqual(content["text"], (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))
        [template] = client.result("resources/templates/list")["resourceTemplates"]
        self.assertEqual(template["uriTemplate"], "steplens://schema/{table}")
        [content] = client.result("resources/read", uri="steplens://schema/kernels")["contents"]
        self.assertTrue(content["text"].startswith("## kernels\n"))
        self.assertIn("`dur_ns`", content["text"])
        self.assertNotIn("## comm_ops", content["text"])
        for uri in ("steplens://nothing", "file:///etc/passwd", "steplens://schema/nothing", ""):
            self.assertEqual(client.request("resources/read", uri=uri)["error"]["code"], -32002)

    def test_what_is_no_request_is_said(self):
        client = self.client()
        for line, code, said in ((b"hello", -32600, "object"), (b'{"jsonrpc":"2.0",', -32700, "not JSON"),
                                 (b"\xff\xfe", -32700, "not JSON"), (b"[]", -32600, "batch is empty"), (b"7", -32600, "object"),
                                 (b'{"id":1,"method":"ping"}', -32600, "2.0"), (b'{"jsonrpc":"2.0","id":1}', -32600, "'method'"),
                                 (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, "'id'"),
                                 (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602, "'params'"),
                                 (b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601, "no method 'no/such'"),
                                 (b"[" * 5000, -32700, "not JSON")):
            with self.subTest(line=line[:60]):
                client.send_bytes(line + b"\n")
                error = client.receive()["error"]
                self.assertEqual(error["code"], code)
                self.assertIn(said, error["message"])
        self.assertEqual(client.result("ping"), {})

    def test_damaged_messages_are_answered_or_passed_over(self):
        chance = random.Random(26)
        client = self.client()
        whole = [json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": name, "arguments": {"path": "sample", "rank": 1}}}).encode()
                 for name in TOOLS]
        for number in range(400):
            line = bytearray(chance.choice(whole))
            for _ in range(chance.randint(1, 6)):
                at = chance.randrange(len(line))
                line[at:at + chance.randint(0, 3)] = bytes(chance.choices(b'{}[]",:\\0-9.e\x00\xff\xc3', k=chance.randint(0, 3)))
            client.send_bytes(bytes(line).replace(b"\n", b" ") + b"\n")
            marker = f"marker {number}"
            client.send({"jsonrpc": "2.0", "id": marker, "method": "resources/templates/list"})
            while (answer := client.receive()) != {"jsonrpc": "2.0", "id": marker, "result": answer.get("result")}:
                self.assertEqual(answer["jsonrpc"], "2.0")
                self.assertTrue("result" in answer or answer["error"]["message"])

    def test_a_message_too_long_is_skipped(self):
        client = self.client()
        client.send_bytes(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (9 << 20) + b'"}\n')
        self.assertIn("4 MiB", client.receive()["error"]["message"])
        self.assertEqual(client.result("ping"), {})

    def test_batches_are_answered_as_batches(self):
        client = self.client()
        client.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"},
                     {"jsonrpc": "2.0", "id": 2, "method": "none"}])
        answers = client.receive()
        self.assertEqual([answer["id"] for answer in answers], ["a", 2])
        self.assertEqual(answers[1]["error"]["code"], -32601)

    def test_a_pipe_is_answered_to_its_end(self):
        lines = [json.dumps({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "open", "arguments": {"path": "sample"}}})
                 for i in range(3)]
        done = subprocess.run([PROGRAM, "mcp", "--root", SAMPLE.parent], input="\n".join(lines).encode(), capture_output=True,
                              env=self.environment, check=True, timeout=60)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer["id"] for answer in answers], [0, 1, 2])
        self.assertEqual(answers[0]["result"], answers[2]["result"])

    def test_it_ends_with_its_client(self):
        client = self.client()
        client.text("open", path="sample")
        self.assertEqual(client.close(), 0)
        client = self.client()
        self.assertEqual(client.result("ping"), {})
        client.process.send_signal(signal.SIGTERM)
        self.assertIn(client.process.wait(timeout=20), (0, 130))

    def test_options_are_checked(self):
        for words, code, said in ((["--root", "/no/such"], 3, "no such file"), (["--root", str(SAMPLE / "README.md")], 2, "not a folder"),
                                  (["--timeout", "0"], 2, "between 1 and 3600"), (["--timeout", "x"], 2, "--timeout")):
            with self.subTest(words=words):
                if words[0] == "--root" and words[1].endswith("README.md"):
                    words[1] = str(self.write("file", "x"))
                self.assertIn(said, self.run_program("mcp", *words, expect=code).err)


class Tools(McpCase):
    def test_open_lists_and_opens(self):
        client = self.client()
        self.assertIn("sample", client.text("open"))
        text = client.text("open", path="sample")
        self.assertIn("2 ranks (0-1)", text)
        self.assertIn("next: findings", text)
        self.assertEqual(text.split(":", 1)[1], client.text("open", path=str(SAMPLE)).split(":", 1)[1])

    def test_every_tool_answers_small_and_changes_nothing(self):
        before = snapshot(SAMPLE)
        client = self.client()
        client.text("open", path="sample")
        calls = [("describe", {}), ("describe", {"rank": 1}), ("findings", {}), ("findings", {"top": 50}), ("findings", {"rank": 1}),
                 ("breakdown", {}), ("breakdown", {"rank": 1}), ("operators", {}), ("operators", {"by": "shape", "rank": 0}),
                 ("operators", {"by": "operator"}), ("operators", {"by": "api"}), ("explain", {}), ("explain", {"rank": 1, "slice_id": 3}),
                 ("cluster", {}), ("cluster", {"question": "cluster_summary"}), ("ask", {}), ("ask", {"about": "emory"}),
                 ("ask", {"question": "overview", "args": {"rank": 1}}), ("sql", {"query": "SELECT * FROM slices", "limit": 1000}),
                 ("compare", {"baseline": "sample"}), ("link", {"page": "findings"}), ("link", {"slice_id": 3})]
        for tool, arguments in calls:
            with self.subTest(tool=tool, arguments=arguments):
                text = client.text(tool, **arguments)
                self.assertTrue(text.strip())
                self.assertLessEqual(len(text), MOST_CHARS)
        self.assertEqual(snapshot(SAMPLE), before)

    def test_numbers_are_those_of_the_commands(self):
        client = self.client()
        text = client.text("breakdown", path="sample", rank=1)
        rows = [dict(zip(text.splitlines()[1].split(" | "), line.split(" | "))) for line in text.splitlines()[2:-1]]
        for row, printed in zip(rows, self.rows("breakdown", SAMPLE, "--rank", "1"), strict=True):
            for name, cell in row.items():
                self.assertEqual(float(cell), float(printed[name]), name)
        lines = client.text("operators", by="type", rank=0, limit=5).splitlines()
        for line, printed in zip(lines[2:7], self.rows("ops", SAMPLE, "--by", "type", "--rank", "0", "--top", "5")):
            self.assertEqual(line.split(" | ")[0], printed["OP Type"])
            self.assertIn(str(printed["Count"]), line.split(" | "))

    def test_the_query_of_a_number_gives_it(self):
        client = self.client()
        client.text("open", path="sample")
        for tool, arguments in (("breakdown", {}), ("breakdown", {"rank": 1}), ("operators", {"by": "type"}), ("operators", {"by": "shape", "rank": 0}),
                                ("operators", {"by": "operator"}), ("operators", {"by": "api"}), ("explain", {"slice_id": 3}), ("explain", {}),
                                ("findings", {}), ("ask", {"question": "overview", "args": {"rank": 1}}),
                                ("ask", {"question": "critical_path", "args": {"rank": 0, "top": 3}}),
                                ("cluster", {"question": "cluster_summary"}), ("describe", {})):
            text = client.text(tool, **arguments)
            queries = re.findall(r"^\s*sql: (.*)$", text, re.MULTILINE)
            self.assertTrue(queries, f"{tool} {arguments}")
            for query in queries:
                if query.endswith("..."):
                    continue
                with self.subTest(tool=tool, query=query):
                    client.text("sql", query=query, limit=1)

    def test_tables_are_cut_with_a_count(self):
        client = self.client()
        [total] = [row["n"] for row in self.query(SAMPLE, "SELECT count(*) AS n FROM slices")]
        text = client.text("sql", path="sample", query="SELECT id, name FROM slices", limit=7, offset=3)
        self.assertEqual(len(text.splitlines()), 9)
        self.assertIn(f"(rows 4-10 of {total})", text)
        text = client.text("sql", query="SELECT * FROM slices", limit=1000)
        shown, of = map(int, re.search(r"\(rows 1-(\d+) of (\d+)\)", text).groups())
        self.assertEqual(of, total)
        self.assertEqual(shown, len(text.splitlines()) - 2)
        self.assertIn("is behind the last", client.text("sql", query="SELECT 1", offset=5))

    def test_a_link_opens_what_it_names(self):
        client = self.client()
        text = client.text("link", path="sample", page="timeline", rank=1, slice_id=3, search="a b'c")
        self.assertRegex(text, r"^steplens view '/.*/sample#/timeline\?sel=r1/.*/3&ranks=1&q=a%20b%27c'\n$")
        [row] = self.query(SAMPLE, "SELECT min(begin_ns) AS t FROM slices")
        text = client.text("link", begin_ns=row["t"], end_ns=row["t"] + 1000)
        self.assertRegex(text, r"t=-?\d+,-?\d+")

    def test_what_a_tool_cannot_do_is_said(self):
        client = self.client()
        text, is_error = client.call("findings")
        self.assertTrue(is_error)
        self.assertIn("'path' is missing", text)
        client.text("open", path="sample")
        for tool, arguments, said in (
                ("open", {"path": "smaple"}, "not there, or outside"), ("open", {"path": 7}, "'path' is not a text"),
                ("open", {"paht": "sample"}, "did you mean 'path'"), ("open", {"path": "a\0b"}, "not there"),
                ("describe", {"rank": 9}, "there is no rank 9"), ("breakdown", {"rank": "x"}, "'rank' is not a whole number"),
                ("breakdown", {"step": 9999}, "there is no step 9999"), ("operators", {"by": "color"}, "must be one of type, name"),
                ("explain", {"slice_id": 10**9}, "has no slice"), ("explain", {"at_ns": 1}, "no gap"), ("explain", {"track_id": 1}, "needs 'at_ns'"),
                ("explain", {"track_id": 10**7, "at_ns": 1}, "no track"),
                ("cluster", {"question": "slow_rnak"}, "did you mean 'slow_rank'"), ("ask", {"question": "overview", "args": {"tpo": 1}}, "did you mean 'top'"),
                ("ask", {"question": "overview", "args": "x"}, "'args' must be an object"), ("ask", {"question": "overview", "table": "x"}, "there is no table"),
                ("sql", {}, "'query' is missing"), ("sql", {"query": "SELEC 1"}, "syntax"), ("sql", {"query": "DROP TABLE slices"}, ""),
                ("sql", {"query": "ATTACH '/etc/passwd' AS x"}, ""), ("sql", {"query": "SELECT 1; SELECT 2"}, ""),
                ("compare", {"baseline": "nothing"}, "not there"), ("findings", {"rule": "late_rnk"}, "there is no rule"),
                ("link", {"begin_ns": 5}, "must both be there"), ("link", {"slice_id": -1}, "no lane")):
            with self.subTest(tool=tool, arguments=arguments):
                text, is_error = client.call(tool, **arguments)
                self.assertTrue(is_error, text)
                self.assertIn(said, text)
                self.assertLess(len(text), 2100)
        answer = client.request("tools/call", name="opne", arguments={})
        self.assertEqual(answer["error"]["code"], -32602)
        self.assertIn("did you mean 'open'", answer["error"]["message"])
        self.assertIn("error", client.request("tools/call", name="open", arguments=[1]))
        self.assertIn("error", client.request("tools/call"))
        client.text("breakdown")


class Limits(McpCase):
    def test_paths_stay_below_the_root(self):
        inside, outside = self.scratch / "inside", self.scratch / "outside"
        shutil.copytree(SAMPLE, inside / "job")
        shutil.copytree(SAMPLE, outside / "secret")
        (inside / "leads_out").symlink_to(outside / "secret")
        client = self.client(inside)
        self.assertNotIn("leads_out", client.text("open"))
        answers = set()
        for path in ("leads_out", "../outside/secret", str(outside / "secret"), "/etc", "job/../../outside/secret", str(outside / "no"), "~"):
            with self.subTest(path=path):
                for tool in ("open", "compare"):
                    arguments = {"path": path} if tool == "open" else {"path": "job", "baseline": path}
                    text, is_error = client.call(tool, **arguments)
                    self.assertTrue(is_error)
                    answers.add(text.replace(path, "PATH"))
        self.assertEqual(len(answers), 1)  # what is outside is not even known to exist
        client.text("open", path="job")

    def test_links_inside_a_capture_do_not_leave_the_root(self):
        inside = self.scratch / "inside"
        shutil.copytree(SAMPLE, inside / "job")
        [trace, *_] = sorted((inside / "job").rglob("trace_view.json"))
        outside = self.scratch / "trace.json"
        shutil.move(trace, outside)
        trace.symlink_to(outside)
        client = self.client(inside)
        client.call("open", path="job")
        text, _ = client.call("sql", path="job", query="SELECT rank, count(*) FROM slices GROUP BY 1")
        self.assertEqual(len([line for line in text.splitlines() if re.match(r"\d+ \| \d+$", line)]), 1, text)

    def test_a_query_without_end_is_stopped(self):
        client = self.client(SAMPLE.parent, "--timeout", "2")
        client.text("open", path="sample")
        begin = time.monotonic()
        text, is_error = client.call("sql", query="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
        self.assertTrue(is_error)
        self.assertIn("stopped after 2 s", text)
        self.assertLess(time.monotonic() - begin, 20)
        client.text("breakdown")

    def test_a_call_can_be_cancelled_while_it_runs(self):
        client = self.client()
        client.text("open", path="sample")
        client.send({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": {"name": "sql", "arguments": {
            "query": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"}}})
        self.assertEqual(client.result("ping"), {})  # while the call runs
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
        begin = time.monotonic()
        client.text("breakdown")  # the next answer is this one's
        self.assertLess(time.monotonic() - begin, 30)

    def test_huge_texts_are_shortened(self):
        client = self.client()
        text = client.text("sql", path="sample", query="SELECT printf('%.*c', 1000000, 'x') AS a, 1 AS b")
        self.assertLess(len(text), 400)
        text, is_error = client.call("sql", query="x" * 100000)
        self.assertTrue(is_error)
        self.assertLess(len(text), 2100)

    def test_a_capture_that_changes_is_read_again(self):
        job = self.scratch / "root" / "job"
        shutil.copytree(SAMPLE, job)
        client = self.client(self.scratch / "root")
        self.assertIn("2 ranks", client.text("open", path="job"))
        client.text("link", slice_id=3)
        [gone] = [folder for folder in job.iterdir() if list(folder.glob("profiler_info_1.json"))]
        shutil.rmtree(gone)
        self.assertIn("1 rank (0)", client.text("open", path="job"))
        self.assertNotIn("\n1 | ", client.text("breakdown"))
        shutil.rmtree(job)
        text, is_error = client.call("breakdown")
        self.assertTrue(is_error)
        self.assertIn("not there", text)

    def test_many_captures_can_be_opened(self):
        for i in range(12):
            os.makedirs(self.scratch / "jobs")if i == 0 else None
            shutil.copytree(SAMPLE, self.scratch / "jobs" / f"job{i}")
        client = self.client(self.scratch / "jobs")
        for i in list(range(12)) + [0]:
            self.assertIn(f"job{i}: 2 ranks", client.text("open", path=f"job{i}"))


if __name__ == "__main__":
    unittest.main()
