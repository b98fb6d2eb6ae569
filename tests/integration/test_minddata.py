"""The data pipeline of MindSpore: its raw files, and the files minddata_pipeline_* that `steplens analyse` makes of them."""

import csv
import json
import sys
import unittest

from support import ROOT, Case

sys.path.insert(0, str(ROOT / "tools"))
import make_framework as raw  # noqa: E402

PIPELINE = {"sampling_interval": 10, "op_info": [
    {"op_id": 0, "op_type": "BatchOp", "num_workers": 4, "children": [1], "metrics": None},
    {"op_id": 1, "op_type": "ShuffleOp", "num_workers": 1, "children": [2, 3],
     "metrics": {"output_queue": {"length": 64, "size": [10, 20, 30]}}},
    {"op_id": 2, "op_type": "TFReaderOp", "num_workers": 4, "metrics": {"output_queue": {"length": 64, "size": [0, 20, 40, 0]}}},
    {"op_id": 3, "op_type": "MapOp", "num_workers": 2, "children": [4], "metrics": None},
    {"op_id": 4, "op_type": "CifarOp", "num_workers": 8, "metrics": {"output_queue": {"length": 10, "size": [9, 9]}}}]}


def cpu(percents):
    return {"op_info": [{"op_id": op, "metrics": {"user_utilization": [percent, percent], "sys_utilization": [1, 3]}}
                        for op, percent in percents.items()]}


class DataPipeline(Case):
    def setUp(self):
        super().setUp()
        self.capture = raw.training(self.scratch / "a_ascend_ms", 0)

    def put(self, name, content):
        (self.capture / "FRAMEWORK" / name).write_text(content if isinstance(content, str) else json.dumps(content))

    def result(self, name):
        return self.capture / "ASCEND_PROFILER_OUTPUT" / name

    def analyse(self, *words):
        return self.run_program("analyse", self.capture, "--force", *words, expect=0)

    def summary(self):
        return json.loads(self.result("minddata_pipeline_summary_0.json").read_text())

    def test_raw_rows_skip_operations_without_a_queue(self):
        self.put("pipeline_profiling_0.json", PIPELINE)
        done = self.analyse()
        self.assertEqual(self.result("minddata_pipeline_raw_0.csv").read_bytes().decode().split("\r\n"), [
            "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,output_queue_usage_rate,"
            "sample_interval,parent_id,children_id",
            "0,BatchOp,4,,,,,10,,[1]",
            '1,ShuffleOp,1,"[10, 20, 30]",20.0,64,0.3125,10,0,"[2, 4]"',
            '2,TFReaderOp,4,"[0, 20, 40, 0]",15.0,64,0.234375,10,1,',
            '4,CifarOp,8,"[9, 9]",9.0,10,0.9,10,1,', ""])
        self.assertFalse(self.result("minddata_pipeline_summary_0.csv").exists())
        self.assertIn("minddata_cpu_utilization_0.json", done.err)

    def test_summary_of_times_queues_and_cpu(self):
        self.put("pipeline_profiling_0.json", PIPELINE)
        self.put("minddata_cpu_utilization_0.json", cpu({-1: 50, 0: 318, 1: 10, 2: 3, 3: 2, 4: 0}))
        self.put("dataset_iterator_profiling_0.txt", "0 0 0 99 1\n0 0 1 99 2\n0 0 2 4 10\n0 0 3 5 20\n1 8 2 3 100\n1 8 3 3 112\n1 8 4 3 130\n")
        self.assertEqual(self.analyse().err, "")
        summary = self.summary()
        self.assertEqual(summary["op_names"], ["Batch", "Shuffle", "TFReader", "Map", "Cifar"])
        self.assertEqual(summary["pipeline_ops"][2], "TFReader(id=2)")
        self.assertEqual(summary["queue_average_size"], [-1, 20, 15, -1, 9])
        self.assertEqual(summary["queue_utilization_pct"], [-1, 31.25, 23.44, -1, 90])
        self.assertEqual(summary["queue_empty_freq_pct"], [-1, 0, 50, -1, 0])
        self.assertEqual((summary["parent_id"], summary["children_ids"]), ([-1, 0, 1, 1, 3], [[1], [2, 3], [], [4], []]))
        self.assertEqual(summary["avg_cpu_pct"], [320, 12, 5, 4, 2])
        self.assertEqual(summary["avg_cpu_pct_per_worker"], [80, 12, 1.25, 2, 0.25])
        self.assertEqual((summary["per_pipeline_time"], summary["per_push_queue_time"], summary["per_batch_time"]), ([4.5], [-1], [15]))
        self.assertEqual(summary["cpu_analysis_details"][0],
                         "Batch(id=0) is using 80.0% CPU per worker. Setting num_parallel_workers>4 might bring extra performance")
        self.assertEqual(summary["queue_analysis_details"], [
            "The output queue of leaf TFReader(id=2) is used to 23.44%; more workers may help if it waits for I/O"])
        self.assertEqual(summary["bottleneck_warning"], ["Batch(id=0) is the bottleneck: it uses 80.0% CPU per worker"])
        with open(self.result("minddata_pipeline_summary_0.csv"), encoding="utf-8", newline="") as file:
            lines = {line[0]: line[1:] for line in csv.reader(file)}
        self.assertEqual(list(lines), list(summary))
        self.assertEqual(lines["num_workers"], ["4", "1", "4", "2", "8"])
        self.assertEqual(lines["children_ids"], ["[1]", "[2, 3]", "[]", "[4]", "[]"])

    def test_the_queue_to_a_device_has_its_own_file(self):
        self.put("pipeline_profiling_0.json", PIPELINE)
        self.put("minddata_cpu_utilization_0.json", cpu({0: 10}))
        self.put("device_queue_profiling_0.txt", "0 1 2 7 10\n0 2 2 9 10\n")
        self.put("dataset_iterator_profiling_0.txt", "nothing that could be read")
        self.analyse()
        summary = self.summary()
        self.assertEqual((summary["per_push_queue_time"], summary["per_batch_time"]), ([7], [9]))
        self.assertNotIn("bottleneck_warning", summary)  # the counts of operations differ

    def test_unbalanced_queues_are_named(self):
        def op(number, kind, sizes, **more):
            return {"op_id": number, "op_type": kind + "Op", "num_workers": 2, "metrics": {"output_queue": {"length": 10, "size": sizes}}, **more}

        self.put("dataset_iterator_profiling_0.txt", "")
        for device, sizes, percent, details, warning in (
                ("DeviceQueue", [0, 0, 1], 30, "is empty 66.67% of the time", []),
                ("Map", [10, 10], 30, "is slower than what it takes from (queue before it 100.0%, after it 20.0%)", []),
                ("Map", [0, 1], 10, "might not bring any extra performance", ["Map(id=0) is the bottleneck: its queues are not in balance"])):
            self.put("pipeline_profiling_0.json",
                     {"sampling_interval": 1, "op_info": [op(0, device, [2], children=[1]), op(1, "Reader", sizes)]})
            self.put("minddata_cpu_utilization_0.json", cpu({0: 2 * percent - 2, 1: 2 * percent - 2}))
            self.analyse()
            summary = self.summary()
            self.assertIn(details, " ".join(summary["cpu_analysis_details"] + summary["queue_analysis_details"]))
            self.assertEqual(summary["bottleneck_warning"], warning, device)

    def test_damaged_files_are_told_and_stop_nothing(self):
        for content, part in (("{", "pipeline_profiling_0.json"), ({}, "lacks op_id"),
                              ({"sampling_interval": 1, "op_info": []}, "operation 0 is missing"),
                              ({"sampling_interval": 1, "op_info": [{"op_id": 0}]}, "lacks op_id"),
                              ({"sampling_interval": 1, "op_info": [{"op_id": 0, "op_type": "A", "num_workers": 1, "children": [7]}]},
                               "a child 7")):
            self.put("pipeline_profiling_0.json", content)
            self.assertIn(part, self.analyse().err)
            self.assertFalse(self.result("minddata_pipeline_raw_0.csv").exists())
            self.assertTrue(self.result("trace_view.json").exists())
        self.put("pipeline_profiling_0.json", PIPELINE)
        self.put("minddata_cpu_utilization_0.json", cpu({0: 10}))
        self.put("dataset_iterator_profiling_0.txt", "0 0 2 4 10\n0 0 x 5 20\n")
        self.assertIn("line 2: five numbers were expected", self.analyse().err)

    def test_a_db_has_no_such_files(self):
        self.put("pipeline_profiling_0.json", PIPELINE)
        self.analyse("--export-type", "db")
        self.assertFalse(self.result("minddata_pipeline_raw_0.csv").exists())


if __name__ == "__main__":
    unittest.main()
