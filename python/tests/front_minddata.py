"""The data pipeline: what is recorded of torch's DataLoader, and what the analysis makes of it. What the analysis makes of MindSpore's own
files is tested beside the program (tests/integration/test_minddata.py)."""

import json
import os
import struct
import tempfile
import unittest

from steplens import _analyse

def _one_operator():
    """A record of torch.op_range: what a capture has beside its pipeline."""
    value = struct.pack("<qqqQQQQBB", 1000, 2000, -1, 1, 1, 1, 0, 0, 0) + struct.pack("<HI", 2, 1) + b"x"
    return struct.pack("<HI", 1, len(value)) + value


class Recorded(unittest.TestCase):
    def test_a_loader_is_followed_while_the_capture_runs(self):
        import torch

        from steplens import _data_pipeline

        with tempfile.TemporaryDirectory(suffix="_ascend_ms") as capture:
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
            with open(os.path.join(capture, "FRAMEWORK", "torch.op_range"), "wb") as file:
                file.write(_one_operator())
            with open(os.path.join(capture, "profiler_info_0.json"), "w", encoding="utf-8") as file:
                json.dump({"profiler_parameters": {"export_type": ["text"]}}, file)
            self.assertTrue(_analyse.analyse(capture))
            with open(os.path.join(capture, "ASCEND_PROFILER_OUTPUT", "minddata_pipeline_summary_0.json"), encoding="utf-8") as file:
                summary = json.load(file)
        self.assertEqual(summary["num_workers"], [1, 2])
        self.assertGreater(summary["per_pipeline_time"][0], 0)


if __name__ == "__main__":
    unittest.main()
