"""The client of the host's monitoring daemon, against a daemon that speaks its language."""

import contextlib
import os
import queue
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

from support import FrontTest
from steplens import _daemon


class FakeDaemon:
    """Remembers who registered and who asked; answers a request with the next text, or with an empty one."""

    def __init__(self, folder):
        self.registered, self.requests = queue.Queue(), queue.Queue()
        self.texts = queue.Queue()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(os.path.join(folder, "dynolog"))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                data, client = self._socket.recvfrom(65536)
                size, kind = struct.unpack_from("=Q32s", data)
                payload = data[40:]
                assert len(payload) == size
                if kind.rstrip(b"\0") == b"ctxt":
                    self.registered.put(struct.unpack("=iiq", payload))
                    self._send(client, b"ctxt", struct.pack("=i", 1))
                else:
                    kind, count, job = struct.unpack_from("=iiq", payload)
                    self.requests.put((kind, job, struct.unpack_from(f"={count}i", payload, 16)))
                    self._send(client, b"req", self.texts.get().encode() if not self.texts.empty() else b"")

    def _send(self, client, kind, payload):
        self._socket.sendto(struct.pack("=Q32s", len(payload), kind) + payload, client)

    def close(self):
        self._socket.close()


class DaemonCase(FrontTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        patch = mock.patch.dict(os.environ, {"KINETO_IPC_SOCKET_DIR": self.folder})
        patch.start()
        self.addCleanup(patch.stop)
        self.lines = []

    def daemon(self):
        daemon = FakeDaemon(self.folder)
        self.addCleanup(daemon.close)
        return daemon

    def client(self):
        client = _daemon.DaemonClient(3, 0.05, self.lines.append)
        self.addCleanup(client.close)
        return client

    def wait_for(self, what):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            value = what()
            if value:
                return value
            time.sleep(0.01)
        self.fail("it never came")


class Client(DaemonCase):
    def test_registers_asks_and_hands_each_text_over_once(self):
        daemon = self.daemon()
        daemon.texts.put("PROFILE_START_STEP=4\nACTIVITIES_ITERATIONS=2\n")
        client = self.client()
        self.assertEqual(daemon.registered.get(timeout=20), (3, os.getpid(), 0))
        kind, job, pids = daemon.requests.get(timeout=20)
        self.assertEqual((kind, job, pids[:2]), (3, 0, (os.getpid(), os.getppid())))
        self.assertEqual(self.wait_for(client.poll), "PROFILE_START_STEP=4\nACTIVITIES_ITERATIONS=2\n")
        daemon.requests.get(timeout=20)  # it asks on, and there is nothing new
        self.assertIsNone(client.poll())
        daemon.texts.put("PROFILE_START_STEP=-1\n")
        self.assertEqual(self.wait_for(client.poll), "PROFILE_START_STEP=-1\n")
        self.assertTrue(daemon.registered.empty())

    def test_a_daemon_that_comes_later_is_found_and_told_once(self):
        with mock.patch.object(_daemon.DaemonClient, "_ask", autospec=True, side_effect=_daemon.DaemonClient._ask) as asked:
            client = self.client()
            self.wait_for(lambda: self.lines)
            self.assertIn("does not answer", self.lines[0])
            before = asked.call_count
            self.wait_for(lambda: asked.call_count >= before + 3)  # two more that nobody answered are over
        self.assertEqual(len(self.lines), 1)
        daemon = self.daemon()
        daemon.texts.put("A=1")
        self.assertEqual(self.wait_for(client.poll), "A=1")
        self.assertIn("answers", self.lines[1])

    def test_what_is_no_message_is_ignored(self):
        self.assertIsNone(_daemon.parse(b""))
        self.assertIsNone(_daemon.parse(b"x" * 39))
        self.assertIsNone(_daemon.parse(struct.pack("=Q32s", 5, b"req") + b"1234"))
        self.assertEqual(_daemon.parse(_daemon.message("req", b"A=1")), ("req", b"A=1"))

    def test_nothing_is_left_in_the_file_system(self):
        client = self.client()
        file = client._file
        self.assertTrue(os.path.exists(file))
        client.close()
        self.assertFalse(os.path.exists(file))

    def test_the_abstract_name_has_a_zero_at_its_end(self):
        with mock.patch.dict(os.environ, {"KINETO_IPC_SOCKET_DIR": ""}):
            self.assertEqual(_daemon._address("dynolog"), b"\0dynolog\0")


class Switch(DaemonCase):
    """What the environment asks for, in processes of their own."""

    def run_python(self, code, **environment):
        package = os.path.dirname(os.path.dirname(os.path.abspath(_daemon.__file__)))
        return subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": package, **environment},
                              capture_output=True, text=True, timeout=120, check=False, cwd=self.folder)

    def test_a_torch_program_records_what_the_daemon_asks_for(self):
        daemon = self.daemon()
        daemon.texts.put(f"PROFILE_START_STEP=-1\nACTIVITIES_ITERATIONS=2\nACTIVITIES_LOG_FILE={self.folder}/prof\n"
                         "PROFILE_ANALYSE=false\n")
        code = ("import os, time, torch\nimport steplens.torch_npu\n"
                "model = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
                "for _ in range(400):\n"
                "    model(torch.ones(1, 2)).sum().backward(); optimizer.step(); time.sleep(0.01)\n"
                "    if os.path.isdir('prof') and _ > 20 and not steplens.torch_npu.profiler.dynamic_profile._dynamic._profile: break\n")
        result = self.run_python(code, MSMONITOR_USE_DAEMON="1")
        self.assertEqual(result.returncode, 0, result.stderr)
        captures = [name for name in os.listdir(os.path.join(self.folder, "prof")) if name.endswith("_ascend_pt")]
        self.assertEqual(len(captures), 1, result.stderr)
        self.assertIn("Stop Dynamic Profiler", result.stderr)

    def test_nobody_asks_unless_it_is_switched_on(self):
        daemon = self.daemon()
        for environment in ({}, {"MSMONITOR_USE_DAEMON": "0"}, {"MSMONITOR_USE_DAEMON": "1", "PROF_CONFIG_PATH": self.folder}):
            result = self.run_python("import steplens.torch_npu", **environment)
            self.assertEqual(result.returncode, 0, result.stderr)
        # Messages come in order: had one of them written, it would be there before this one.
        mark = (7, os.getpid(), 1)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own:
            own.bind(os.path.join(self.folder, "own"))
            own.sendto(_daemon.message("ctxt", struct.pack("=iiq", *mark)), os.path.join(self.folder, "dynolog"))
            self.assertEqual(daemon.registered.get(timeout=20), mark)

    def test_mindspore_asks_instead_of_reading_the_file(self):
        daemon = self.daemon()
        daemon.texts.put("PROFILE_START_STEP=3\nACTIVITIES_ITERATIONS=2\n")
        code = ("import time\nimport steplens.mindspore as ms\n"
                "monitor = ms.profiler.DynamicProfilerMonitor(output_path='out')\n"
                "deadline = time.monotonic() + 30\n"
                "while monitor._config is None and time.monotonic() < deadline:\n    time.sleep(0.05); monitor._refresh()\n"
                "print(monitor._config.steps)\n")
        result = self.run_python(code, KINETO_USE_DAEMON="1")
        self.assertEqual(result.stdout.strip(), "(3, 4)", result.stderr)
        self.assertIn("cfg_path is ignored", result.stderr)


if __name__ == "__main__":
    unittest.main()
