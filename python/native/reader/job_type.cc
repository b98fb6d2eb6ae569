// _reader.Job: an opened job, and what can be asked of it. steplens/_reading.py makes it friendly.
#include "reader/types.h"

#include <limits>

#include "analysis/breakdown/breakdown.h"
#include "analysis/operators/op_list.h"
#include "analysis/selection.h"
#include "reader/answers.h"

namespace steplens::python {
namespace {

using Value = std::shared_ptr<OpenedJob>;
PyTypeObject* job_type = nullptr;

// The job of a method, usable in this process; null with an exception set if it is not.
OpenedJob* UsableJob(PyObject* self) {
  OpenedJob& job = *ValueOf<Value>(self);
  const Status status = job.CheckProcess();
  if (status.ok()) return &job;
  Raise(status.error());
  return nullptr;
}

// A number or None.
bool ReadNumber(PyObject* object, std::optional<int64_t>& out) {
  if (object == Py_None) return true;
  out = PyLong_AsLongLong(object);
  return PyErr_Occurred() == nullptr;
}

bool ReadText(PyObject* object, std::string& out) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(object, &size);
  if (bytes == nullptr) return false;
  out.assign(bytes, static_cast<size_t>(size));
  return true;
}

bool ReadTexts(PyObject* sequence, std::vector<std::string>& out) {
  const Py_ssize_t count = PySequence_Size(sequence);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Ref item(PySequence_GetItem(sequence, i));
    if (!item || !ReadText(item.get(), out.emplace_back())) return false;
  }
  return count >= 0;
}

PyObject* Texts(const std::vector<std::string>& texts) {
  Ref list(PyList_New(static_cast<Py_ssize_t>(texts.size())));
  for (size_t i = 0; list && i < texts.size(); ++i) {
    PyObject* text = ToPython(texts[i]);
    if (text == nullptr || PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), text) != 0)
      return nullptr;
  }
  return list.release();
}

const char* OriginOf(const query::SqlColumn& column) {
  if (column.pushdown == query::Pushdown::kRowNumber) return "id";
  if (column.pushdown == query::Pushdown::kRank) return "rank";
  return column.derive != nullptr && !column.is_stored ? "computed" : "stored";
}

PyObject* DescribeTable(const query::SqlTable& table) {
  Ref columns(PyList_New(0));
  Ref rows(PyList_New(0));
  if (!columns || !rows) return nullptr;
  for (const query::SqlColumn& column : table.columns) {
    const Ref one(Py_BuildValue("(NNNs)", ToPython(column.name), ToPython(column.type),
                                ToPython(column.doc), OriginOf(column)));
    if (!one || PyList_Append(columns.get(), one.get()) != 0) return nullptr;
  }
  for (const query::Part& part : table.parts) {
    const Ref one(Py_BuildValue("(Ln)", static_cast<long long>(part.rank),
                                static_cast<Py_ssize_t>(part.rows)));
    if (!one || PyList_Append(rows.get(), one.get()) != 0) return nullptr;
  }
  return Py_BuildValue("(NNNN)", ToPython(table.name), ToPython(table.doc), columns.release(),
                       rows.release());
}

// [(name, doc, [(column, type, doc, origin)], [(rank, rows)])]
PyObject* Tables(PyObject* self, PyObject*) {
  OpenedJob* const job = UsableJob(self);
  query::Catalog* catalog = nullptr;
  const auto make = [&]() -> Status {
    SL_ASSIGN_OR_RETURN(catalog, job->Tables());
    return {};
  };
  if (job == nullptr || !RunReleased(make)) return nullptr;
  Ref list(PyList_New(0));
  for (const auto& table : catalog->tables()) {
    const Ref one(DescribeTable(*table));
    if (!list || !one || PyList_Append(list.get(), one.get()) != 0) return nullptr;
  }
  return list.release();
}

// [{number, source, format, level, device, path}]
PyObject* Ranks(PyObject* self, PyObject*) {
  Ref list(PyList_New(0));
  for (const store::TraceStore& rank : ValueOf<Value>(self)->job().ranks) {
    const store::RankInfo& info = rank.info;
    Ref device(info.device == store::kNone ? Py_BuildValue("") : PyLong_FromLongLong(info.device));
    const Ref one(
        Py_BuildValue("{s:L,s:N,s:N,s:N,s:N,s:N}", "number", static_cast<long long>(info.rank),
                      "source", ToPython(store::SourceName(info.source)), "format",
                      ToPython(store::FormatName(info.format)), "level", ToPython(info.level),
                      "device", device.release(), "path", ToPython(info.path)));
    if (!list || !one || PyList_Append(list.get(), one.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* Notes(PyObject* self, PyObject*) { return Texts(ValueOf<Value>(self)->notes()); }

// chunks(table, column): a Column per part.
PyObject* Chunks(PyObject* self, PyObject* arguments) {
  const char* table = nullptr;
  const char* column = nullptr;
  if (!PyArg_ParseTuple(arguments, "ss:chunks", &table, &column)) return nullptr;
  OpenedJob* const job = UsableJob(self);
  std::vector<const Chunk*> chunks;
  const auto find = [&]() -> Status {
    SL_ASSIGN_OR_RETURN(chunks, job->Column(table, column));
    return {};
  };
  if (job == nullptr || !RunReleased(find)) return nullptr;
  Ref list(PyList_New(0));
  for (const Chunk* chunk : chunks) {
    const Ref one(NewColumn(std::shared_ptr<const Chunk>(ValueOf<Value>(self), chunk)));
    if (!list || !one || PyList_Append(list.get(), one.get()) != 0) return nullptr;
  }
  return list.release();
}

// stream(table, columns, rank)
PyObject* Stream(PyObject* self, PyObject* arguments) {
  const char* table = nullptr;
  PyObject* columns = nullptr;
  PyObject* rank = nullptr;
  if (!PyArg_ParseTuple(arguments, "sOO:stream", &table, &columns, &rank)) return nullptr;
  std::vector<std::string> names;
  std::optional<int64_t> wanted;
  if (!ReadTexts(columns, names) || !ReadNumber(rank, wanted)) return nullptr;
  OpenedJob* const job = UsableJob(self);
  ArrowTable out;
  const auto make = [&]() -> Status {
    SL_ASSIGN_OR_RETURN(out, job->Export(table, names, wanted));
    return {};
  };
  if (job == nullptr || !RunReleased(make)) return nullptr;
  return NewStream(std::move(out));
}

// query(sql, max_rows)
PyObject* Query(PyObject* self, PyObject* arguments) {
  const char* sql = nullptr;
  Py_ssize_t size = 0;
  PyObject* rows = nullptr;
  if (!PyArg_ParseTuple(arguments, "s#O:query", &sql, &size, &rows)) return nullptr;
  std::optional<int64_t> max_rows;
  if (!ReadNumber(rows, max_rows)) return nullptr;
  if (max_rows.value_or(0) < 0) {
    return Raise(
        {ErrorCode::kInvalidArgument, "max_rows: " + std::to_string(*max_rows) + " is negative"});
  }
  OpenedJob* const job = UsableJob(self);
  const std::string text(sql, static_cast<size_t>(size));
  std::shared_ptr<ResultTable> result;
  const auto run = [&]() -> Status {
    const size_t limit = max_rows ? static_cast<size_t>(*max_rows) : SIZE_MAX;
    SL_ASSIGN_OR_RETURN(table::Table table, job->Query(text, limit));
    result = std::make_shared<ResultTable>(std::move(table), true);
    return {};
  };
  if (job == nullptr || !RunReleased(run)) return nullptr;
  return NewResult(std::move(result));
}

// An argument of a question from what Python gave: a number, a text, or numbers as "0,3,5".
bool ReadArgument(PyObject* object, analysis::QuestionArgs::Value& out) {
  if (PyLong_Check(object)) {  // a bool as well
    out = static_cast<int64_t>(PyLong_AsLongLong(object));
    return PyErr_Occurred() == nullptr;
  }
  if (PyFloat_Check(object)) {
    out = PyFloat_AsDouble(object);
    return true;
  }
  std::string text;
  if (!ReadText(object, text)) return false;
  out = std::move(text);
  return true;
}

// ask(question, arguments) -> ([Result], [warning], query)
PyObject* Ask(PyObject* self, PyObject* arguments) {
  const char* question = nullptr;
  PyObject* given = nullptr;
  if (!PyArg_ParseTuple(arguments, "sO!:ask", &question, &PyDict_Type, &given)) return nullptr;
  analysis::QuestionArgs args;
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t place = 0; PyDict_Next(given, &place, &name, &value) != 0;) {
    std::string key;
    if (!ReadText(name, key) || !ReadArgument(value, args.values[key])) return nullptr;
  }
  OpenedJob* const job = UsableJob(self);
  PythonAnswer answer;
  const auto run = [&]() -> Status {
    SL_ASSIGN_OR_RETURN(answer, AskOf(*job, question, args));
    return {};
  };
  if (job == nullptr || !RunReleased(run)) return nullptr;
  return AnswerToPython(std::move(answer));
}

// list(what, by, communication, rank, step): "breakdown", or "ops" by a key.
PyObject* List(PyObject* self, PyObject* arguments) {
  const char* what = nullptr;
  const char* by = nullptr;
  const char* communication = nullptr;
  PyObject* rank = nullptr;
  PyObject* step = nullptr;
  if (!PyArg_ParseTuple(arguments, "sssOO:list", &what, &by, &communication, &rank, &step))
    return nullptr;
  analysis::Selection selection;
  if (!ReadNumber(rank, selection.rank) || !ReadNumber(step, selection.step)) return nullptr;
  OpenedJob* const job = UsableJob(self);
  std::shared_ptr<ResultTable> result;
  const auto run = [&]() -> Status {
    SL_ASSIGN_OR_RETURN(table::Table table, ListOf(job->job(), what, by, communication, selection));
    result = std::make_shared<ResultTable>(std::move(table), false);
    return {};
  };
  if (job == nullptr || !RunReleased(run)) return nullptr;
  return NewResult(std::move(result));
}

PyMethodDef methods[] = {{"tables", Tables, METH_NOARGS, "What tables there are."},
                         {"ranks", Ranks, METH_NOARGS, "What the ranks are."},
                         {"notes", Notes, METH_NOARGS, "What was left out, a sentence each."},
                         {"chunks", Chunks, METH_VARARGS, "A column of a table, rank by rank."},
                         {"stream", Stream, METH_VARARGS, "Columns of a table as an Arrow stream."},
                         {"query", Query, METH_VARARGS, "The result of a SELECT statement."},
                         {"ask", Ask, METH_VARARGS, "The answer to a question."},
                         {"list", List, METH_VARARGS, "The table of a command."},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

std::shared_ptr<OpenedJob> JobOf(PyObject* object) {
  if (Py_TYPE(object) != job_type) {
    PyErr_SetString(PyExc_TypeError, "an opened job was expected");
    return nullptr;
  }
  return UsableJob(object) != nullptr ? ValueOf<Value>(object) : nullptr;
}

// open(paths, threads, use_cache, strict)
PyObject* OpenPaths(PyObject*, PyObject* arguments) {
  PyObject* paths = nullptr;
  Py_ssize_t threads = 0;
  int use_cache = 1;
  int is_strict = 0;
  if (!PyArg_ParseTuple(arguments, "Onpp:open", &paths, &threads, &use_cache, &is_strict))
    return nullptr;
  std::vector<std::string> names;
  if (!ReadTexts(paths, names)) return nullptr;
  if (threads < 0 || threads > 1024) {
    return Raise({ErrorCode::kInvalidArgument, "threads: " + std::to_string(threads) +
                                                   " is out of range, 0 to 1024 was expected"});
  }
  Value job;
  const auto open = [&]() -> Status {
    SL_ASSIGN_OR_RETURN(job, OpenedJob::Open(names, {.threads = static_cast<size_t>(threads),
                                                     .use_cache = use_cache != 0,
                                                     .is_strict = is_strict != 0}));
    return {};
  };
  if (!RunReleased(open)) return nullptr;
  return NewObject(job_type, std::move(job));
}

bool AddJobType(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>("An opened job.")},
                         {Py_tp_dealloc, reinterpret_cast<void*>(FreeObject<Value>)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {"steplens._reader.Job", sizeof(Holder<Value>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  job_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return job_type != nullptr &&
         PyModule_AddObjectRef(module, "Job", reinterpret_cast<PyObject*>(job_type)) == 0;
}

}  // namespace steplens::python
