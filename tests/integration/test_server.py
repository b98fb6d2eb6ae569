"""The viewer's server from outside: its answers on real captures, and what it refuses."""

import collections
import concurrent.futures
import contextlib
import gzip
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import struct
import subprocess
import time
import unittest

import support

LEVEL1 = support.DATA / "ascend_pt" / "text" / "level1"
KINETO = support.DATA / "kineto" / "hta" / "nccl_parser_config" / "nccl_data.json.gz"


class Server:
    """`steplens view` as a child process."""

    def __init__(self, environment, *words, log_in=True):
        self.process = subprocess.Popen([support.PROGRAM, "view", *map(str, words), "--no-browser"],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        self.url = self.process.stdout.readline().decode().strip()
        match = re.match(r"http://127\.0\.0\.1:(\d+)/(?:\?token=([0-9a-f]{32}))?", self.url)
        self.port = int(match.group(1))
        self.address_token = match.group(2) or ""
        self.token = ""  # what the cookie carries; log_in gets it for the token of the address
        if self.address_token and log_in:
            self.token = self.log_in().split(";")[0].split("=")[1]

    def log_in(self, **headers):
        """The cookie for the token of the address, which serves once."""
        status, answer, _ = self.raw("GET", f"/?token={self.address_token}", headers=headers)
        assert status in (200, 302), status
        return answer["set-cookie"]

    def raw(self, method, path, body=None, headers=None, timeout=60):
        """Status, headers and body of a request, with nothing but the given headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def headers(self):
        return {"X-Steplens-Token": self.token, "X-Steplens": "1", "Content-Type": "application/json"}

    def get(self, path):
        status, _, body = self.raw("GET", "/api/v1" + path, headers=self.headers())
        return status, json.loads(body)

    def post_raw(self, path, body):
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        return self.raw("POST", "/api/v1" + path, text, self.headers())

    def post(self, path, body):
        status, _, answer = self.post_raw(path, body)
        return status, json.loads(answer)

    def wait_ready(self):
        for _ in range(2400):
            sets = self.get("/info")[1]["datasets"]
            if sets and all(one["ready"] for one in sets):
                return sets[0]["ds"]
            time.sleep(0.05)
        raise AssertionError("not ready after two minutes")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=120)
        self.process.stdout.close()
        return code


def read_tiles(data):
    """Tiles of a response: [(track, level, kind, index, payload)]."""
    tiles, at = [], 0
    while at < len(data):
        size, track, level, kind, _, index = struct.unpack_from("<IIBBHI", data, at)
        tiles.append((track, level, kind, index, data[at + 16:at + size]))
        at += size
    return tiles


def read_rows(payload, shaded=False):
    """Rows of a slice tile: per row a list of (x0, x1, name, ord, count, coverage, flags) and, if asked for, the shade."""
    def take(form, count, at):
        values = struct.unpack_from(f"<{count}{form}", payload, at)
        return values, at + (count * struct.calcsize(form) + 3) // 4 * 4
    (rows, _), at = struct.unpack_from("<HH", payload, 0), 4
    result = []
    for _ in range(rows):
        (n,), at = struct.unpack_from("<I", payload, at), at + 4
        columns = []
        for form in "HHIIHBB" + "B" * shaded:
            values, at = take(form, n, at)
            columns.append(values)
        result.append(list(zip(*columns)))
    assert at == len(payload)
    return result


class ServerCase(support.Case):
    def start(self, *words, **options):
        server = Server(self.environment, *words, **options)
        self.addCleanup(lambda: server.process.poll() is None and server.stop())
        return server


@support.needs_shared
class Answers(ServerCase):
    """One server on a real capture of two ranks for all of them."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server(dict(os.environ, STEPLENS_CACHE_DIR="/dev/null/steplens"), LEVEL1)
        cls.ds = cls.server.wait_ready()
        tracks = cls.server.get(f"/ds/{cls.ds}/tracks")[1]
        cls.tracks = [dict(zip(tracks["cols"], row)) for row in tracks["rows"]]
        cls.by_path = {track["path"]: track for track in cls.tracks}
        cls.meta = cls.server.get(f"/ds/{cls.ds}")[1]

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def post(self, what, body, expect=200):
        status, answer = self.server.post(f"/ds/{self.ds}/{what}", body)
        self.assertEqual(status, expect, answer)
        return answer

    def track(self, path):
        return self.by_path[path]["id"]

    def assertWorded(self, *explanations):
        """The catalogue has words for all that was said, in both languages, and the arguments they name."""
        for language in ("en", "zh"):
            words = json.loads((support.ROOT / "src" / "analysis" / "text" / f"{language}.json").read_text())
            for why in explanations:
                for part in (why["title"], why["verdict"], *why["items"]):
                    self.assertLessEqual(set(re.findall(r"{(\w+)}", words[part["key"]])), set(part["args"]))

    def test_the_lane_tree_has_every_layer_with_stable_paths(self):
        for path in ("r0", "r0/py", "r0/py/stack3096504", "r0/cann", "r0/hw/stream2", "r0/comm/plane0",
                     "r0/comm/group0communication", "r0/overlap/free", "r0/counters/npu/aicorefreq", "r1/hw/stream2"):
            self.assertIn(path, self.by_path)
        self.assertEqual(len(self.by_path), len(self.tracks))
        self.assertEqual(self.by_path["r0/hw"]["n"], 535)
        ids = {track["id"] for track in self.tracks}
        self.assertTrue(all(track["parent"] in ids for track in self.tracks if track["parent"]))

    def test_tiles_count_every_slice_once(self):
        end = self.meta["extent"][1]
        level = 17
        keys = [[track["id"], level, i] for track in self.tracks if track["kind"] == "slices" and track["rank"] == 0
                for i in range((end >> (level + 10)) + 1)]
        counts = {}
        for start in range(0, len(keys), 256):
            body = {"ds": self.ds, "align": 0, "keys": keys[start:start + 256]}
            status, _, data = self.server.post_raw("/tiles", body)
            self.assertEqual(status, 200)
            for track, _, kind, _, payload in read_tiles(data):
                if kind == 1:
                    counts[track] = counts.get(track, 0) + sum(run[4] for row in read_rows(payload) for run in row)
        for track in self.tracks:
            if track["kind"] == "slices" and track["rank"] == 0:
                self.assertEqual(counts.get(track["id"], 0), track["n"], track["path"])

    def test_tiles_rank_durations_among_those_of_their_name(self):
        slices = self.query(LEVEL1, "SELECT name, dur_ns FROM slices WHERE rank = 0")
        by_name = collections.defaultdict(list)
        for one in slices:
            by_name[one["name"]].append(one["dur_ns"])

        def shade(name, dur):
            others = len(by_name[name]) - 1
            if others == 0:
                return 0
            shorter = sum(each < dur for each in by_name[name])
            equal = by_name[name].count(dur) - 1
            return 1 + int(254 * (shorter + equal / 2) / others + 0.5)

        seen = set()
        for path in ("r0/hw/stream2", "r0/py/thread3096504"):
            body = {"ds": self.ds, "keys": [[self.track(path), 18, 0]], "shade": "percentile"}
            (_, _, kind, _, payload), = read_tiles(self.server.post_raw("/tiles", body)[2])
            self.assertEqual(kind, 1)
            for row in read_rows(payload, shaded=True):
                for run in row:
                    one = slices[run[3]]
                    self.assertEqual(run[7], shade(one["name"], one["dur_ns"]), (path, one))
                    seen.add(run[7])
        self.assertGreater(len(seen), 50)

    def test_kernels_belong_to_the_module_that_launched_them(self):
        modules = self.server.get(f"/ds/{self.ds}/modules?rank=0")[1]["modules"]
        self.assertIn("DistributedDataParallel_0/AlexNet_0/Sequential_0/Conv2d_0", modules)
        slices = self.query(LEVEL1, "SELECT name FROM slices WHERE rank = 0")
        body = {"ds": self.ds, "keys": [[self.track("r0/hw/stream2"), 18, 0]], "shade": "module"}
        (_, _, _, _, payload), = read_tiles(self.server.post_raw("/tiles", body)[2])
        runs = [run for row in read_rows(payload, shaded=True) for run in row]
        found = {slices[run[3]]["name"]: modules[run[7] - 1] for run in runs if run[7]}
        self.assertRegex(found["Conv2D1"], r"/Sequential_0/Conv2d_\d$")
        self.assertRegex(found["Conv2DBackpropInput8"], r"/Sequential_0/\[Backward\]Conv2d_\d$")

    def test_the_data_page_knows_how_long_each_file_took(self):
        files = {pathlib.Path(one["path"]).name: one for one in self.meta["ranks"][0]["files"]}
        self.assertGreater(files["trace_view.json"]["read_ms"], 0)
        self.assertLess(files["profiler_info_0.json"]["read_ms"], self.meta["ranks"][0]["read_ms"])

    def test_range_statistics_are_the_reference_viewers(self):
        # Sums over the lane straight from the trace: full durations, edges included.
        end = self.meta["extent"][1]
        for path, sql in (("r0/hw/stream2", "name = 'Stream 2'"), ("r0/overlap/free", "name = 'Free'")):
            rows = self.query(LEVEL1, f"""SELECT s.name, count(*) n, sum(dur_ns) wall, max(dur_ns) most FROM slices s
                JOIN tracks t ON t.rank = s.rank AND t.id = s.track_id WHERE s.rank = 0 AND t.{sql} GROUP BY s.name""")
            got = self.post("range", {"tracks": [self.track(path)], "t0": 0, "t1": end, "clip": False, "by": "name"})
            table = {row[0]: row for row in got["rows"]}
            self.assertEqual(len(table), len(rows))
            for row in rows:
                self.assertEqual(table[row["name"]][1:3], [row["n"], row["wall"]])
                self.assertEqual(table[row["name"]][6], row["most"])
            self.assertEqual(got["total"]["sum"], sum(row["wall"] for row in rows))
        # The reference viewer's Overall Metrics of this capture: 8873.76 and 101963.20 us.
        self.assertEqual(round(got["total"]["computing"] / 1000, 2), 8873.76)
        self.assertEqual(round(got["total"]["not_overlapped"] / 1000, 2), 101963.2)

    def test_clipping_cuts_at_the_edges(self):
        free = self.post("search", {"q": "Free", "mode": "exact", "tracks": [self.track("r0/overlap/free")], "limit": 1})
        hit = free["hits"][0]
        window = {"tracks": [hit["track"]], "t0": hit["begin"] + 1, "t1": hit["begin"] + hit["dur"] - 1, "by": "name"}
        self.assertEqual(self.post("range", dict(window, clip=True))["rows"][0][2], hit["dur"] - 2)
        self.assertEqual(self.post("range", dict(window, clip=False))["rows"][0][2], hit["dur"])

    def test_a_kernel_knows_who_launched_it(self):
        hit = self.post("search", {"q": "MatMulV2", "tracks": [self.track("r0/hw/stream2")], "limit": 1})["hits"][0]
        status, slice_ = self.server.get(f"/ds/{self.ds}/slice?track={hit['track']}&i={hit['i']}")
        self.assertEqual(status, 200)
        self.assertEqual(slice_["kernel"]["input_shapes"], "32,9216;4096,9216;4096")
        self.assertEqual(slice_["args"]["Task Type"], "AI_CORE")
        self.assertEqual(slice_["wall"], "2025-01-09 07:48:03.716197363")
        self.assertEqual({flow["kind"] for flow in slice_["flows_in"]}, {"HostToDevice", "async_npu"})
        op = next(flow for flow in slice_["flows_in"] if flow["kind"] == "async_npu")
        _, back = self.server.get(f"/ds/{self.ds}/slice?track={op['track']}&i={op['i']}")
        self.assertIn(hit["i"], [flow["i"] for flow in back["flows_out"]])
        self.assertEqual(back["step"], 50)

    def test_search_pages_through_all_hits_in_order(self):
        everything = self.post("search", {"q": "aten::", "limit": 10000})
        self.assertEqual(everything["count"], len(everything["hits"]))
        self.assertEqual(sum(n for _, n in everything["per_track"]), everything["count"])
        cursor, paged = None, []
        while True:
            page = self.post("search", {"q": "aten::", "limit": 100, "cursor": cursor})
            paged += page["hits"]
            cursor = page["cursor"]
            if cursor is None:
                break
        self.assertEqual(paged, everything["hits"])
        keys = [(hit["begin"], hit["track"], hit["i"]) for hit in paged]
        self.assertEqual(keys, sorted(keys))

    def test_search_modes_and_filters(self):
        count = lambda q, **more: self.post("search", dict({"q": q, "limit": 0}, **more))["count"]
        self.assertEqual(count("ATEN::ADD_", mode="case"), 0)
        self.assertGreater(count("ATEN::ADD_"), 0)
        self.assertEqual(count("free", mode="whole"), count("Free", mode="exact"))
        self.assertEqual(count("free", mode="exact"), 0)
        self.assertEqual(count("^aten::(add|mul)", mode="regex"), count("name=~\"^aten::(add|mul)\""))
        self.assertEqual(count("name~matmul rank=0") + count("name~matmul rank=1"), count("matmul"))
        self.assertGreater(count("dur>1ms lane:hardware"), 0)
        self.assertEqual(count("name~matmul dur>10s"), 0)
        self.assertEqual(count("name~matmul or name~aten::add"), count("name=~\"matmul|aten::add\""))
        self.assertEqual(count("not name~aten"), count("name~\"\"") - count("aten"))
        self.assertEqual(count("lane:hardware and (dur>1ms or dur<=1ms)"), count("lane:hardware"))
        for bad in ("dur>fast", "name=~\"(\"", "rank=x", "name~\"open", "name~a or", "(name~a"):
            self.post("search", {"q": bad}, expect=400)

    def test_search_reads_arguments_from_the_trace(self):
        count = lambda q: self.post("search", {"q": q, "limit": 0})["count"]
        hit = self.post("search", {"q": "lane:hardware name~matmul", "limit": 1})["hits"][0]
        _, detail = self.server.get(f"/ds/{self.ds}/slice?track={hit['track']}&i={hit['i']}")
        name, value = next((name, value) for name, value in detail["args"].items() if isinstance(value, str) and value)
        same = self.post("search", {"q": f'lane:hardware name~matmul arg."{name}"="{value}"', "limit": 1000})
        self.assertIn(hit["i"], [one["i"] for one in same["hits"]])
        both = count(f'lane:hardware arg."{name}"="{value}"') + count(f'lane:hardware not arg."{name}"="{value}"')
        self.assertEqual(both, count("lane:hardware"))

    def test_merged_streams_keep_every_slice(self):
        streams = [track for track in self.tracks if track["path"].startswith("r0/hw/stream")]
        merged = self.post("merge", {"tracks": [track["id"] for track in streams]})
        self.assertEqual(merged["n"], sum(track["n"] for track in streams))
        ask = lambda tracks: self.post("range", {"tracks": tracks, "t0": 0, "t1": self.meta["extent"][1]})
        one, many = ask([merged["track"]]), ask([track["id"] for track in streams])
        self.assertEqual([row[:3] for row in one["rows"]], [row[:3] for row in many["rows"]])
        self.assertEqual(one["total"], many["total"])
        level = max(0, (self.meta["extent"][1] >> 10).bit_length())
        data = self.server.post_raw("/tiles", {"ds": self.ds, "keys": [[merged["track"], level, 0]]})[2]
        (_, _, kind, _, payload), = read_tiles(data)
        self.assertEqual(kind, 1)
        self.assertEqual(sum(run[4] for row in read_rows(payload) for run in row), merged["n"])

    def test_lanes_are_as_busy_as_range_statistics_say(self):
        end = self.meta["extent"][1]
        for path in ("r0/hw/stream2", "r1/overlap/computing", "r0/py"):
            for t0, t1 in ((0, end), (end // 3, end // 2)):
                track = self.track(path)
                (_, count, busy, *more), = self.post("lanes", {"tracks": [track], "t0": t0, "t1": t1})["rows"]
                waiting = more[1] if more else 0  # of a stream that waits for events
                total = self.post("range", {"tracks": [track], "t0": t0, "t1": t1})["total"]
                self.assertAlmostEqual(busy + waiting, total["covered"], delta=(t1 - t0) * 0.002)
                self.assertLessEqual(abs(count - total["count"]), 2)  # edges count in one of them

    def test_collectives_lead_from_rank_to_rank(self):
        off = self.post("flows", {"t0": 0, "t1": self.meta["extent"][1]})
        cats = {cat["name"]: cat for cat in off["cats"]}
        self.assertTrue(cats["collective"]["off"])
        self.assertNotIn("collective", {off["cats"][flow[7]]["name"] for flow in off["flows"]})
        on = self.post("flows", {"t0": 0, "t1": self.meta["extent"][1], "cats": ["collective"]})
        rank_of = {track["id"]: track["rank"] for track in self.tracks}
        self.assertEqual(sum(flow[6] for flow in on["flows"]), cats["collective"]["count"])
        self.assertTrue(all(rank_of[flow[0]] != rank_of[flow[3]] for flow in on["flows"]))
        hit = self.post("search", {"q": "name~allReduce lane:Communication rank=0", "limit": 1})["hits"][0]
        _, peers = self.server.get(f"/ds/{self.ds}/peers?track={hit['track']}&i={hit['i']}")
        self.assertEqual((peers["by"], [one["rank"] for one in peers["slices"]]), ("call", [0, 1]))
        self.assertEqual(sum(one["is_last"] for one in peers["slices"]), 1)

    def test_a_range_can_be_opened_again_as_a_trace(self):
        tracks = [self.track("r0/hw"), self.track("r0/py")]
        end = self.meta["extent"][1]
        status, headers, body = self.server.post_raw(f"/ds/{self.ds}/trace", {"tracks": tracks, "t0": 0, "t1": end})
        self.assertEqual((status, headers["content-type"]), (200, "application/json"))
        events = json.loads(body)["traceEvents"]
        count = self.post("range", {"tracks": tracks, "t0": 0, "t1": end + 1})["total"]["count"]
        self.assertEqual(sum(event["ph"] == "X" for event in events), count)
        self.assertEqual(len({event["id"] for event in events if event["ph"] == "f"} -
                             {event["id"] for event in events if event["ph"] == "s"}), 0)

    def test_answers_say_what_they_cost(self):
        headers = self.server.raw("GET", "/api/v1/info", headers=self.server.headers())[1]
        self.assertRegex(headers["server-timing"], r"^cpu;dur=\d+\.\d+, total;dur=\d+\.\d+$")

    def test_two_ranks_and_two_runs_are_compared(self):
        path = f"/ds/{self.ds}"
        status, answer = self.server.post(f"{path}/compare", {"a": {"rank": 0}, "b": {"rank": 1}})
        self.assertEqual(status, 200)
        tables = answer["tables"]
        parts = {row[0]: row for row in tables["parts"]["rows"]}
        self.assertAlmostEqual(parts["Computing"][1], 8873.76, places=1)
        self.assertEqual(sum(row[7] for row in tables["operators"]["rows"]), 191 - self.collectives())
        self.assertTrue(tables["matched"]["rows"] and tables["sides"]["rows"])
        *bars, step = tables["waterfall"]["rows"]
        self.assertEqual((step[0], step[2], step[3]), ("step", 136581.009, 131912.615))
        for column in (2, 3, 4):
            self.assertAlmostEqual(sum(bar[column] for bar in bars), step[column], places=3)
        same = self.server.post(f"{path}/compare", {"a": {"rank": 0}, "b": {"ds": self.ds, "rank": 0}})[1]["tables"]
        self.assertEqual({row[2] for row in same["operators"]["rows"]}, {"same"})
        for body, code in (({"a": {}}, 400), ({"a": {}, "b": 7}, 400), ({"a": {}, "b": {"ds": "0" * 16}}, 404),
                           ({"a": {"rank": 99}, "b": {}}, 404), ({"a": {}, "b": {}, "group_by": "x"}, 400)):
            self.assertEqual(self.server.post(f"{path}/compare", body)[0], code, body)

    def collectives(self):
        return self.server.post(f"/ds/{self.ds}/sql", {"query": "SELECT count(*) FROM kernels WHERE rank = 0 AND core IN ('HCCL', 'COMMUNICATION')"})[1]["rows"][0][0]

    def test_findings_name_a_gain_and_a_place(self):
        answer = self.server.post(f"/ds/{self.ds}/metric", {"name": "findings", "args": {"rank": 0}})[1]
        table = answer["tables"]["findings"]
        names = [column["name"] for column in table["columns"]]
        rows = [dict(zip(names, row)) for row in table["rows"]]
        self.assertIn("exposed_communication", [row["kind"] for row in rows])
        gains = [row["gain_us"] for row in rows if row["gain_us"] is not None]
        self.assertEqual(gains, sorted(gains, reverse=True))
        for row in rows:
            self.assertTrue(row["subject"] and row["subjectZh"] and row["reason"] and row["reasonZh"] and row["advice"] and row["adviceZh"], row)

    def test_a_number_shows_the_slices_behind_it(self):
        args = {"rank": 0, "group_by": "Computing Operator Type", "top": -1}
        groups = self.server.post(f"/ds/{self.ds}/metric", {"name": "operator_groups", "args": args})[1]["tables"]["groups"]
        names = [column["name"] for column in groups["columns"]]
        row = dict(zip(names, groups["rows"][0]))
        status, answer = self.server.post(f"/ds/{self.ds}/explain", {"kind": "number", "name": "operator_groups", "args": args, "row": row, "column": "Total Time(us)"})
        self.assertEqual(status, 200)
        self.assertEqual(answer["verdict"]["args"]["count"], str(row["Count"]))
        self.assertEqual(answer["definition"], "insight.operator_groups")
        self.assertTrue(answer["items"][0]["t1"] > answer["items"][0]["t0"] >= 0)
        self.assertEqual(self.server.post(f"/ds/{self.ds}/explain", {"kind": "number"})[0], 400)

    def test_a_pair_of_ranks_shows_all_its_operators(self):
        links = self.query(LEVEL1, "SELECT op_name, transit_size_mb AS mb FROM comm_links WHERE rank = 0 AND src_rank = 0 AND dst_rank = 1")
        table = self.post("metric", {"name": "comm_matrix", "args": {"src": 0, "dst": 1}})["tables"]["pair"]
        at = {column["name"]: place for place, column in enumerate(table["columns"])}
        sizes = {row[at["operator"]]: row[at["Transit Size(MB)"]] for row in table["rows"]}
        self.assertEqual(sizes.pop("Total Op Info"), sizes["allreduce-total"])
        self.assertEqual(sizes, {link["op_name"]: round(float(link["mb"]), 4) for link in links})
        self.assertEqual(len(sizes), 6)
        self.assertNotIn("pair", self.post("metric", {"name": "comm_matrix", "args": {}})["tables"])

    def test_operators_are_followed_to_their_launch(self):
        table = self.server.post(f"/ds/{self.ds}/metric", {"name": "dispatch", "args": {"rank": 0}})[1]["tables"]["dispatch"]
        names = [column["name"] for column in table["columns"]]
        rows = [dict(zip(names, row)) for row in table["rows"]]
        tasks = [row for row in rows if row["parent"] is not None]
        self.assertEqual(len(tasks), 159, "one for each Enqueue of the trace")
        self.assertTrue(all(row["E2E(us)"] >= row["Enqueue(us)"] for row in tasks))

    def test_filters_may_be_json(self):
        def count(body):
            return self.server.post(f"/ds/{self.ds}/search", {"limit": 0, **body})[1]["count"]
        terms = {"and": [{"field": "name", "op": "~", "value": "aten::"}, {"field": "dur", "op": ">", "value": 50000}]}
        self.assertEqual(count({"filter": terms}), count({"q": 'name~"aten::" dur>50us'}))
        self.assertEqual(self.server.post(f"/ds/{self.ds}/search", {"filter": {"field": "name"}})[0], 400)

    def test_one_tile_may_be_kept_by_the_browser(self):
        track = self.by_path["r0/hw/stream2"]["id"]
        address = f"/api/v1/ds/{self.ds}/tile?track={track}&level=20&index=0"
        status, headers, body = self.server.raw("GET", f"{address}&set={self.meta['tile_set']}", headers=self.server.headers())
        self.assertEqual(status, 200)
        self.assertIn("immutable", headers["cache-control"])
        self.assertEqual(body, self.server.post_raw("/tiles", {"ds": self.ds, "keys": [[track, 20, 0]]})[2])
        self.assertEqual(self.server.raw("GET", address, headers=self.server.headers())[1]["cache-control"], "no-store")

    def test_next_walks_a_row_and_ends(self):
        track = self.track("r0/hw/stream2")
        at = self.post("search", {"q": "name~\"\"", "tracks": [track], "limit": 1})["hits"][0]
        seen = 1
        while True:
            status, following = self.server.post(f"/ds/{self.ds}/next", {"track": track, "i": at["i"], "dir": 1, "same": "track"})
            if status == 404:
                break
            self.assertGreaterEqual(following["begin"], at["begin"])
            at, seen = following, seen + 1
        self.assertEqual(seen, self.by_path["r0/hw/stream2"]["n"])

    def test_tables_sort_filter_group_and_export(self):
        body = {"source": "kernels", "cols": ["name", "dur_ns", "rank"], "sort": [{"col": "dur_ns", "desc": True}],
                "filter": [{"col": "rank", "op": "=", "value": 0}, {"col": "dur_ns", "op": ">", "value": 100000}], "limit": 5}
        table = self.post("table", body)
        sql = self.query(LEVEL1, "SELECT name, dur_ns, rank FROM kernels WHERE rank = 0 AND dur_ns > 100000 ORDER BY dur_ns DESC")
        self.assertEqual(table["rows"], [list(row.values()) for row in sql[:5]])
        self.assertEqual((table["total"], table["filtered"]), (382, len(sql)))
        grouped = self.post("table", {"source": "kernels", "group": ["core"], "measures": [{"col": "dur_ns", "fn": "sum"}],
                                      "sort": [{"col": "core"}]})
        sql = self.query(LEVEL1, "SELECT core, count(*) n, sum(dur_ns) total FROM kernels GROUP BY core ORDER BY core")
        self.assertEqual(grouped["rows"], [list(row.values()) for row in sql])
        status, headers, csv = self.server.post_raw(f"/ds/{self.ds}/export", dict(body, format="csv"))
        self.assertEqual(status, 200)
        self.assertIn("attachment", headers["content-disposition"])
        self.assertEqual(len(csv.decode().splitlines()), table["filtered"] + 1)
        events = self.post("table", {"source": "events", "args": {"tracks": [self.track("r0/hw")]}, "limit": 1})
        self.assertEqual(events["total"], 535)
        self.post("table", {"source": "kernels", "sort": [{"col": "nope"}]}, expect=400)
        self.post("table", {"source": "nope"}, expect=404)

    def test_sql_reads_only_and_within_its_time(self):
        answer = self.post("sql", {"query": "SELECT rank, count(*) AS n FROM slices GROUP BY rank"})
        self.assertEqual(answer["rows"], [[0, 4384], [1, 4385]])
        self.assertFalse(answer["truncated"])
        self.assertTrue(self.post("sql", {"query": "SELECT * FROM slices", "limit": 3})["truncated"])
        for bad in ("DELETE FROM slices", "ATTACH 'x' AS y", "SELECT nope FROM slices", "SELECT", "PRAGMA journal_mode"):
            self.post("sql", {"query": bad}, expect=400)
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
        started = time.time()
        self.post("sql", {"query": endless, "timeout_ms": 300}, expect=408)
        self.assertLess(time.time() - started, 10)

    def test_ranks_align_by_collectives_and_by_operator(self):
        auto = self.post("align", {"mode": "auto"})
        self.assertEqual(auto["failed"], {})
        hit = self.post("search", {"q": "hcom_allReduce", "tracks": [self.track("r0/comm")], "limit": 1})["hits"][0]
        by_op = self.post("align", {"mode": "op", "track": hit["track"], "i": hit["i"], "side": "right"})
        self.assertNotEqual(by_op["align"], 0)
        ends = set()
        for rank in (0, 1):
            there = self.post("search", {"q": hit["name"], "tracks": [self.track(f"r{rank}/comm/group0communication")],
                                         "limit": 1, "align": by_op["align"]})["hits"][0]
            ends.add(there["begin"] + there["dur"])
        self.assertEqual(len(ends), 1)
        manual = self.post("align", {"mode": "manual", "offsets": {"1": -1200}})
        self.assertEqual(manual["offsets"], {"0": 0, "1": -1200})
        self.assertEqual(self.post("align", {"mode": "reset"})["align"], 0)
        self.post("align", {"mode": "manual", "offsets": {"7": 1}}, expect=400)
        self.post("range", {"tracks": [1], "t0": 0, "t1": 1, "align": 999}, expect=400)

    def test_a_gap_a_wait_and_a_slice_are_explained(self):
        track = self.track("r0/hw/stream2")
        hits = self.post("search", {"q": "name~\"\"", "tracks": [track], "limit": 10000})["hits"]
        before, after = max(zip(hits, hits[1:]), key=lambda pair: pair[1]["begin"] - pair[0]["begin"] - pair[0]["dur"])
        end = before["begin"] + before["dur"]
        gap = self.post("explain", {"kind": "gap", "track": track, "t": (end + after["begin"]) // 2})
        causes = ("gap.host_bound", "gap.communication", "gap.dependency", "gap.launch", "gap.unknown")
        parts = [item for item in gap["items"] if item["key"] in causes]
        self.assertEqual(sum(item["ns"] for item in parts), after["begin"] - end)
        self.assertAlmostEqual(sum(item["share"] for item in parts), 1, places=6)
        self.assertIn(gap["verdict"]["key"], causes)
        self.post("explain", {"kind": "gap", "track": track, "t": before["begin"] + before["dur"] // 2}, expect=400)
        hit = self.post("search", {"q": "hcom_allReduce", "tracks": [self.track("r0/comm/group0communication")],
                                   "limit": 1})["hits"][0]
        wait = self.post("explain", {"kind": "wait", "track": hit["track"], "i": hit["i"]})
        # 2 of 8 ranks were captured: the parts fill the call, and nobody is blamed.
        parts = [item for item in wait["items"] if item["key"] in ("wait.transfer", "wait.others", "wait.idle")]
        self.assertEqual(sum(item["ns"] for item in parts), hit["dur"])
        keys = [item["key"] for item in wait["items"]]
        self.assertIn("wait.partial", keys)
        self.assertIn("wait.source_results", keys)
        self.assertNotIn("wait.skew", keys)
        sync = self.post("search", {"q": "aclrtSynchronizeStreamWithTimeout", "limit": 1})["hits"][0]
        host = self.post("explain", {"kind": "slice", "track": sync["track"], "i": sync["i"]})
        self.assertTrue(host["verdict"]["key"].startswith("sync."), host["verdict"])
        free = self.post("search", {"q": "name~\"\"", "tracks": [self.track("r0/overlap/free")], "limit": 1})["hits"][0]
        idle = self.post("explain", {"kind": "slice", "track": free["track"], "i": free["i"]})
        self.assertEqual(idle["title"]["key"], "gap.title")
        self.post("explain", {"kind": "gap", "track": self.track("r0/py/stack3096504"), "t": 0}, expect=400)
        slow = self.post("explain", {"kind": "slice", "track": track, "i": before["i"]})
        self.assertIn(before["name"], slow["title"]["text"])
        self.assertWorded(gap, wait, idle, slow, host)

    def test_snapshot_is_one_page_in_which_names_are_data(self):
        status, headers, page = self.server.post_raw(f"/ds/{self.ds}/snapshot", {"t0": 0, "t1": 50_000_000, "tracks": [1]})
        self.assertEqual(status, 200)
        self.assertTrue(headers["content-type"].startswith("text/html"))
        self.assertNotIn(b"http://", page)
        self.assertNotIn(b"src=", page)

    def test_files_outside_are_not_there(self):
        status, listing = self.server.get(f"/fs?path={LEVEL1}")
        self.assertEqual(status, 200)
        self.assertEqual([entry["name"] for entry in listing["entries"]], ["rank0_ascend_pt", "rank1_ascend_pt"])
        for path in ("/etc", "/etc/passwd", f"{LEVEL1}/../../db", "/nonexistent", "", "..", "/proc/self/root"):
            status, answer = self.server.get(f"/fs?path={path}")
            self.assertTrue(status == 404 or path == "", (path, answer))
            self.assertEqual(self.server.post("/open", {"path": path or "/"})[0], 404)

    def test_bad_requests_get_a_clear_answer(self):
        ds = f"/ds/{self.ds}"
        cases = [
            ("/ds/0000000000000000/range", {}, 404), (ds + "/nothing", {}, 404), ("/tiles", {}, 400),
            ("/tiles", {"ds": self.ds, "keys": [[1, 0]]}, 400), ("/tiles", {"ds": self.ds, "keys": [[10**9, 0, 0]]}, 400),
            ("/tiles", {"ds": self.ds, "keys": [[1, 60, 0]]}, 400), ("/tiles", {"ds": self.ds, "keys": [[1, 0, -1]]}, 400),
            ("/tiles", {"ds": self.ds, "keys": [[1, 44, 2**32 - 1]]}, 400),
            ("/tiles", {"ds": self.ds, "keys": [[1, 0, 0]] * 257}, 400),
            (ds + "/range", {"tracks": [-1], "t0": 0, "t1": 1}, 400), (ds + "/range", {"tracks": [1], "t0": 5, "t1": 1}, 400),
            (ds + "/range", {"tracks": [1.5], "t0": 0, "t1": 1}, 400), (ds + "/range", {"tracks": [1], "t0": 0.5, "t1": 1}, 400),
            ("/tiles", {"ds": self.ds, "keys": [[1.5, 0, 0]]}, 400), ("/tiles", {"ds": self.ds, "keys": [], "shade": "rainbow"}, 400),
            (ds + "/next", {"track": self.track("r0/hw/stream2"), "i": 0.5}, 400), (ds + "/focus", {"ranks": [0.5]}, 400),
            (ds + "/range", {"tracks": "all", "t0": 0, "t1": 1}, 400), (ds + "/range", "[1]", 400),
            (ds + "/range", "{\"tracks\":", 400), (ds + "/range", b"\xff\xfe", 400), (ds + "/range", "[" * 5000, 400),
            (ds + "/next", {"track": 1, "i": 0}, 400), (ds + "/next", {"track": self.track("r0/hw/stream2"), "i": 10**12}, 400),
            (ds + "/merge", {"tracks": [1]}, 400), (ds + "/merge", {"tracks": list(range(1, 600))}, 400),
            (ds + "/lanes", {"tracks": [1], "t0": 5, "t1": 1}, 400), (ds + "/lanes", {"tracks": [2**31], "t0": 0, "t1": 1}, 400),
            (ds + "/trace", {"tracks": [1], "t0": 5, "t1": 1}, 400), (ds + "/hist", {"q": "name~a or"}, 400),
            (ds + "/search", {"q": "(" * 900 + "name~a"}, 400),
            (ds + "/explain", {"kind": "why"}, 400), (ds + "/strings", {"ids": [10**9]}, 400),
            (ds + "/table", {"source": "kernels", "filter": [{"col": "name", "op": "like", "value": 1}]}, 400),
            (ds + "/table", {"source": "kernels", "filter": [{"col": "name", "op": "regex", "value": "(a{1,999}){1,999}"}]}, 400),
            (ds + "/export", {"source": "kernels", "format": "exe"}, 400), (ds + "/snapshot", {"t0": 9, "t1": 9}, 400),
        ]
        for path, body, expect in cases:
            status, _, answer = self.server.post_raw(path, body)
            self.assertEqual(status, expect, (path, body, answer[:300]))
            self.assertTrue(json.loads(answer)["error"]["message"], path)
        huge = {"tracks": [self.track("r0")], "t0": -2**62, "t1": 2**62}
        self.assertEqual(self.post("range", huge)["total"]["count"], 4384)

    def test_a_body_that_is_too_large_is_refused(self):
        self.assertEqual(self.server.post_raw(f"/ds/{self.ds}/range", b" " * (1 << 20 | 1))[0], 413)

    def test_a_view_is_kept_only_where_there_is_a_place(self):
        status, answer = self.server.post(f"/ds/{self.ds}/view", {"t": [0, 1]})
        self.assertIn(status, (404, 422, 500), answer)
        self.assertEqual(self.server.get(f"/ds/{self.ds}/view/..%2F..%2Fetc")[0], 400)


class Safety(ServerCase):
    def test_only_who_has_the_token_is_answered(self):
        server = self.start(support.SAMPLE, log_in=False)
        self.assertEqual(len(server.address_token), 32)
        self.assertEqual(server.raw("GET", "/api/v1/info")[0], 401)
        self.assertEqual(server.raw("GET", "/")[0], 401)
        self.assertEqual(server.raw("GET", "/?token=" + "0" * 32)[0], 401)
        self.assertEqual(server.raw("GET", "/api/v1/info", headers={"X-Steplens-Token": server.address_token})[0], 401)
        status, headers, _ = server.raw("GET", f"/?token={server.address_token}")
        self.assertEqual((status, headers["location"]), (302, "./"))
        cookie = headers["set-cookie"]
        self.assertNotIn(server.address_token, cookie)
        # The address is spent, but for another tab of the same browser.
        self.assertEqual(server.raw("GET", f"/?token={server.address_token}")[0], 401)
        again = server.raw("GET", f"/?token={server.address_token}", headers={"Cookie": cookie.split(";")[0]})
        self.assertEqual((again[0], "set-cookie" in again[1]), (302, False))
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        status, headers, page = server.raw("GET", "/", headers={"Cookie": cookie.split(";")[0]})
        self.assertEqual(status, 200)
        self.assertIn("default-src 'self'", headers["content-security-policy"])
        self.assertNotIn("access-control-allow-origin", headers)
        self.assertIn(b"steplens", page)
        tagged = {"Cookie": cookie.split(";")[0], "If-None-Match": headers["etag"]}
        self.assertEqual(server.raw("GET", "/", headers=tagged)[0], 304)

    # One call of a function, which SQLite does not interrupt, for hundreds of seconds.
    ENDLESS_FUNCTION = "SELECT trim(printf('%.900000c', 'a'), printf('%.80000c', 'b') || 'a')"

    def test_sql_is_stopped_inside_a_function(self):
        server = self.start(support.SAMPLE)
        ds = server.wait_ready()
        started = time.time()
        for _ in range(2):
            self.assertEqual(server.post(f"/ds/{ds}/sql", {"query": self.ENDLESS_FUNCTION, "timeout_ms": 300})[0], 408)
        self.assertLess(time.time() - started, 3)
        too_long = server.post(f"/ds/{ds}/sql", {"query": "SELECT length(zeroblob(60000000))"})
        self.assertEqual((too_long[0], "longer than 1000000 bytes" in too_long[1]["error"]["message"]), (400, True))
        self.assertEqual(server.post(f"/ds/{ds}/sql", {"query": "SELECT 1"})[1]["rows"], [[1]])

    def test_sigterm_ends_a_server_that_is_stuck(self):
        server = self.start(support.SAMPLE)
        ds = server.wait_ready()
        self.assertEqual(server.post(f"/ds/{ds}/sql", {"query": self.ENDLESS_FUNCTION, "timeout_ms": 100})[0], 408)
        started = time.time()
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(timeout=20), 0)
        self.assertLess(time.time() - started, 8)

    def test_listed_folders_do_not_show_what_links_lead_to(self):
        self.write("outside/secret.json", "x" * 1234)
        self.write("given/t.json", '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]')
        for name, target in (("link.json", "../outside/secret.json"), ("root", "/"), ("again.json", "t.json")):
            os.symlink(target, self.scratch / "given" / name)
        server = self.start(self.scratch / "given", "--root", self.scratch / "given")
        server.wait_ready()
        entries = server.get(f"/fs?path={self.scratch}/given")[1]["entries"]
        self.assertEqual([entry["name"] for entry in entries], ["again.json", "t.json"])
        self.assertEqual(server.get(f"/fs?path={self.scratch}/given/root/etc")[0], 404)
        meta = server.get(f"/ds/{server.get('/info')[1]['datasets'][0]['ds']}")[1]
        self.assertEqual({os.path.basename(file["path"]) for file in meta["ignored"]}, {"link.json", "root"})

    def test_a_used_address_is_followed_by_another(self):
        process = subprocess.Popen([support.PROGRAM, "view", support.SAMPLE, "--no-browser"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=self.environment)
        self.addCleanup(process.communicate)
        self.addCleanup(process.terminate)
        pattern = rb"http://127\.0\.0\.1:(\d+)/\?token=(\w+)(#\S+)"
        port, first, place = re.match(pattern, process.stdout.readline()).groups()
        seen = {first}
        for _ in range(2):
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
            connection.request("GET", f"/?token={first.decode()}")
            self.assertEqual(connection.getresponse().status, 302)
            connection.close()
            line = process.stderr.readline()
            while not line.startswith(b"http"):
                line = process.stderr.readline()
            port, first, next_place = re.match(pattern, line).groups()
            self.assertEqual(next_place, place)
            self.assertNotIn(first, seen)
            seen.add(first)

    def test_no_token_is_in_the_list_of_processes(self):
        fake = self.write("bin/xdg-open", f"#!/bin/sh\necho \"$@\" > {self.scratch}/words\ncp \"$1\" {self.scratch}/page\n"
                                          f"stat -c %a \"$1\" \"$(dirname \"$1\")\" > {self.scratch}/modes\n")
        fake.chmod(0o755)
        environment = dict(self.environment, DISPLAY=":99", PATH=f"{fake.parent}:{os.environ['PATH']}")
        process = subprocess.Popen([support.PROGRAM, "view", support.SAMPLE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        printed = process.stdout.readline().decode()
        for _ in range(200):
            if (self.scratch / "modes").exists() and (self.scratch / "modes").read_text().count("\n") == 2:
                break
            time.sleep(0.05)
        words = (self.scratch / "words").read_text().strip()
        page = (self.scratch / "page").read_text()
        self.assertTrue(os.path.exists(words))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=20), 0)
        process.stdout.close()
        self.assertNotIn("token", words)
        self.assertRegex(page, r'url=http://127\.0\.0\.1:\d+/\?token=\w{32}#/\?ds=')
        self.assertNotIn(re.search(r"token=(\w+)", printed).group(1), page)  # the printed one stays unused
        self.assertEqual((self.scratch / "modes").read_text().split(), ["600", "700"])
        self.assertFalse(os.path.exists(os.path.dirname(words)))

    def test_a_link_from_another_site_lets_in_by_its_token_only(self):
        server = self.start(support.SAMPLE, log_in=False)
        away = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        self.assertEqual(server.raw("GET", f"/?token={server.address_token}", headers=dict(away, **{"Sec-Fetch-Mode": "no-cors"}))[0], 403)
        status, headers, page = server.raw("GET", f"/?token={server.address_token}", headers=away)
        # A redirect would still count as the other site's request; a page of ours goes on.
        self.assertEqual(status, 200)
        nonce = re.search(rb'nonce="(\w+)"', page).group(1).decode()
        self.assertIn(f"script-src 'nonce-{nonce}'", headers["content-security-policy"])
        cookie = {"Cookie": headers["set-cookie"].split(";")[0]}
        self.assertEqual(server.raw("GET", "/", headers=dict(cookie, **{"Sec-Fetch-Site": "same-origin"}))[0], 200)
        self.assertEqual(server.raw("GET", "/", headers=dict(cookie, **away))[0], 403)
        self.assertEqual(server.raw("GET", "/api/v1/info", headers=dict(cookie, **{"Sec-Fetch-Site": "same-site"}))[0], 403)
        open_to_all = self.start(support.SAMPLE, "--token", "none")
        self.assertEqual(open_to_all.raw("GET", "/api/v1/info", headers=away)[0], 403)
        self.assertEqual(open_to_all.raw("GET", "/api/v1/info", headers={"Sec-Fetch-Site": "none"})[0], 200)

    def test_exports_guard_formulas_if_asked(self):
        self.write("t/t.json", '[{"ph":"X","name":"=HYPERLINK(1)","cat":"-1.5","pid":1,"tid":1,"ts":1,"dur":2}]')
        server = self.start(self.scratch / "t")
        ds = server.wait_ready()
        for form, separator in (("csv", ","), ("tsv", "\t")):
            body = {"source": "slices", "cols": ["name", "category"], "format": form}
            for guard, name in ((False, "=HYPERLINK(1)"), (True, "'=HYPERLINK(1)")):
                text = server.post_raw(f"/ds/{ds}/export", dict(body, guard=guard))[2].decode()
                self.assertEqual(text, f"name{separator}category\n{name}{separator}-1.5\n")
        sql = "SELECT name, category FROM slices"
        for words, name in (((), "=HYPERLINK(1)"), (("--csv-safe",), "'=HYPERLINK(1)")):
            done = self.run_program("query", self.scratch / "t", sql, "--format", "csv", *words, expect=0)
            self.assertEqual(done.out, f"name,category\n{name},-1.5\n")

    def test_other_hosts_and_origins_are_refused(self):
        server = self.start(support.SAMPLE, "--token", "none")
        own = f"127.0.0.1:{server.port}"
        ask = lambda **headers: server.raw("GET", "/api/v1/info", headers={k.replace("_", "-"): v for k, v in headers.items()})[0]
        self.assertEqual(ask(), 200)
        self.assertEqual(ask(Host=f"localhost:{server.port + 1}"), 200)  # the near end of a tunnel
        self.assertEqual(ask(Host="evil.example"), 403)
        self.assertEqual(ask(Host=f"127.0.0.1.evil.example:{server.port}"), 403)
        self.assertEqual(ask(Host="127.0.0.1:18891.evil.com"), 403)
        self.assertEqual(ask(Host="[::1]evil.com"), 403)
        self.assertEqual(ask(Origin=f"http://{own}"), 200)
        self.assertEqual(ask(Origin="http://evil.example"), 403)
        self.assertEqual(ask(Origin="null"), 403)
        post = lambda headers: server.raw("POST", "/api/v1/open", "{}", headers)[0]
        self.assertEqual(post({"Content-Type": "application/json"}), 403)
        self.assertEqual(post({"X-Steplens": "1", "Content-Type": "text/plain"}), 415)
        self.assertEqual(server.raw("DELETE", "/api/v1/info")[0], 405)
        self.assertEqual(server.raw("OPTIONS", "/api/v1/info")[0], 405)

    def test_paths_of_assets_stay_inside(self):
        folder = self.scratch / "dist"
        self.write("dist/index.html", "<!doctype html>app")
        self.write("dist/assets/app-1.js", "1")
        self.write("secret.txt", "secret")
        server = self.start(support.SAMPLE, "--token", "none", "--assets", folder)
        self.assertEqual(server.raw("GET", "/")[2], b"<!doctype html>app")
        self.assertIn("immutable", server.raw("GET", "/assets/app-1.js")[1]["cache-control"])
        for path in ("/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt", "//etc/passwd", "/.hidden", "/a" * 300):
            self.assertIn(server.raw("GET", path)[0], (400, 404, 414), path)

    def test_a_thousand_requests_at_once_are_all_answered(self):
        server = self.start(support.SAMPLE)
        ds = server.wait_ready()
        body = {"ds": ds, "align": 0, "keys": [[i, 12, 0] for i in range(1, 9)]}

        def ask(_):
            for _ in range(20):  # told to come back: come back
                status = server.post_raw("/tiles", body)[0]
                if status != 503:
                    return status
                time.sleep(0.05)
            return status
        with concurrent.futures.ThreadPoolExecutor(200) as pool:
            self.assertEqual(set(pool.map(ask, range(1000))), {200})
        self.assertEqual(server.get("/info")[0], 200)

    def test_clients_that_hang_up_do_no_harm(self):
        server = self.start(support.SAMPLE)
        ds = server.wait_ready()
        endless = json.dumps({"query": "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
                              "timeout_ms": 60000})
        for i in range(8):  # twice as many as may run at once: they end when their client is gone
            raw = socket.create_connection(("127.0.0.1", server.port))
            raw.sendall((f"POST /api/v1/ds/{ds}/sql HTTP/1.1\r\nHost: localhost\r\nX-Steplens: 1\r\n"
                         f"X-Steplens-Token: {server.token}\r\nContent-Type: application/json\r\n"
                         f"Content-Length: {len(endless)}\r\n\r\n{endless}").encode())
            time.sleep(0.05)
            raw.close()
        for text in (b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: 99\r\n\r\n",
                     b"\0\0\0\0", b"GET " + b"a" * 70000, b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5000):
            raw = socket.create_connection(("127.0.0.1", server.port))
            raw.sendall(text)
            raw.close()
        started = time.time()
        status, answer = server.post(f"/ds/{ds}/sql", {"query": "SELECT count(*) FROM ranks", "timeout_ms": 20000})
        self.assertEqual((status, answer.get("rows")), (200, [[2]]))
        self.assertLess(time.time() - started, 15)
        self.assertEqual(server.stop(), 0)

    def test_progress_comes_as_events(self):
        server = self.start(support.SAMPLE, "--no-cache")
        server.wait_ready()
        raw = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        raw.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nX-Steplens-Token: {server.token}\r\n\r\n".encode())
        head = raw.recv(4096)
        self.assertIn(b"text/event-stream", head)
        path = self.scratch / "more"
        self.write("more/trace.json", '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]')
        self.assertEqual(server.post("/open", {"path": str(path)})[0], 404)  # not below a root
        raw.close()

    @staticmethod
    def read_head(connection):
        """The head of an answer. Who has it is subscribed: the server adds a listener before it answers."""
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(4096)
        return head

    def test_a_root_may_be_opened_and_tells_its_progress(self):
        self.write("more/trace.json", '[{"ph":"X","name":"<b>&\\"","pid":1,"tid":1,"ts":1,"dur":2}]')
        server = self.start(support.SAMPLE, "--root", self.scratch)
        server.wait_ready()
        raw = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        raw.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nX-Steplens-Token: {server.token}\r\n\r\n".encode())
        head = self.read_head(raw)
        status, answer = server.post("/open", {"path": str(self.scratch / "more")})
        self.assertEqual(status, 200)
        text = head
        while b'"what": "done"' not in text:
            text += raw.recv(4096)
        raw.close()
        self.assertIn(b"event: progress", text)
        self.assertIn(b"event: changed", text)
        meta = server.get(f"/ds/{answer['ds']}")[1]
        self.assertEqual(meta["ranks"][0]["counts"]["slices"], 1)

    def test_wrong_options_are_one_sentence(self):
        (self.scratch / "empty").mkdir()
        text = self.write("notes.txt", "no profile")
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        for words, code, says in (
                (("/nonexistent",), 3, "no such file or folder"), ((self.scratch / "empty",), 3, "no profile found"),
                ((text,), 3, "not"), ((support.SAMPLE, "--port", "99999"), 2, "not a port"),
                ((support.SAMPLE, "--host", "0.0.0.0", "--token", "none"), 2, "loopback"),
                ((support.SAMPLE, "--host", "192.0.2.1"), 6, "no such address"),
                ((support.SAMPLE, "--port", taken.getsockname()[1]), 6, "in use"),
                ((support.SAMPLE, "--view", "/nonexistent"), 3, "/nonexistent"),
                ((support.SAMPLE, "--root", "/nonexistent"), 3, "no such file or folder"),
                ((support.SAMPLE, "--root", self.scratch, "--root", text), 2, "not a folder")):
            done = self.run_program("view", *map(str, words), "--no-browser", timeout=20)
            self.assertEqual(done.returncode, code, (words, done.err))
            self.assertEqual(len(done.err.strip().splitlines()), 1, done.err)
            self.assertIn(says, done.err)
            self.assertEqual(done.out, "")

    def test_a_link_opens_at_what_it_shows(self):
        for link, page, state in (("t=0,5000", "timeline", "t=0,5000"), ("/operators?ds=0123&rank=1", "operators", "rank=1"),
                                  ("/data", "data", "")):
            server = self.start(f"{support.SAMPLE}#{link}")
            ds = server.get("/info")[1]["datasets"][0]["ds"]
            self.assertTrue(server.url.endswith(f"#/{page}?ds={ds}" + ("&" + state if state else "")), server.url)
            server.stop()

    def test_a_printed_link_is_one_that_view_opens(self):
        done = self.run_program("link", support.SAMPLE, "--time", "1ms,2.5ms", "--search", 'name~"Mat Mul" & x', "--ranks", "0,1", expect=0)
        link = done.out.strip()
        self.assertEqual(link, f"{support.SAMPLE}#/timeline?t=1000000,2500000&ranks=0,1&q=name~%22Mat%20Mul%22%20%26%20x")
        server = self.start(link)
        self.assertIn("&t=1000000,2500000&ranks=0,1&q=name~%22Mat%20Mul%22%20%26%20x", server.url)
        server.stop()
        self.assertEqual(self.run_program("link", support.SAMPLE, "--page", "findings", expect=0).out, f"{support.SAMPLE}#/findings\n")
        for words, code, says in ((["--time", "3ms,1ms"], 2, "--time 3ms,1ms"), (["--time", "soon"], 2, "--time soon"),
                                  (["--page", "nowhere"], 2, "nowhere")):
            done = self.run_program("link", support.SAMPLE, *words, expect=code)
            self.assertIn(says, done.err)
        self.run_program("link", self.scratch / "nothing", expect=3)

    def test_a_rank_without_a_number_is_the_same_from_the_cache(self):
        event = '{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":%d,"dur":5}'
        trace = self.write("one/trace.json", '{"schemaVersion":1,"traceEvents":[%s]}' % ",".join(event % (10 * i) for i in range(1, 50)))
        seen = []
        for _ in range(2):
            server = self.start(trace.parent)
            ds = server.wait_ready()
            ranks = server.get(f"/ds/{ds}")[1]["ranks"]
            seen.append([(rank["rank"], rank["counts"], [issue["name"] for issue in rank["issues"]]) for rank in ranks])
            server.stop()
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0][0][0], 0)
        self.assertIn("RankUnknown", seen[0][0][2])

    def test_a_capture_is_given_another_number(self):
        event = '{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":1,"ts":%d,"dur":5}'
        for name in "ab":
            self.write(f"two/{name}/trace.json", '{"schemaVersion":1,"traceEvents":[%s]}' % ",".join(event % (name, 10 * i) for i in range(1, 50)))
        server = self.start(self.scratch / "two")
        ds = server.wait_ready()
        ranks = server.get(f"/ds/{ds}")[1]["ranks"]
        self.assertEqual([(rank["rank"], rank["guessed"]) for rank in ranks], [(0, True), (1, True)])
        status, again = server.post(f"/ds/{ds}/ranks", {"ranks": {ranks[0]["path"]: 7}})
        self.assertEqual((status, again["job"]), (200, again["ds"]))
        self.assertNotEqual(again["ds"], ds)
        server.wait_ready()
        numbered = {rank["path"]: (rank["rank"], rank["guessed"]) for rank in server.get(f"/ds/{again['ds']}")[1]["ranks"]}
        self.assertEqual(numbered, {ranks[0]["path"]: (7, False), ranks[1]["path"]: (0, True)})
        rows = server.post(f"/ds/{again['ds']}/sql", {"query": "SELECT DISTINCT rank, name FROM slices ORDER BY rank"})[1]["rows"]
        self.assertEqual(rows, [[0, "b"], [7, "a"]])
        for wrong in ({"ranks": {ranks[0]["path"]: -1}}, {"ranks": {ranks[0]["path"]: 1.5}}, {"ranks": [1]}, {}):
            self.assertEqual(server.post(f"/ds/{ds}/ranks", wrong)[0], 400, wrong)

    def test_reading_is_stopped_and_what_was_read_stays(self):
        for rank in range(40):
            self.write(f"many/rank{rank}.json", json.dumps({"distributedInfo": {"rank": rank}, "schemaVersion": 1, "traceEvents": [
                {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5} for i in range(20000)]}))
        server = self.start("--root", self.scratch, "--no-cache")
        raw = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        raw.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nX-Steplens-Token: {server.token}\r\n\r\n".encode())
        head = self.read_head(raw)
        ds = server.post("/open", {"path": str(self.scratch / "many")})[1]["ds"]
        self.assertEqual(server.post_raw(f"/ds/{ds}/stop", {})[0], 204)
        server.wait_ready()
        text = head
        while b'"what": "done"' not in text:
            text += raw.recv(65536)
        raw.close()
        meta = server.get(f"/ds/{ds}")[1]
        left_out = [file for file in meta["ignored"] if "reading was stopped" in file["note"]]
        self.assertGreater(len(left_out), 0)
        self.assertEqual(len(meta["ranks"]) + len(left_out), 40)
        self.assertIn(b"event: log", text)
        self.assertIn(b'"mb_per_s"', text)

    def test_the_port_is_a_usual_one_where_it_is_free(self):
        first, second = self.start(support.SAMPLE), self.start(support.SAMPLE)
        self.assertNotEqual(first.port, second.port)
        for server in (first, second):
            server.wait_ready()
        usual = range(18811, 18821)
        first.stop()
        third = self.start(support.SAMPLE)
        self.assertNotEqual(third.port, second.port)
        if first.port in usual:  # else somebody else has them all
            self.assertIn(third.port, usual)

    def test_the_cache_is_where_it_was_asked_for(self):
        folder = self.scratch / "own cache"
        cached = []
        for _ in range(2):
            server = self.start(support.SAMPLE, "--cache", folder)
            ds = server.wait_ready()
            cached.append([rank["cached"] for rank in server.get(f"/ds/{ds}")[1]["ranks"]])
            server.stop()
        self.assertTrue(any(path.is_file() for path in folder.rglob("*")))
        self.assertEqual([set(each) for each in cached], [{False}, {True}])

    def test_roots_may_be_repeated_and_listed(self):
        for name in "abc":
            self.write(f"{name}/x.txt", "")
        server = self.start("--root", f"{self.scratch}/a:{self.scratch}/b", "--root", self.scratch / "c")
        roots = {pathlib.Path(root).name for root in server.get("/info")[1]["roots"]}
        self.assertEqual(roots, {"a", "b", "c"})

    def test_what_cannot_be_read_is_told_by_the_page(self):
        bad = self.write("bad/trace_view.json", "this is not a trace")
        server = self.start(bad.parent)
        for _ in range(100):
            info = server.get("/info")[1]
            if info["datasets"][0]["ready"]:
                break
            time.sleep(0.05)
        meta = server.get(f"/ds/{info['datasets'][0]['ds']}")[1]
        self.assertTrue(meta["error"] or meta["ranks"][0]["issues"])
        self.assertEqual(server.post(f"/ds/{meta['ds']}/range", {"tracks": [], "t0": 0, "t1": 1})[0], 200)


class Limits(ServerCase):
    """What a client may send before anybody knows who it is."""

    HEAD = b"POST /api/v1/open HTTP/1.1\r\nHost: localhost\r\nX-Steplens: 1\r\nContent-Type: application/json\r\n"

    def setUp(self):
        super().setUp()
        self.server = self.start(support.SAMPLE)
        self.server.wait_ready()

    def connect(self):
        raw = socket.create_connection(("127.0.0.1", self.server.port), timeout=60)
        self.addCleanup(raw.close)
        return raw

    def answer_to(self, *parts):
        """The status that a raw request gets; the connection may be closed before all of it was sent."""
        raw = self.connect()
        with contextlib.suppress(OSError):
            for part in parts:
                raw.sendall(part)
        answer = b""
        with contextlib.suppress(OSError):
            while b"\r\n\r\n" not in answer:
                got = raw.recv(65536)
                if not got:
                    break
                answer += got
        raw.close()
        return int(answer.split()[1]) if answer else 0

    def ask_quickly(self):
        began = time.time()
        self.assertEqual(self.server.get("/info")[0], 200)
        self.assertLess(time.time() - began, 2)

    def resident_mb(self):
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024

    def test_slow_clients_do_not_stop_others(self):
        slow = [self.connect() for _ in range(100)]
        for i, raw in enumerate(slow):
            raw.sendall(b"GET / HTTP/1.1\r\n" if i % 2 else self.HEAD + b"Content-Length: 1000\r\n\r\n{")
        for _ in range(3):
            self.ask_quickly()
            for raw in slow:
                with contextlib.suppress(OSError):
                    raw.sendall(b"X")
            time.sleep(0.2)
        self.ask_quickly()

    def test_a_request_must_arrive_in_time(self):
        raw = self.connect()
        began = time.time()
        raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        with contextlib.suppress(OSError):
            while time.time() - began < 15:  # each byte comes in time, the whole does not
                raw.sendall(b"a")
                time.sleep(0.5)
        self.assertIn(b" 408 ", raw.recv(4096)[:20] or b" 408 ")
        self.assertLess(time.time() - began, 15)

    def test_thousands_of_idle_connections_do_not_stop_others(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        idle = []
        self.addCleanup(lambda: [raw.close() for raw in idle])
        for i in range(2000):
            idle.append(socket.create_connection(("127.0.0.1", self.server.port), timeout=10))
            if i % 400 == 0:
                self.ask_quickly()
        self.ask_quickly()
        fds = len(os.listdir(f"/proc/{self.server.process.pid}/fd"))
        self.assertLess(fds, 700)

    def test_heads_are_bounded(self):
        get = b"GET /api/v1/info HTTP/1.1\r\nHost: localhost\r\n"
        self.assertEqual(self.answer_to(get + b"X: " + b"a" * 40000 + b"\r\n\r\n"), 431)
        self.assertEqual(self.answer_to(get + b"X: y\r\n" * 200 + b"\r\n"), 431)
        self.assertEqual(self.answer_to(b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"), 414)
        self.assertEqual(self.answer_to(b"GET " + b"a" * 10_000_000), 431)

    def test_bodies_are_bounded_however_they_are_sent(self):
        mine = self.HEAD + f"X-Steplens-Token: {self.server.token}\r\n".encode()
        chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
        chunked = mine + b"Transfer-Encoding: chunked\r\n\r\n"
        self.assertEqual(self.answer_to(mine + b"Content-Length: 1048577\r\n\r\n", b" " * 1048577), 413)
        self.assertEqual(self.answer_to(chunked, *[chunk] * 17), 413)
        self.assertEqual(self.answer_to(chunked, *[chunk] * 15, b"2\r\n{}\r\n0\r\n\r\n"), 400)  # it lacks 'path'
        packed = gzip.compress(b" " * 500_000_000, 1)
        head = mine + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
        self.assertEqual(self.answer_to(head % len(packed), packed), 415)
        self.assertEqual(self.answer_to(mine + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"), 415)
        self.assertEqual(self.answer_to(mine + b"Transfer-Encoding: gzip, chunked\r\n\r\n"), 501)
        self.assertEqual(self.answer_to(mine + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"), 400)
        self.ask_quickly()

    def test_strangers_cost_no_memory(self):
        before = self.resident_mb()
        stranger = self.HEAD + b"Content-Length: 1000000\r\n\r\n"
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            found = collections.Counter(pool.map(lambda _: self.answer_to(stranger, b" " * 999999), range(300)))
        self.assertEqual(set(found), {401})
        self.assertLess(self.resident_mb() - before, 64)
        self.ask_quickly()

    def test_pipelined_and_continued_requests_are_answered(self):
        raw = self.connect()
        one = f"GET /api/v1/info HTTP/1.1\r\nHost: localhost\r\nX-Steplens-Token: {self.server.token}\r\n\r\n".encode()
        raw.sendall(one * 3)
        text = b""
        while text.count(b"HTTP/1.1 200 OK") < 3:
            text += raw.recv(65536)
        mine = self.HEAD + f"X-Steplens-Token: {self.server.token}\r\n".encode()
        waiting = self.connect()
        waiting.sendall(mine + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        self.assertIn(b"100 Continue", waiting.recv(4096))
        waiting.sendall(b"{}")
        self.assertIn(b" 400 ", waiting.recv(4096))


@support.needs_shared
class Kineto(ServerCase):
    def test_a_gpu_trace_gets_streams_and_a_derived_overlap(self):
        server = self.start(KINETO)
        ds = server.wait_ready()
        tracks = server.get(f"/ds/{ds}/tracks")[1]
        paths = {row[4]: row for row in tracks["rows"]}
        self.assertIn("r0/gpu0/stream7", paths)
        self.assertIn("r0/overlap/computing", paths)
        breakdown = server.post(f"/ds/{ds}/table", {"source": "breakdown"})[1]
        self.assertGreater(len(breakdown["rows"]), 0)
        stream = paths["r0/gpu0/stream7"]
        hit = server.post(f"/ds/{ds}/search", {"q": "cat=kernel", "tracks": [stream[0]], "limit": 1})[1]["hits"][0]
        detail = server.get(f"/ds/{ds}/slice?track={hit['track']}&i={hit['i']}")[1]
        self.assertIn("stream", detail["args"])  # read again from the packed trace

    def test_arguments_of_a_packed_trace_are_searched(self):
        events = json.loads(gzip.decompress(KINETO.read_bytes()))["traceEvents"]
        streams = collections.Counter(str(event["args"]["stream"]) for event in events
                                      if event.get("ph") == "X" and "stream" in event.get("args", {}))
        server = self.start(KINETO)
        ds = server.wait_ready()
        for stream, count in streams.items():
            found = server.post(f"/ds/{ds}/search", {"q": f'arg."stream"="{stream}"', "limit": 0})[1]
            self.assertEqual(found["count"], count, stream)


if __name__ == "__main__":
    unittest.main()
