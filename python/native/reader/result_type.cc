// _reader.Result: a table that was computed, and a few methods to show it.
#include "reader/types.h"

#include <algorithm>
#include <type_traits>

#include "table/console.h"

namespace steplens::python {
namespace {

using Value = std::shared_ptr<ResultTable>;
PyTypeObject* result_type = nullptr;

const Value& ResultOf(PyObject* self) { return ValueOf<Value>(self); }
const table::Table& TableOf(PyObject* self) { return ResultOf(self)->table(); }

Py_ssize_t Length(PyObject* self) { return static_cast<Py_ssize_t>(TableOf(self).rows()); }

PyObject* Name(PyObject* self, void*) { return ToPython(TableOf(self).name()); }

// [(name, header, type, is_share)]
PyObject* Columns(PyObject* self, void*) {
  constexpr const char* kTypes[] = {"integer", "time", "number", "text"};
  const std::vector<table::Column>& headers = TableOf(self).columns();
  Ref list(PyList_New(static_cast<Py_ssize_t>(headers.size())));
  for (size_t i = 0; list && i < headers.size(); ++i) {
    PyObject* one = Py_BuildValue(
        "(NNsO)", ToPython(ResultOf(self)->columns()[i].name), ToPython(headers[i].name),
        kTypes[static_cast<size_t>(headers[i].type)], headers[i].is_share ? Py_True : Py_False);
    if (one == nullptr || PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), one) != 0)
      return nullptr;
  }
  return list.release();
}

PyObject* Column(PyObject* self, PyObject* number) {
  const Value& result = ResultOf(self);
  const size_t place = PyLong_AsSize_t(number);
  if (PyErr_Occurred() != nullptr) return nullptr;
  if (place >= result->columns().size()) {
    PyErr_Format(PyExc_IndexError, "there is no column %zu", place);
    return nullptr;
  }
  return NewColumn(std::shared_ptr<const Chunk>(result, &result->Column(place)));
}

// cells(begin, end): rows as people read them, a list of texts each.
PyObject* Cells(PyObject* self, PyObject* arguments) {
  const table::Table& table = TableOf(self);
  Py_ssize_t begin = 0;
  Py_ssize_t end = 0;
  if (!PyArg_ParseTuple(arguments, "nn:cells", &begin, &end)) return nullptr;
  const auto rows = static_cast<Py_ssize_t>(table.rows());
  begin = begin < 0 ? 0 : begin > rows ? rows : begin;
  end = end < begin ? begin : end > rows ? rows : end;
  Ref list(PyList_New(end - begin));
  for (Py_ssize_t row = begin; list && row < end; ++row) {
    PyObject* cells = PyList_New(static_cast<Py_ssize_t>(table.columns().size()));
    if (cells == nullptr || PyList_SetItem(list.get(), row - begin, cells) != 0) return nullptr;
    for (size_t i = 0; i < table.columns().size(); ++i) {
      PyObject* text = ToPython(table::CellText(table.columns()[i], static_cast<size_t>(row)));
      if (text == nullptr || PyList_SetItem(cells, static_cast<Py_ssize_t>(i), text) != 0)
        return nullptr;
    }
  }
  return list.release();
}

// text(width, rows): the first rows as the console shows them.
PyObject* Text(PyObject* self, PyObject* arguments) {
  Py_ssize_t width = 0;
  Py_ssize_t rows = 0;
  if (!PyArg_ParseTuple(arguments, "nn:text", &width, &rows)) return nullptr;
  const table::Table& all = TableOf(self);
  const size_t shown = rows < 0 ? 0 : static_cast<size_t>(rows);
  const auto head = [shown](const auto& values) {
    const size_t count = std::min(shown, values.size());
    return std::decay_t<decltype(values)>(values.begin(),
                                          values.begin() + static_cast<ptrdiff_t>(count));
  };
  table::Table first(all.name());
  for (const table::Column& column : all.columns()) {
    first.AddColumn(table::Column{column.name, column.type, column.decimals, column.is_share,
                                  head(column.ints), head(column.doubles), head(column.texts)});
  }
  return ToPython(table::ToConsole(first, {.width = width < 0 ? 0 : static_cast<size_t>(width)}));
}

PyObject* Stream(PyObject* self, PyObject*, PyObject*) {
  ArrowTable table;
  const bool is_made = RunReleased([&] {
    table = ExportResult(ResultOf(self));
    return Status();
  });
  return is_made ? NewStream(std::move(table)) : nullptr;
}

PyMethodDef methods[] = {
    {"column", Column, METH_O, "column(place)\n--\n\nThe column at a place."},
    {"cells", Cells, METH_VARARGS, "cells(begin, end)\n--\n\nRows as lists of texts."},
    {"text", Text, METH_VARARGS, "text(width, rows)\n--\n\nThe first rows, aligned."},
    {"__arrow_c_stream__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(Stream)),
     METH_VARARGS | METH_KEYWORDS, "The table for libraries that read Arrow streams."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"name", Name, nullptr, "the table's name", nullptr},
    {"columns", Columns, nullptr, "(name, header, type, is_share) of each column", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

bool AddResultType(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>("A table that was computed.")},
                         {Py_tp_dealloc, reinterpret_cast<void*>(FreeObject<Value>)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, properties},
                         {Py_sq_length, reinterpret_cast<void*>(Length)},
                         {0, nullptr}};
  PyType_Spec spec = {"steplens._reader.Result", sizeof(Holder<Value>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  result_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return result_type != nullptr &&
         PyModule_AddObjectRef(module, "Result", reinterpret_cast<PyObject*>(result_type)) == 0;
}

PyObject* NewResult(std::shared_ptr<ResultTable> result) {
  return NewObject(result_type, std::move(result));
}

}  // namespace steplens::python
