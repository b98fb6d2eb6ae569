"""A key that is missing, unused or given other arguments than its placeholders is reported."""

import unittest

import messages

EN = {"gap.title": "{time} without {name}", "gap.links": "{n, plural, one {# of {all}} other {# links of {all}}}"}
ZH = {"gap.title": "{name} 空闲 {time}", "gap.links": "{n}/{all}"}
GOOD = 'Message{"gap.title", {{"time", TimeText(ns)}, {"name", names["x"]}}}; Message{"gap.links", {{"n", "1"}, {"all", all}}};'


class Messages(unittest.TestCase):
    def test_what_agrees_is_no_problem(self):
        self.assertEqual([], messages.check(EN, ZH, {"a.cc": GOOD}))

    def test_key_that_a_language_lacks(self):
        self.assertEqual(["gap.links: missing in zh.json"], messages.check(EN, {"gap.title": ZH["gap.title"]}, {"a.cc": GOOD}))

    def test_placeholders_that_differ(self):
        self.assertEqual(["gap.title: the placeholders of en.json and zh.json differ"],
                         messages.check(EN, ZH | {"gap.title": "空闲 {time}"}, {"a.cc": GOOD}))

    def test_key_that_nobody_has_or_uses(self):
        self.assertEqual(["a.cc: there is no message 'gap.titel'", "gap.title: nobody uses it"],
                         messages.check(EN, ZH, {"a.cc": GOOD.replace("gap.title", "gap.titel")}))

    def test_arguments_that_are_not_the_placeholders(self):
        self.assertEqual(["a.cc: 'gap.title' has ['name', 'time'], it is given ['name', 'times']"],
                         messages.check(EN, ZH, {"a.cc": GOOD.replace('{"time"', '{"times"')}))


if __name__ == "__main__":
    unittest.main()
