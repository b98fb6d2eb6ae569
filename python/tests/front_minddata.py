"""The data pipeline: what is recorded of torch's DataLoader, and what the analysis makes of MindSpore's files."""

import csv
import json
import os
import tempfile
import unittest

from steplens.mindspore.profiler import _minddata

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


class Analysis(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.capture = folder.name
        os.mkdir(os.path.join(self.capture, "FRAMEWORK"))

    def put(self, name, content):
        with open(os.path.join(self.capture, "FRAMEWORK", name), "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))

    def path(self, name):
        return os.path.join(self.capture, "ASCEND_PROFILER_OUTPUT", name)

    def summary(self):
        with open(self.path("minddata_pipeline_summary_0.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_raw_rows_skip_operations_without_a_queue(self):
        self.put("pipeline_profiling_0.json", PIPELINE)
        _minddata.write(self.capture)
        with open(self.path("minddata_pipeline_raw_0.csv"), "rb") as file:
            lines = file.read().decode().split("\r\n")
        self.assertEqual(lines[:5], [
            "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,output_queue_usage_rate,"
            "sample_interval,parent_id,children_id",
            "0,BatchOp,4,,,,,10,,[1]",
            '1,ShuffleOp,1,"[10, 20, 30]",20.0,64,0.3125,10,0,"[2, 4]"',
            '2,TFReaderOp,4,"[0, 20, 40, 0]",15.0,64,0.234375,10,1,',
            '4,CifarOp,8,"[9, 9]",9.0,10,0.9,10,1,'])
        self.assertFalse(os.path.exists(self.path("minddata_pipeline_summary_0.csv")))  # the other two inputs are missing

    def test_summary_of_times_queues_and_cpu(self):
        self.put("pipeline_profiling_0.json", PIPELINE)
        self.put("minddata_cpu_utilization_0.json", cpu({-1: 50, 0: 318, 1: 10, 2: 3, 3: 2, 4: 0}))
        self.put("dataset_iterator_profiling_0.txt", "0 0 0 99 1\n0 0 1 99 2\n0 0 2 4 10\n0 0 3 5 20\n1 8 2 3 100\n1 8 3 3 112\n1 8 4 3 130\n")
        _minddata.write(self.capture)
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
        self.assertIn("is using 80.0% CPU per worker. Setting num_parallel_workers>4 might bring extra performance",
                      summary["cpu_analysis_details"][0])
        self.assertEqual(summary["bottleneck_warning"], ["Batch(id=0) is the bottleneck: it uses 80.0% CPU per worker"])
        with open(self.path("minddata_pipeline_summary_0.csv"), encoding="utf-8", newline="") as file:
            rows = {row[0]: row[1:] for row in csv.reader(file)}
        self.assertEqual(rows["num_workers"], ["4", "1", "4", "2", "8"])

    def test_the_queue_to_a_device_has_its_own_file(self):
        self.put("pipeline_profiling_0.json", PIPELINE)
        self.put("minddata_cpu_utilization_0.json", cpu({0: 10}))
        self.put("device_queue_profiling_0.txt", "0 1 2 7 10\n0 2 2 9 10\n")
        self.put("dataset_iterator_profiling_0.txt", "nothing that could be read")
        _minddata.write(self.capture)
        summary = self.summary()
        self.assertEqual((summary["per_push_queue_time"], summary["per_batch_time"]), ([7], [9]))
        self.assertNotIn("bottleneck_warning", summary)  # the counts of operations differ

    def test_damaged_files_are_told_and_stop_nothing(self):
        for content in ("{", {}, {"sampling_interval": 1, "op_info": []}, {"sampling_interval": 1, "op_info": [{"op_id": 0}]},
                        {"sampling_interval": 1, "op_info": [{"op_id": 0, "op_type": "A", "num_workers": 1, "children": [7]}]}):
            self.put("pipeline_profiling_0.json", content)
            _minddata.write(self.capture)
        self.assertFalse(os.path.exists(self.path("minddata_pipeline_raw_0.csv")))
        _minddata.write(os.path.join(self.capture, "nowhere"))


class Recorded(unittest.TestCase):
    def test_a_loader_is_followed_while_the_capture_runs(self):
        import torch

        from steplens import _data_pipeline

        with tempfile.TemporaryDirectory() as capture:
            os.mkdir(os.path.join(capture, "FRAMEWORK"))
            pipeline = _data_pipeline.DataPipeline(capture, 0)
            before = torch.utils.data.dataloader._BaseDataLoaderIter.__next__
            pipeline.start()
            loader = torch.utils.data.DataLoader(torch.arange(40), batch_size=4, num_workers=2)
            self.assertEqual(len(list(loader)), 10)
            pipeline.stop()
            self.assertIs(torch.utils.data.dataloader._BaseDataLoaderIter.__next__, before)
            pipeline.close()
            with open(os.path.join(capture, "FRAMEWORK", "dataset_iterator_profiling_0.txt"), encoding="utf-8") as file:
                batches = [line.split() for line in file]
            self.assertEqual([line[2] for line in batches if line[:2] == ["0", "0"]], [str(batch) for batch in range(10)])
            self.assertTrue(all(line[1] == "4" for line in batches if line[0] == "1"))  # two workers, two batches ahead each
            _minddata.write(capture)
            with open(os.path.join(capture, "ASCEND_PROFILER_OUTPUT", "minddata_pipeline_summary_0.json"), encoding="utf-8") as file:
                summary = json.load(file)
        self.assertEqual(summary["num_workers"], [1, 2])
        self.assertGreater(summary["per_pipeline_time"][0], 0)


if __name__ == "__main__":
    unittest.main()
