"""What other users of the machine put in our way is not used: folders, files, links, pipes, blocks of memory, daemons."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

from support import FrontTest
from steplens import _channel, _control, _daemon, _log, _private, _shm

NOBODY = 65534

needs_root = unittest.skipUnless(os.geteuid() == 0, "only root can act as another user")


def as_nobody(code, *words):
    subprocess.run([sys.executable, "-c", "import os, sys\n" + code, *words], user=NOBODY, group=NOBODY, check=True)


class OtherUsers(FrontTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o777)
        self.told = []
        patch = mock.patch.object(_log, "warning", self.told.append)
        patch.start()
        self.addCleanup(patch.stop)

    def place(self, *parts):
        return os.path.join(self.folder, *parts)

    def command(self, folder, **values):
        with open(os.path.join(folder, "command.json"), "w", encoding="utf-8") as file:
            json.dump({"id": 1, "action": "start", **values}, file)

    # ---- The control folder ---------------------------------------------------------------------------------------

    def test_a_control_folder_is_made_for_this_user_alone(self):
        _control.Control(self.place("job")).report(0, {"state": "idle", "step": 1, "capture": ""})
        self.assertEqual(os.stat(self.place("job")).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(self.place("job", "rank_0.json")).st_mode & 0o077, 0)
        self.command(self.place("job"))
        self.assertEqual(_control.Control(self.place("job")).poll().action, "start")
        self.assertEqual(self.told, [])

    @needs_root
    def test_a_control_folder_of_somebody_else_is_not_used(self):
        as_nobody("os.mkdir(sys.argv[1], 0o777)", self.place("job"))
        control = _control.Control(self.place("job"))
        self.command(self.place("job"))
        self.assertIsNone(control.poll())
        control.report(0, {"state": "idle", "step": 1, "capture": ""})
        self.assertFalse(os.path.exists(self.place("job", "rank_0.json")))
        self.assertIn("it belongs to another user", self.told[0])

    def test_a_control_folder_that_others_may_write_to_is_not_used(self):
        os.mkdir(self.place("job"))
        os.chmod(self.place("job"), 0o777)
        self.command(self.place("job"))
        self.assertIsNone(_control.Control(self.place("job")).poll())
        self.assertIn("other users may write to it", self.told[0])

    def test_a_control_folder_that_is_a_link_is_not_used(self):
        os.mkdir(self.place("real"), 0o700)
        os.symlink(self.place("real"), self.place("job"))
        self.command(self.place("real"))
        self.assertIsNone(_control.Control(self.place("job")).poll())
        self.assertIn("a link", self.told[0])

    @needs_root
    def test_a_command_of_somebody_else_is_not_obeyed(self):
        control = _control.Control(self.place("job"))
        self.command(self.place("job"))
        os.chown(self.place("job", "command.json"), NOBODY, NOBODY)
        self.assertIsNone(control.poll())
        self.assertIn("it belongs to another user", self.told[0])

    def test_commands_that_are_links_or_pipes_are_not_waited_for(self):
        control = _control.Control(self.place("job"))
        os.mkfifo(self.place("job", "command.json"))
        self.assertIsNone(control.poll())  # or it would hang here
        os.unlink(self.place("job", "command.json"))
        self.command(self.folder)
        os.symlink(self.place("command.json"), self.place("job", "command.json"))
        self.assertIsNone(control.poll())
        self.assertEqual(len(self.told), 2, self.told)
        self.assertIn("it is a link", self.told[1])

    def test_a_report_does_not_follow_a_link_that_waits_for_it(self):
        control = _control.Control(self.place("job"))
        with open(self.place("precious"), "w", encoding="utf-8") as file:
            file.write("kept")
        os.symlink(self.place("precious"), self.place("job", f"rank_0.json.{os.getpid()}"))
        control.report(0, {"state": "idle", "step": 1, "capture": ""})
        with open(self.place("precious"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")
        self.assertTrue(os.path.exists(self.place("job", "rank_0.json")))

    # ---- Configurations and shared memory -------------------------------------------------------------------------

    def test_a_configuration_that_is_a_pipe_is_not_waited_for(self):
        os.mkfifo(self.place("profiler_config.json"))
        self.assertIsNone(_channel.read_config(self.place("profiler_config.json"))[0])
        self.assertIn("it is not a file", self.told[0])

    @needs_root
    def test_a_configuration_of_somebody_else_is_not_read(self):
        path = self.place("profiler_config.json")
        as_nobody("open(sys.argv[1], 'w').write('{}')", path)
        self.assertIsNone(_channel.read_config(path)[0])
        self.assertIn("it belongs to another user", self.told[0])
        os.chown(path, 0, 0)
        self.assertEqual(_channel.read_config(path)[0], {})

    def test_a_configuration_may_be_a_link_of_our_own(self):
        with open(self.place("real.json"), "w", encoding="utf-8") as file:
            file.write('{"start_step": 3}')
        os.symlink(self.place("real.json"), self.place("profiler_config.json"))
        self.assertEqual(_channel.read_config(self.place("profiler_config.json"))[0], {"start_step": 3})

    def test_a_default_does_not_follow_a_link_that_waits_for_it(self):
        with open(self.place("precious"), "w", encoding="utf-8") as file:
            file.write("kept")
        os.symlink(self.place("precious"), self.place(f"profiler_config.json.{os.getpid()}.tmp"))
        _channel.write_default(self.place("profiler_config.json"), {"start_step": -1})
        with open(self.place("precious"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")

    @needs_root
    def test_a_block_that_somebody_else_has_made_is_not_shared(self):
        name = f"steplens_test_{os.getpid()}"
        as_nobody("open('/dev/shm/' + sys.argv[1], 'wb').truncate(1 << 20); os.chmod('/dev/shm/' + sys.argv[1], 0o666)", name)
        self.addCleanup(os.unlink, "/dev/shm/" + name)
        with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": "", "HOME": self.place("home")}):
            block = _shm.Block(name)
        self.addCleanup(block.close)
        self.assertTrue(block.path.startswith(self.place("home")), block.path)
        self.assertEqual(os.stat(os.path.dirname(block.path)).st_mode & 0o777, 0o700)
        self.assertIn("another user has made it", self.told[0])

    @needs_root
    def test_a_runtime_folder_of_somebody_else_is_not_used(self):
        as_nobody("os.mkdir(sys.argv[1], 0o777)", self.place("runtime"))
        with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": self.place("runtime"), "HOME": self.place("home")}):
            self.assertTrue(_private.runtime_folder().startswith(self.place("home")))

    # ---- The daemon -----------------------------------------------------------------------------------------------

    @needs_root
    def test_a_daemon_of_somebody_else_is_not_believed(self):
        with mock.patch.dict(os.environ, {"KINETO_IPC_SOCKET_DIR": ""}):
            stranger = subprocess.Popen([sys.executable, "-c", """
import socket, struct
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(b"\\0dynolog\\0")
print("ready", flush=True)
while True:
    data, client = s.recvfrom(65536)
    text = b"PROFILE_START_STEP=1"
    s.sendto(struct.pack("=Q32s", len(text), b"req") + text, client)
"""], user=NOBODY, group=NOBODY, stdout=subprocess.PIPE)
            self.addCleanup(stranger.stdout.close)
            self.addCleanup(stranger.wait)
            self.addCleanup(stranger.kill)
            self.assertEqual(stranger.stdout.readline(), b"ready\n")
            lines = []
            client = _daemon.DaemonClient(0, 0.05, lines.append)
            self.addCleanup(client.close)
            deadline = time.monotonic() + 20
            while not any("user 65534" in line for line in lines):
                self.assertLess(time.monotonic(), deadline, lines)
                time.sleep(0.02)
            self.assertIsNone(client.poll())
            self.assertEqual(sum("user 65534" in line for line in lines), 1)


if __name__ == "__main__":
    unittest.main()
