"""Steps in which nothing is recorded: what they must not do, because it would cost every training."""

import os
import time
import unittest
from unittest import mock

from support import FrontTest
from steplens import _autorecord, _control


class Idle(FrontTest):
    def recorder(self, **settings):
        return _autorecord.Recorder({"control_dir": os.path.join(self.folder, "control"), "profile_save_path": self.folder, **settings})

    def test_a_job_that_waits_for_a_command_looks_for_it_now_and_then(self):
        recorder = self.recorder(profile_step_start=-1)
        recorder.open()
        looks, reports = [], []
        with mock.patch.object(_control.Control, "poll", side_effect=lambda: looks.append(1)), \
                mock.patch.object(_control.Control, "report", side_effect=lambda *_: reports.append(1)):
            begin = time.monotonic()
            for _ in range(20000):
                recorder.step_ended()
            seconds = time.monotonic() - begin
        self.assertEqual(recorder.step, 20001)
        self.assertGreaterEqual(len(looks), 1)
        self.assertLessEqual(len(looks), seconds / _autorecord._LOOK_PERIOD_S + 1)
        self.assertLessEqual(len(reports), seconds / _control._REPORT_PERIOD_S + 1)

    def test_a_command_is_obeyed_at_the_next_look(self):
        recorder = self.recorder(profile_step_start=-1)
        recorder.open()
        with open(os.path.join(self.folder, "control", "command.json"), "w", encoding="utf-8") as file:
            file.write('{"id": 1, "action": "start", "ranks": "all", "at_step": 1000000, "steps": 1}')
        os.chmod(file.name, 0o600)
        end = time.monotonic() + 5
        with self.said():
            while recorder.state == "idle" and time.monotonic() < end:
                recorder.step_ended()
        self.assertEqual(recorder.state, "armed")

    def test_the_steps_before_the_first_recorded_one_do_nothing(self):
        recorder = self.recorder(profile_step_start=1000, profile_step_end=1001, control_dir=None)
        with mock.patch.object(_autorecord.Recorder, "_approach") as approach:
            for _ in range(900):
                recorder.step_ended()
        self.assertEqual((recorder.step, approach.call_count), (901, 0))


if __name__ == "__main__":
    unittest.main()
