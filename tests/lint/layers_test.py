"""The layering lint reports what it should, and nothing else."""

import pathlib
import tempfile
import unittest

import layers


class Layers(unittest.TestCase):
    def check(self, files):
        """Problems of a source tree given as {path below src: text}."""
        with tempfile.TemporaryDirectory() as folder:
            src = pathlib.Path(folder) / "src"
            for name, text in files.items():
                path = src / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return layers.check(src)

    def test_rooms_are_those_of_the_link_lists(self):
        rooms = layers.rooms_of("steplens_room(base LINK fmt::fmt Threads::Threads\n              PRIVATE SQLite::SQLite3)\n"
                                "steplens_room(store LINK steplens_base PRIVATE PkgConfig::xxhash)\n"
                                "steplens_room(open LINK steplens_readers steplens_analysis)\n")
        self.assertEqual((rooms["base"], rooms["store"], rooms["open"]), ([], ["base"], ["readers", "analysis"]))

    def test_the_page_says_the_same(self):
        row = "| `open` | finds and reads | {} |\n"
        problems = [problem for problem in layers.check_page(row.format("readers")) if "room open " in problem]
        self.assertEqual(problems, ["docs/architecture.md: room open may use analysis, readers; the page says readers"])
        self.assertNotIn("room open ", "".join(layers.check_page(row.format("readers, analysis"))))

    def test_granted_includes_pass(self):
        self.assertEqual([], self.check({
            "readers/a.cc": '#include "readers/a.h"\n#include "store/job.h"\n#include "base/status.h"\n#include <vector>\n',
            "cli/b.cc": '#include "readers/a.h"\n#include "query/c.h"\n#include "table/d.h"\n',
        }))

    def test_upward_include_is_reported_with_its_line(self):
        self.assertEqual(['src/base/a.h:2: base may not use store ("store/job.h")'],
                         self.check({"base/a.h": '#pragma once\n#include "store/job.h"\n'}))

    def test_pages_are_on_top_of_the_analyses(self):
        text = '#include "analysis/viewer/metric.h"\n'
        problems = self.check({"analysis/advice/a.h": text, "analysis/advice/a_test.cc": text, "analysis/viewer/b.cc": text,
                               "analysis/question/c.cc": text, "server/d.cc": text})
        self.assertEqual(problems, ['src/analysis/advice/a.h:1: analysis/viewer is page layout, which analysis/advice may not use '
                                    '("analysis/viewer/metric.h")'])

    def test_readers_and_analysis_do_not_meet(self):
        problems = self.check({
            "readers/a.cc": '#include "analysis/x.h"\n',
            "analysis/b_test.cc": '#include "readers/y.h"\n',
        })
        self.assertEqual(2, len(problems))
        self.assertIn("analysis may not use readers", problems[0])
        self.assertIn("readers may not use analysis", problems[1])

    def test_collect_uses_only_the_safe_part_of_base(self):
        self.assertEqual([], self.check({
            "collect/a.cc": '#include "base/utf8.h"\n#include "format/b.h"\n#include "steplens/collect.h"\n'}))
        self.assertIn("collect may use of base only", self.check({"collect/a.cc": '#include "base/status.h"\n'})[0])
        self.assertIn("readers may not use steplens", self.check({"readers/a.cc": '#include "steplens/collect.h"\n'})[0])

    def test_include_without_room_is_reported(self):
        self.assertIn('"status.h" is not "room/..."', self.check({"base/a.cc": '#include "status.h"\n'})[0])

    def test_unknown_room_is_reported(self):
        self.assertEqual(["src/attic/a.cc:1: 'attic' is not a room of the house"],
                         self.check({"attic/a.cc": ""}))

    def test_library_in_a_header_is_reported(self):
        self.assertEqual(["src/base/a.h:1: simdjson must not appear in a header"],
                         self.check({"base/a.h": "#include <simdjson.h>\n"}))

    def test_second_adapter_in_a_room_is_reported(self):
        self.assertEqual(["src/readers/b.cc:2: readers uses SQLite in src/readers/a.cc already; one adapter a room"],
                         self.check({"readers/a.cc": "#include <sqlite3.h>\n",
                                     "readers/b.cc": "#include <vector>\n#include <sqlite3.h>\n",
                                     "readers/b_test.cc": "#include <sqlite3.h>\n",
                                     "table/c.cc": "#include <sqlite3.h>\n"}))

    def test_query_is_an_adapter_as_a_whole(self):
        self.assertEqual([], self.check({"query/a.cc": "#include <sqlite3.h>\n", "query/b.cc": "#include <sqlite3.h>\n"}))

    def test_helpers_of_tests_may_use_libraries(self):
        self.assertEqual([], self.check({"readers/test_db.h": "#include <sqlite3.h>\n",
                                         "readers/testing/text.h": "#include <fmt/format.h>\n"}))

    def test_fmt_is_welcome_in_every_cc(self):
        self.assertEqual([], self.check({"analysis/a.cc": "#include <fmt/format.h>\n",
                                         "analysis/b.cc": "#include <fmt/format.h>\n"}))


if __name__ == "__main__":
    unittest.main()
