"""The tables of the users' documents in docs/recording.md: every test that they name exists, every key is there, with its default."""

import pathlib
import re
import unittest
from dataclasses import fields

from support import FrontTest  # noqa: F401 - finds the package
from steplens.megatron._keys import ProfileArguments
from steplens.mindspore.profiler import _dynamic_config
from steplens.mindspore.profiler._parameters import KEYS, Parameters, _plain
from steplens.rl._config import _DEFAULT_SAVE_PATH, _DEFAULTS
from steplens.torch_npu.profiler._experimental import _ExperimentalConfig
from steplens.torch_npu.profiler._settings import Settings

TESTS = pathlib.Path(__file__).resolve().parent
ROOT = TESTS.parent.parent


class Table(unittest.TestCase):
    def setUp(self):
        text = (ROOT / "docs" / "recording.md").read_text(encoding="utf-8")
        self.table = text[text.index("## The users' documents, row by row"):]

    def part(self, title):
        begin = self.table.index(f"### {title}")
        end = self.table.find("\n### ", begin)
        return self.table[begin:end if end > 0 else None]

    @staticmethod
    def rows(text):
        """key -> the cell of defaults; rows of one table may share keys."""
        out = {}
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if line.startswith("| `") and len(cells) == 3:
                for key in re.findall(r"`(\w+)`", cells[0]):
                    out[key] = cells[1]
        return out

    def test_every_test_that_the_tables_name_exists(self):
        named = re.findall(r"`([\w/.]+): (test_\w+)`", self.table)
        self.assertGreater(len(named), 150)
        for file, test in named:
            path = ROOT / file if "/" in file else TESTS / (file + ".py")
            self.assertIn(f"def {test}(self", path.read_text(encoding="utf-8"), (file, test))

    def test_nothing_of_the_documents_differs(self):
        self.assertNotIn("differs", self.table)
        for line in self.table.splitlines():
            if line.startswith("| `"):
                self.assertRegex(line, r"`[\w/.]+: test_\w+`", "a row without a test")

    def test_keys_of_mindspeed_llm(self):
        rows = self.rows(self.part("MindSpeed-LLM"))
        wanted = {item.name: getattr(ProfileArguments(), item.name) for item in fields(ProfileArguments)}
        self.assertEqual(rows, {key: "off" if value is False else str(value) for key, value in wanted.items()})

    def test_parameters_of_mindspore(self):
        whole = self.part("MindSpore")
        parameters, dynamic = whole.split("Keys of `profiler_config.json`")
        self.assertEqual(set(self.rows(parameters)), set(KEYS))
        defaults = Parameters({})
        for key in ("start_profile", "output_path", "with_stack", "data_simplification", "sync_enable", "record_shapes"):
            self.assertEqual(self.rows(parameters)[key], str(_plain(getattr(defaults, key))), key)
        rows = self.rows(dynamic)
        self.assertEqual({key for key in rows if key in _dynamic_config.DEFAULT}, set(_dynamic_config.DEFAULT))
        for key in ("data_simplification", "prof_path", "profiler_level", "aic_metrics", "record_shapes"):
            self.assertEqual(rows[key], str(_dynamic_config.DEFAULT[key]), key)

    def test_parameters_of_torch_npu(self):
        profile, experimental = self.part("msprof-analyze").split("| parameter of `_ExperimentalConfig`")
        self.assertEqual(set(self.rows(profile)), {item.name for item in fields(Settings)} | {"execution_trace_observer"})
        rows = self.rows(experimental)
        keys = {key.lstrip("_") for key in _ExperimentalConfig()()}
        self.assertEqual({key for key in rows if key in keys}, keys)

    def test_keys_of_mindspeed_rl(self):
        rows = self.rows(self.part("MindSpeed-RL"))
        self.assertEqual(set(rows), set(_DEFAULTS))
        for key in ("profile", "stage", "profile_export_type", "profile_level", "profile_with_memory", "profile_ranks", "profile_analysis"):
            self.assertEqual(rows[key], str(_DEFAULTS[key]), key)
        self.assertEqual(rows["profile_save_path"], _DEFAULT_SAVE_PATH)


if __name__ == "__main__":
    unittest.main()
