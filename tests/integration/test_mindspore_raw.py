"""Captures of MindSpore's own recorder: FRAMEWORK/mindspore.* and the text files beside them, and what `steplens analyse` makes of them."""

import csv
import json
import struct
import sys
import unittest

from support import ROOT, Case, load_trace

sys.path.insert(0, str(ROOT / "tools"))
import make_framework as raw  # noqa: E402

NO_FLOW = FREED = 2**64 - 1
PYNATIVE, LAUNCH_TASK = 3, 32


def text(tag, value):
    return struct.pack("<HI", tag, len(value)) + value.encode()


def record(kind, fixed, fields):
    value = fixed + b"".join(fields)
    return struct.pack("<HI", kind, len(value)) + value


def op_range(name, start, end, *, tid=7, flow=NO_FLOW, module=0, event=0, stage=0, graph=None, is_stage=0, is_stack=0, info=None):
    fixed = struct.pack("<QQQQQiHHHbBBB", tid, flow, 0, start, end, 5, module, event, stage, 0, graph is not None, is_stage, is_stack)
    module_graph, event_graph = graph or ("", "")
    fields = [text(13, name), text(14, name if name != "flow" else "Full"), *([text(17, info)] if info else []),
              text(15, module_graph), text(16, event_graph)]
    return record(0, fixed, fields)


def memory(time, address, size, used, owner=""):
    numbers = [7, 5, time, address, size, used, used, 4096, 0, 0, 99]
    return record(13, struct.pack("<i11QI4B", 0, *numbers, 0, 0, 0, 0, 0), [text(13, owner)])


def shapes(name, sizes, types):
    return record(3, b"", [text(0, name), text(1, sizes), text(2, types)])


class MindSpore(Case):
    def setUp(self):
        super().setUp()
        self.folder = self.scratch / "a_ascend_ms"
        (self.folder / "FRAMEWORK").mkdir(parents=True)
        info = {"profiler_parameters": {"profiler_level": "Level0", "export_type": ["text"]}, "ms_profiler_info": {"rank_id": "3", "device_id": "3"}}
        (self.folder / "profiler_info_3.json").write_text(json.dumps(info))

    def put(self, name, *records):
        (self.folder / "FRAMEWORK" / name).write_bytes(b"".join(records))

    def analyse(self):
        return self.run_program("analyse", self.folder, "--force", expect=0)

    def rows(self, name):
        with open(self.folder / "ASCEND_PROFILER_OUTPUT" / name, newline="") as file:
            return list(csv.DictReader(file))

    def events(self):
        trace = load_trace(self.folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
        names = {e["pid"]: e["args"]["name"] for e in trace if e["name"] == "process_name"}
        return trace, [e for e in trace if e["ph"] == "X" and names.get(e["pid"]) in ("MindSpore", "CPU OP")]

    def test_ranges_are_named_as_mindspore_names_them(self):
        self.put("mindspore.op_range",
                 op_range("Add", 100, 200, module=PYNATIVE, event=LAUNCH_TASK),
                 op_range("net.py(3):run", 100, 300, is_stack=1),
                 op_range("x", 400, 500, stage=3, is_stage=1),
                 op_range("ProfilerStep#4", 50, 900, module=5, event=53),
                 op_range("unknown", 500, 510, module=99, event=999),
                 op_range("never begun", 0, 10))
        self.analyse()
        trace, events = self.events()
        self.assertEqual([(e["name"], e["ts"], e["dur"], e["tid"]) for e in events if e.get("cat") != "python_function"], [
            ("PynativeFramework::PyNativeLaunchTask::Add", "1.000", "1.000", 7), ("RunGraph", "4.000", "1.000", 7),
            ("Python::PythonObserved::ProfilerStep#4", "0.500", "8.500", 7), ("Default::Default::unknown", "5.000", "0.100", 7)])
        self.assertEqual([(e["name"], e["dur"]) for e in events if e.get("cat") == "python_function"], [("net.py(3):run", "2.000")])
        lane = next(e["pid"] for e in trace if e["name"] == "process_name" and e["args"]["name"] == "MindSpore")
        self.assertEqual(lane, 1)
        self.assertIn({"sort_index": 7}, [e["args"] for e in trace if e["name"] == "thread_sort_index"])
        self.assertEqual(self.info(self.folder)["ranks"][0]["rank"], 3)

    def test_a_flow_has_one_start_and_one_end(self):
        self.put("mindspore.op_range", op_range("flow", 100, 101, flow=8), op_range("Add", 200, 300, flow=8, tid=9),
                 op_range("flow", 400, 401, flow=9), op_range("Mul", 500, 600, flow=9), op_range("Sub", 700, 800, flow=9))
        self.analyse()
        trace, events = self.events()
        self.assertEqual(len(events), 3)
        flows = [(e["ph"], e["name"], e["tid"], e["ts"]) for e in trace if e.get("cat") == "async_mindspore"]
        self.assertEqual(flows, [("s", "mindspore_to_self", 7, "1.000"), ("f", "mindspore_to_self", 9, "2.000")])

    def test_an_instant_has_no_duration(self):
        self.put("mindspore.op_range", op_range("Add", 100, 200), op_range("Mark", 150, 150, module=5))
        self.analyse()
        trace, _ = self.events()
        self.assertEqual([(e["name"], e["ts"]) for e in trace if e["ph"] == "i"], [("Python::Default::Mark", "1.500")])

    def test_the_data_pipeline_is_summed_up(self):
        graph = ("Dataset", "Batch")
        self.put("mindspore.op_range", *(op_range("fetch", begin, begin + 100 * (k + 1), graph=graph, info="a:1;b:2;c:3")
                                         for k, begin in enumerate((1000, 2000))), op_range("push", 3000, 3100, graph=graph))
        self.analyse()
        self.assertEqual([list(row.values()) for row in self.rows("dataset.csv")],
                         [["Batch", "fetch", "2", "1.5", "{'a': '1', 'b': '2'}"], ["Batch", "push", "1", "1.0", ""]])
        self.assertFalse((self.folder / "ASCEND_PROFILER_OUTPUT" / "mindspore_custom_info.csv").exists())

    def test_shapes_memory_and_operators_of_the_cpu(self):
        self.put("mindspore.op_range", op_range("Add", 100, 200))
        self.put("mindspore.record_shapes", shapes("Add", "2,3;4", "float32;float32"))
        self.put("mindspore.memory_usage", memory(1_500, 64, FREED, 0), memory(2_000, 64, 1024, 1024, "Add"), memory(5_000, 64, FREED, 0),
                 memory(6_000, 128, 2048, 2048, "Mul"))
        self.put("cpu_op_execute_timestamp_3.txt", b"Default/Add-op1;HostCpuOps;1000000,1,4242 3000000,2,4242 \n")
        self.analyse()
        self.assertEqual([list(row.values()) for row in self.rows("operator_details.csv")], [["Add", "2,3;4"]])
        blocks = self.rows("operator_memory.csv")
        self.assertEqual([(row["Name"], row["Size(KB)"], row["Allocation Time(us)"].strip(), row["Duration(us)"].strip()) for row in blocks],
                         [("Add", "1.0", "2.000", "3.000"), ("Mul", "2.0", "6.000", "N/A")])
        self.assertEqual({row["Component"] for row in self.rows("memory_record.csv")}, {"MindSpore", "MindSpore+GE"})
        _, events = self.events()
        cpu = [(e["name"], e["pid"], e["tid"], e["ts"], e["dur"], e["args"]) for e in events if e["pid"] == 2]
        self.assertEqual(cpu, [("Default/Add-op1", 2, 4242, "1000.000", "1000.000", {"type": "HostCpuOps"}),
                               ("Default/Add-op1", 2, 4242, "3000.000", "2000.000", {"type": "HostCpuOps"})])

    def test_scopes_of_operators_are_layers(self):
        self.put("mindspore.op_range", op_range("Add", 100, 200))
        self.put("cpu_op_execute_timestamp_3.txt",
                 b"Default/net/conv/Add-op1;HostCpuOps;1000,0.001,4 \nDefault/net/conv/Mul-op2;HostCpuOps;3000,0.001,4 \n"
                 b"Default/net/fc/MatMul-op3;HostCpuOps;5000,0.001,4 \nother/Op-op4;HostCpuOps;7000,0.001,4 \n"
                 b"Default/net/fc/Late-op5;HostCpuOps;5500,0.001,4 \n")  # begins before the layer above it ends: left out
        self.analyse()
        trace, _ = self.events()
        lane = next(e["pid"] for e in trace if e["name"] == "process_name" and e["args"]["name"] == "Scope Layer")
        self.assertEqual(lane, 3)
        layers = sorted((e["tid"], e["name"], e["ts"], e["dur"]) for e in trace if e["ph"] == "X" and e["pid"] == lane)
        self.assertEqual(layers, [(0, "Default", "1.000", "5.000"), (1, "net", "1.000", "5.000"), (2, "conv", "1.000", "3.000"), (2, "fc", "5.000", "1.000")])

    def test_the_range_that_makes_a_mark_leads_to_the_mark(self):
        self.put("mindspore.op_range", op_range("Ascend::Mstx::Mark", 100, 300))
        timeline = self.folder / "PROF_000001_20260101000000000_AAAAAAAA" / "mindstudio_profiler_output"
        timeline.mkdir(parents=True)
        (timeline / "msprof_20260101000000.json").write_text(json.dumps([
            {"name": "process_name", "ph": "M", "pid": 4096, "tid": 0, "args": {"name": "python3"}},
            {"name": "mine", "ph": "X", "pid": 4096, "tid": 7, "ts": "2.000", "dur": 0, "args": {"event_type": "marker", "domain": "default"}},
            {"name": "late", "ph": "X", "pid": 4096, "tid": 7, "ts": "9.000", "dur": 0, "args": {"event_type": "marker", "domain": "default"}}]))
        self.analyse()
        trace, _ = self.events()
        flows = [(e["ph"], e["name"], e["pid"], e["ts"], e["id"]) for e in trace if e.get("cat") == "MsTx"]
        self.assertEqual(flows, [("s", "mindspore_to_mstx", 1, "1.000", "2000"), ("f", "mindspore_to_mstx", 4096, "2.000", "2000")])

    def test_the_text_of_memory_totals_comes_before_single_events(self):
        self.put("mindspore.op_range", op_range("Add", 100, 200))
        self.put("mindspore.memory_usage", memory(2_000, 64, 1024, 1024, "Add"))
        self.put("cpu_ms_memory_record_3.txt",
                 b"Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n7000,1024000,2048000,1024000\n")
        self.analyse()
        samples = self.rows("memory_record.csv")
        self.assertEqual((samples[0]["Timestamp(us)"].strip(), samples[0]["Total Allocated(MB)"], samples[0]["Total Reserved(MB)"]),
                         ("7.000", "1.0", "2.0"))
        self.assertEqual(len(samples), 2)

    def test_what_is_damaged_is_counted(self):
        whole = op_range("Add", 100, 200)
        self.put("mindspore.op_range", whole, record(0, b"short", []), whole, whole[:20])
        self.put("cpu_op_execute_timestamp_3.txt", b"no fields\nx;y;1,2\n")
        done = self.analyse()
        self.assertIn("mindspore.op_range", done.err)
        _, events = self.events()
        self.assertEqual(len(events), 2)

    def test_files_of_torch_hold_the_same_and_more(self):
        both = raw.training(self.scratch / "b_ascend_ms", 0)
        (both / "FRAMEWORK" / "mindspore.op_range").write_bytes(op_range("Add", 100, 200))
        self.run_program("analyse", both, expect=0)
        trace = load_trace(both / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
        lanes = [(e["args"]["name"], e["pid"]) for e in trace if e["name"] == "process_name"]
        self.assertIn(("MindSpore", 1), lanes)  # operators of torch.* are MindSpore's host
        self.assertNotIn("Python", [name for name, _ in lanes])
        self.assertEqual([name for name, _ in lanes].count("MindSpore"), 1)
        names = {e["name"] for e in trace if e["ph"] == "X" and e["pid"] == 1}
        self.assertTrue(any(name.startswith("aten::") for name in names), names)
        self.assertFalse(any(name.endswith("::Add") for name in names), names)  # of mindspore.op_range: the same once more


if __name__ == "__main__":
    unittest.main()
