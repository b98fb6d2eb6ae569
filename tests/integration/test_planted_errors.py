"""`verify` names an error of every kind: each test plants one in a copy of a sound capture."""

import csv
import io
import json
import shutil
import sqlite3
import unittest

from sample_db import write_db
from support import DATA, SAMPLE, Case


class Csv:
    """A csv file to be changed: rows are dicts of text, without the TABs around cells."""

    def __init__(self, path):
        self.path = path
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
        self.header = [name.strip() for name in rows[0]]
        self.rows = [dict(zip(self.header, (cell.strip("\t") for cell in row))) for row in rows[1:]]

    def write(self):
        out = io.StringIO()
        writer = csv.DictWriter(out, self.header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        self.path.write_text(out.getvalue())

    def add(self, row, column, amount):
        value = float(self.rows[row][column]) + amount
        # Times of today need more digits than a double has.
        whole, _, decimals = self.rows[row][column].partition(".")
        if len(whole) > 12:
            total = int(whole) * 1000 + int((decimals + "000")[:3]) + round(amount * 1000)
            self.rows[row][column] = f"{total // 1000}.{total % 1000:03}"
        else:
            self.rows[row][column] = repr(value) if "." in self.rows[row][column] or value != int(value) else str(int(value))

    def find(self, **cells):
        return next(i for i, row in enumerate(self.rows) if all(test(row[name.replace("_", " ")]) for name, test in cells.items()))


class PlantCase(Case):
    """Copies captures, and asks which rules notice what was changed in them."""

    def copy(self, source):
        self.folder = self.scratch / "rank0_ascend_pt"
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(source, self.folder)
        for path in [self.folder, *self.folder.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        self.output = self.folder / "ASCEND_PROFILER_OUTPUT"

    def broken(self):
        done = self.run_program("verify", "--json", "--no-cache", self.folder)
        checks = [check for rank in json.loads(done.out)["ranks"] for check in rank["checks"]]
        broken = {check["id"]: check["offending"] for check in checks if check["state"] == "broken"}
        self.assertEqual(done.returncode, 1 if broken else 0)
        for id, rows in broken.items():
            self.assertTrue(rows, id)
        return broken

    def expect(self, rule, plant):
        for name, source in self.sources():
            with self.subTest(rule=rule, capture=name):
                self.copy(source)
                plant()
                self.assertIn(rule, self.broken())


class PlantedInText(PlantCase):
    """What is changed where, and the rule that must notice."""

    def sources(self):
        yield "sample", SAMPLE / "rank0_ascend_pt"
        if DATA.is_dir():
            yield "real", next(DATA.glob("ascend_pt/text/level1/rank0*"))

    def change_csv(self, name, change):
        file = Csv(self.output / name)
        change(file)
        file.write()

    def change_json(self, name, change):
        path = self.output / name
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))

    def check_csv(self, rule, name, change):
        self.expect(rule, lambda: self.change_csv(name, change))

    def check_json(self, rule, name, change):
        self.expect(rule, lambda: self.change_json(name, change))

    def test_sound_copies_hold(self):
        for name, source in self.sources():
            with self.subTest(capture=name):
                self.copy(source)
                # Written again as these tests write files: no rule minds.
                for path in self.output.glob("*.csv"):
                    self.change_csv(path.name, lambda file: None)
                for path in self.output.glob("*.json"):
                    self.change_json(path.name, lambda document: None)
                self.assertEqual(self.broken(), {})

    # What is missing

    def test_what_is_not_known_is_not_compared(self):
        null = "-9223372036854775808"

        def drop_durations():
            file = Csv(self.output / "kernel_details.csv")
            file.header.remove("Duration(us)")
            for row in file.rows:
                del row["Duration(us)"]
            file.write()

        plants = {
            "no trace": lambda: (self.output / "trace_view.json").unlink(),
            "no durations": drop_durations,
            "a count that is none": lambda: self.change_csv("op_statistic.csv", lambda file: file.rows[0].update(Count="abc")),
            "a start that is none": lambda: self.change_csv("kernel_details.csv", lambda file: file.rows[0].update({"Start Time(us)": "abc"})),
            "a stream that is none": lambda: self.change_csv("l2_cache.csv", lambda file: file.rows[0].update({"Stream Id": "", "Op Name": "x"})),
            "an allocation at no time": lambda: self.change_csv("operator_memory.csv", lambda file: file.rows[0].update({"Allocation Time(us)": "abc"})),
        }
        for name, source in self.sources():
            for what, plant in plants.items():
                with self.subTest(capture=name, what=what):
                    self.copy(source)
                    plant()
                    out = self.run_program("verify", "--json", "--no-cache", self.folder).out
                    for text in (null, null[:16], "9.22337", "nan"):
                        self.assertNotIn(text, out)
            self.copy(source)
            plants["no trace"]()
            self.assertEqual(self.broken(), {}, name)
            self.copy(source)
            plants["no durations"]()
            self.assertEqual(set(self.broken()), {"import.issues"}, name)

    def test_files_without_rows(self):
        for name, source in self.sources():
            for keep in (0, 1):
                with self.subTest(capture=name, lines=keep):
                    self.copy(source)
                    path = self.output / "kernel_details.csv"
                    path.write_text("".join(path.read_text().splitlines(keepends=True)[:keep]))
                    broken = self.broken()
                    for rule in ("6", "12", "import.issues"):
                        self.assertIn(rule, broken)
                    issues = self.info(self.folder)["ranks"][0]["issues"]
                    self.assertEqual([issue["name"] for issue in issues], ["FileUnreadable"])

    # step_trace_time.csv

    def move(self, file, source, target, amount=50):
        file.add(0, source, -amount)
        file.add(0, target, amount)

    def test_steps(self):
        name = "step_trace_time.csv"
        self.check_csv("1", name, lambda file: file.add(0, "Stage", 100))
        self.check_csv("2", name, lambda file: file.add(0, "Overlapped", 0.01))
        self.check_csv("3", name, lambda file: self.move(file, "Free", "Computing"))  # rule 1 still holds
        self.check_csv("4", name, lambda file: (file.add(0, "Overlapped", 5), file.add(0, "Communication", 5)))
        self.check_csv("5", name, lambda file: self.move(file, "Free", "Communication(Not Overlapped)"))
        self.check_csv("steps.exclude_receive", name,
                       lambda file: file.add(0, "Communication(Not Overlapped and Exclude Receive)", 1))
        self.check_csv("steps.breakdown", name, lambda file: file.add(0, "Preparing", 2))
        self.check_csv("steps.breakdown", name, lambda file: file.rows[0].update(Step="999"))  # a step that never ran
        self.check_csv("steps.values", name, lambda file: file.rows[0].update(Free="-5"))
        self.check_csv("steps.values", name, lambda file: file.rows[0].update(Stage="1e300"))
        # Milliseconds in place of microseconds.
        self.check_csv("3", name, lambda file: file.rows[0].update(
            {column: repr(float(file.rows[0][column]) / 1000) for column in file.header if column != "Step"}))

    def test_rows_of_steps_that_are_missing(self):
        self.copy(SAMPLE / "rank0_ascend_pt")
        self.change_csv("step_trace_time.csv", lambda file: file.rows.pop(1))
        self.assertIn("steps.breakdown", self.broken())

    # kernel_details.csv

    @staticmethod
    def compute_row(file):
        """A compute kernel with a gap around it: of the longest wait."""
        rows = [i for i, row in enumerate(file.rows) if row["Accelerator Core"] != "HCCL" and i > 0]
        return max(rows, key=lambda i: float(file.rows[i]["Wait Time(us)"]))

    def test_kernels(self):
        name = "kernel_details.csv"
        row = self.compute_row
        self.check_csv("12", name, lambda file: file.add(row(file), "Start Time(us)", -0.5))
        self.check_csv("12", name, lambda file: file.rows[row(file)].update(Name="NoSuchKernel"))
        self.check_csv("12", name, lambda file: file.rows.pop(row(file)))
        self.check_csv("12.duration", name, lambda file: file.add(row(file), "Duration(us)", 0.01))
        self.check_csv("6", name, lambda file: file.add(row(file), "Duration(us)", 0.1))
        self.check_csv("3", name, lambda file: file.add(row(file), "Duration(us)", 1.0))
        self.check_csv("kernels.wait", name, lambda file: file.add(row(file), "Wait Time(us)", 0.1))
        self.check_csv("kernels.step", name, lambda file: file.rows[row(file)].update({"Step Id": "999"}))
        self.check_csv("kernels.step", name, lambda file: file.rows[row(file)].update({"Step Id": ""}))
        # Nanoseconds in place of microseconds.
        self.check_csv("12.duration", name, lambda file: file.rows[row(file)].update(
            {"Duration(us)": str(float(file.rows[row(file)]["Duration(us)"]) * 1000)}))

        def swap(file):
            i = row(file)
            file.rows[i - 1], file.rows[i] = file.rows[i], file.rows[i - 1]
        self.check_csv("kernels.order", name, swap)

        def overlap(file):
            i = row(file)
            j = next(j for j in range(i + 1, len(file.rows)) if file.rows[j]["Stream ID"] == file.rows[i]["Stream ID"])
            gap = float(file.rows[j]["Start Time(us)"]) - float(file.rows[i]["Start Time(us)"])
            file.rows[i]["Duration(us)"] = f"{gap + 5:.3f}"
        self.check_csv("kernels.stream_overlap", name, overlap)

    def test_wrong_task_ids(self):
        self.check_csv("13", "l2_cache.csv", lambda file: file.rows[0].update({"Task Id": "64999"}))
        self.check_csv("13", "l2_cache.csv", lambda file: file.rows[0].update({"Op Name": "NoSuchKernel"}))

    # Statistics

    def test_statistics(self):
        self.check_csv("6", "op_statistic.csv", lambda file: file.add(0, "Count", 1))
        self.check_csv("6", "op_statistic.csv", lambda file: file.add(0, "Total Time(us)", 1))
        self.check_csv("6", "op_statistic.csv", lambda file: file.add(0, "Max Time(us)", 0.01))
        self.check_csv("6", "op_statistic.csv", lambda file: file.add(0, "Ratio(%)", 0.1))
        self.check_csv("6", "op_statistic.csv", lambda file: file.rows.pop())
        self.check_csv("6", "op_statistic.csv", lambda file: file.rows.append(dict(file.rows[0], **{"OP Type": "NoSuchType"})))
        self.check_csv("7", "api_statistic.csv", lambda file: file.add(0, "Count", 1))
        self.check_csv("7", "api_statistic.csv", lambda file: file.add(0, "Time(us)", 10))
        self.check_csv("7", "api_statistic.csv", lambda file: file.add(0, "Variance", float(file.rows[0]["Variance"]) + 10))
        self.check_csv("7", "api_statistic.csv", lambda file: file.rows.pop(0))

    # operator_details.csv

    def test_operators(self):
        name = "operator_details.csv"
        self.check_csv("8", name, lambda file: file.add(0, "Host Total Duration(us)", 0.5))
        self.check_csv("8", name, lambda file: file.rows.pop(0))
        self.check_csv("8", name, lambda file: file.rows[0].update(Name="aten::nothing"))
        def swap(file):
            i = next(i for i in range(1, len(file.rows)) if file.rows[i]["Name"] != file.rows[0]["Name"])
            file.rows[0], file.rows[i] = file.rows[i], file.rows[0]
        self.check_csv("8.order", name, swap)
        with_device = {"Device_Self_Duration(us)": lambda cell: float(cell) > 0}
        self.check_csv("9", name, lambda file: file.add(file.find(**with_device), "Device Self Duration(us)", 5))
        self.check_csv("8.times", name, lambda file: file.add(0, "Host Self Duration(us)", 5))
        self.check_csv("8.times", name, lambda file: file.add(file.find(**with_device), "Device Total Duration(us)", 5))
        self.check_csv("9.aicore", name, lambda file: file.add(file.find(**with_device), "Device Self Duration With AICore(us)", 5))

    # trace_view.json

    def test_timeline(self):
        name = "trace_view.json"
        def first(events, **wanted):
            return next(event for event in events if all(event.get(key) == value for key, value in wanted.items()))
        def shift(event, us):
            total = int(event["ts"].replace(".", "")) + round(us * 1000)
            event["ts"] = f"{total // 1000}.{total % 1000:03}"
        def swap_operators(events):
            places = [i for i, event in enumerate(events) if event.get("cat") == "cpu_op"]
            events[places[0]], events[places[-1]] = events[places[-1]], events[places[0]]
        def launch(events):
            """The end of the flow that leads to a kernel."""
            kernels = {event["ts"] for event in events if event.get("args", {}).get("Task Type") == "AI_CORE"}
            return next(event for event in events if event.get("cat") == "HostToDevice" and event["ph"] == "f" and event["ts"] in kernels)
        def drop(events, **wanted):
            events.remove(first(events, **wanted))
        self.check_json("5", name, lambda events: first(events, name="Computing", ph="X").update(dur=0.001))
        self.check_json("5", name, lambda events: drop(events, name="Free", ph="X"))
        self.check_json("8", name, lambda events: drop(events, cat="cpu_op", ph="X"))
        self.check_json("8.order", name, swap_operators)
        self.check_json("10", name, lambda events: shift(first(events, cat="async_npu", ph="s"), 0.5))
        self.check_json("10", name, lambda events: shift(first(events, cat="async_npu", ph="f"), 0.5))
        self.check_json("9", name, lambda events: drop(events, cat="async_npu", ph="f"))
        self.check_json("11", name, lambda events: shift(first(events, cat="HostToDevice", ph="f"), 0.5))
        self.check_json("11", name, lambda events: events.remove(launch(events)))
        self.check_json("11", name, lambda events: events.append(dict(launch(events))))
        def renumber(category):
            """Another id at both ends, so that they still find each other."""
            def change(events):
                old = first(events, cat=category, ph="f")["id"]
                for event in events:
                    if event.get("cat") == category and event["id"] == old:
                        event["id"] = old + 100_007
            return change
        for category in ("async_npu", "async_task_queue", "fwdbwd"):
            self.check_json("import.issues", name, renumber(category))
        self.check_json("trace.dangling_flows", name, lambda events: shift(first(events, cat="async_npu", ph="f"), -500_000))
        self.check_json("trace.dangling_flows", name, lambda events: drop(events, cat="fwdbwd", ph="s"))
        self.check_json("trace.dangling_flows", name, lambda events: drop(events, cat="fwdbwd", ph="f"))
        self.check_json("trace.durations", name, lambda events: first(events, cat="cpu_op", ph="X").update(dur=-1))
        self.check_json("import.issues", name, lambda events: first(events, cat="cpu_op", ph="X").update(ts="soon"))
        self.check_json("7", name, lambda events: drop(events, name="AscendCL@aclrtMemcpy" if any(
            event["name"] == "AscendCL@aclrtMemcpy" for event in events) else first(
                [event for event in events if event["name"].startswith("AscendCL@")], ph="X")["name"]))
        self.check_json("12", name, lambda events: events.remove(next(
            event for event in events if event.get("args", {}).get("Task Type") == "AI_CORE" and event["ph"] == "X")))

    def test_everything_happened_during_the_capture(self):
        def move_end(document):
            end = int(document["end_info"]["collectionTimeEnd"])
            document["end_info"]["collectionTimeEnd"] = type(document["end_info"]["collectionTimeEnd"])(end - 3_600_000_000_000)
        for name, source in self.sources():
            self.copy(source)
            path = next(self.folder.glob("profiler_info*.json"))
            document = json.loads(path.read_text())
            if "collectionTimeEnd" not in document.get("end_info", {}):
                continue
            move_end(document)
            path.write_text(json.dumps(document))
            self.assertIn("trace.session", self.broken(), name)

    def test_files_of_another_rank(self):
        for name, source in self.sources():
            with self.subTest(capture=name):
                self.copy(source)
                path = next(self.folder.glob("profiler_info_*.json"))
                path.rename(path.with_name("profiler_info_5.json"))
                self.assertIn("rank.id", self.broken())

    # Memory

    def test_memory(self):
        record, operators = "memory_record.csv", "operator_memory.csv"
        is_sum, is_pta = (lambda cell: cell == "PTA+GE"), (lambda cell: cell == "PTA")
        framework = {"Name": lambda cell: cell and not cell.startswith("cann::"), "Release_Time(us)": bool}
        self.check_csv("14", record, lambda file: file.add(file.find(Component=is_sum), "Total Allocated(MB)", 0.5))
        self.check_csv("14", record, lambda file: file.rows.pop(file.find(Component=is_sum)))
        self.check_csv("14", record, lambda file: file.rows.pop(file.find(Component=is_pta)))
        def change_total(file):
            times = {row["Allocation Time(us)"] for row in Csv(self.output / operators).rows}
            file.add(file.find(**{"Component": is_pta, "Timestamp(us)": times.__contains__}), "Total Allocated(MB)", 0.5)
        self.check_csv("14.allocations", record, change_total)
        self.check_csv("14.allocations", operators, lambda file: file.add(file.find(**framework), "Allocation Time(us)", 0.5))
        self.check_csv("14.duration", operators, lambda file: file.add(file.find(**framework), "Duration(us)", 0.001))
        self.check_csv("14.duration", operators, lambda file: file.add(file.find(**framework), "Release Time(us)", -1))
        last = lambda file: max(i for i, row in enumerate(file.rows) if not row["Name"].startswith("cann::"))
        self.check_csv("14.balance", operators, lambda file: file.rows.pop(last(file)))  # nobody allocated it
        self.check_csv("14.balance", operators, lambda file: file.add(last(file), "Size(KB)", 4))
        self.check_csv("14.balance", operators, lambda file: file.rows[last(file)].update(
            {"Size(KB)": str(float(file.rows[last(file)]["Size(KB)"]) * 1024)}))  # bytes in place of KB
        self.check_csv("memory.modules", "npu_module_mem.csv", lambda file: file.rows.pop())

    # Communication

    @staticmethod
    def operation(document):
        """The step, the class and the key of an operation with traffic."""
        for classes in document.values():
            for operations in classes.values():
                for key in operations:
                    if key != "Total Op Info":
                        return operations, key
        raise AssertionError("no operation")

    def time_of(self, document, key=None):
        operations, first = self.operation(document)
        return operations[key or first]["Communication Time Info"]

    def hccs_of(self, document, key=None):
        operations, first = self.operation(document)
        return operations[key or first]["Communication Bandwidth Info"]["HCCS"]

    @staticmethod
    def bump(info, name, amount):
        info[name] = info[name] + amount

    def test_communication(self):
        name = "communication.json"
        self.check_json("15", name, lambda d: self.bump(self.time_of(d), "Elapse Time(ms)", 0.01))
        self.check_json("15", name, lambda d: self.bump(self.time_of(d), "Wait Time Ratio", 0.01))
        self.check_json("4.elapse", name, lambda d: (self.bump(self.time_of(d, "Total Op Info"), "Elapse Time(ms)", 0.1),
                                                    self.bump(self.time_of(d, "Total Op Info"), "Idle Time(ms)", 0.1)))
        self.check_json("communication.totals", name, lambda d: self.bump(self.time_of(d, "Total Op Info"), "Transit Time(ms)", 0.1))
        self.check_json("communication.totals", name, lambda d: self.bump(self.hccs_of(d, "Total Op Info"), "Transit Size(MB)", 1))
        self.check_json("communication.bandwidth", name, lambda d: self.bump(self.hccs_of(d), "Bandwidth(GB/s)", 0.1))
        self.check_json("communication.bandwidth", name, lambda d: self.bump(self.hccs_of(d), "Transit Size(MB)", 0.1))
        self.check_json("communication.bandwidth", name, lambda d: self.bump(self.hccs_of(d), "Large Packet Ratio", 0.5))
        # Bytes in place of MB.
        self.check_json("communication.bandwidth", name, lambda d: self.hccs_of(d).update(
            {"Transit Size(MB)": self.hccs_of(d)["Transit Size(MB)"] * 1e6}))
        def drop(document):
            operations, key = self.operation(document)
            del operations[key]
        self.check_json("communication.totals", name, drop)
        def rename(document):
            operations, key = self.operation(document)
            operations["hcom_broadcast__999_0_1@1"] = operations.pop(key)
        self.check_json("communication.ops", name, rename)
        def matrix(document):
            for classes in document.values():
                for entries in classes.values():
                    for key, links in entries.items():
                        if "-total@" in key:
                            link = next(link for link in links.values() if link["Transport Type"] == "HCCS")
                            link["Transit Size(MB)"] += 1
                            return
        self.check_json("15.matrix", "communication_matrix.json", matrix)
        def change_link(column):
            def change(document):
                for classes in document.values():
                    for entries in classes.values():
                        for key, links in entries.items():
                            if "-total@" not in key:
                                return self.bump(next(iter(links.values())), column, 1)
                raise AssertionError("no link")
            return change
        for column in ("Transit Size(MB)", "Bandwidth(GB/s)"):
            self.check_json("communication.links", "communication_matrix.json", change_link(column))


class PlantedInDb(PlantCase):
    """The same in a database."""

    def setUp(self):
        super().setUp()
        write_db(SAMPLE / "rank0_ascend_pt", self.scratch / "made")
        self.made = next((self.scratch / "made").rglob("ASCEND_PROFILER_OUTPUT")).parent

    def sources(self):
        yield "sample", self.made
        if DATA.is_dir():
            yield "real", next(DATA.glob("ascend_pt/db/level1/rank0*"))

    def check_sql(self, rule, *statements, db="ascend_pytorch_profiler*.db"):
        def change():
            connection = sqlite3.connect(next(self.output.glob(db)))
            for statement in statements:
                self.assertGreater(connection.execute(statement).rowcount, 0, statement)
            connection.commit()
            connection.close()
        self.expect(rule, change)

    def drop_steps(self):
        connection = sqlite3.connect(next(self.output.glob("ascend_pytorch_profiler*.db")))
        connection.execute("DROP TABLE STEP_TIME")
        connection.commit()
        connection.close()

    def test_db(self):
        steps = {"db": "analysis.db"}
        self.check_sql("1", "UPDATE StepTraceTime SET stage = stage + 1", **steps)
        self.check_sql("2", "UPDATE StepTraceTime SET overlapped = overlapped + 1", **steps)
        self.check_sql("3", "UPDATE StepTraceTime SET computing = computing + 1, free = free - 1", **steps)
        self.check_sql("4", "UPDATE StepTraceTime SET overlapped = overlapped + 1, communication = communication + 1", **steps)
        self.check_sql("steps.breakdown", "UPDATE StepTraceTime SET preparing = preparing + 1", **steps)
        self.check_sql("steps.values", "UPDATE StepTraceTime SET free = -free - 1", **steps)
        self.check_sql("steps.marks", "DELETE FROM STEP_TIME WHERE id = (SELECT max(id) FROM STEP_TIME)")
        self.check_sql("steps.marks", "UPDATE STEP_TIME SET id = id + 1 WHERE id = (SELECT max(id) FROM STEP_TIME)")
        self.check_sql("15", "UPDATE CommAnalyzerTime SET elapse_time = elapse_time + 1", **steps)
        self.check_sql("communication.bandwidth", "UPDATE CommAnalyzerBandwidth SET bandwidth = bandwidth + 1", **steps)
        self.check_sql("communication.links", "UPDATE CommAnalyzerMatrix SET bandwidth = bandwidth + 1", **steps)
        self.check_sql("rank.id", "UPDATE RANK_DEVICE_MAP SET rankId = 9")
        self.check_sql("steps.once", "INSERT INTO STEP_TIME SELECT * FROM STEP_TIME")
        self.check_sql("15.matrix", "DELETE FROM CommAnalyzerMatrix WHERE hccl_op_name LIKE '%-total'", **steps)
        self.check_sql("16", "DELETE FROM CANN_API WHERE connectionId = (SELECT max(connectionId) FROM CANN_API "
                             "WHERE type = 10000 AND connectionId IN (SELECT connectionId FROM TASK))")
        self.check_sql("16", "DELETE FROM CANN_API")
        self.check_sql("3", "UPDATE TASK SET endNs = endNs + 1000 WHERE globalTaskId = "
                            "(SELECT max(globalTaskId) FROM COMPUTE_TASK_INFO)")
        self.check_sql("14", "UPDATE MEMORY_RECORD SET totalAllocated = totalAllocated + 4096 WHERE rowid = "
                             "(SELECT max(rowid) FROM MEMORY_RECORD)")
        self.check_sql("14.duration", "UPDATE OP_MEMORY SET duration = duration + 1 WHERE duration > 0")
        self.check_sql("14.balance", "DELETE FROM OP_MEMORY WHERE rowid = (SELECT max(rowid) FROM OP_MEMORY WHERE streamPtr IS NOT NULL AND streamPtr != '')")
        self.expect("steps.marks", self.drop_steps)
        self.check_sql("memory.modules", "DELETE FROM NPU_MODULE_MEM WHERE rowid = (SELECT max(rowid) FROM NPU_MODULE_MEM)")


if __name__ == "__main__":
    unittest.main()
