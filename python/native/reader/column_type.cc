// _reader.Column: the values of a column in one part of a table.
#include "reader/types.h"

namespace steplens::python {
namespace {

struct ColumnValue {
  std::shared_ptr<const Chunk> chunk;
  Py_ssize_t shape = 0;  // buffers point to these two
  Py_ssize_t stride = 0;
};
PyTypeObject* column_type = nullptr;

const Chunk& ChunkOf(PyObject* self) { return *ValueOf<ColumnValue>(self).chunk; }

const char* BufferFormat(ChunkType type) {
  switch (type) {
    case ChunkType::kInt64:
      return "q";
    case ChunkType::kUint32:
      return "I";
    case ChunkType::kDouble:
      return "d";
    case ChunkType::kInt32:
    case ChunkType::kText:
      return "i";
  }
  return "B";
}

// Texts are given as the numbers of their dictionary.
int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  ColumnValue& value = ValueOf<ColumnValue>(self);
  const Chunk& chunk = *value.chunk;
  if ((flags & PyBUF_WRITABLE) != 0) {
    PyErr_SetString(PyExc_BufferError, "the columns of a capture cannot be written to");
    view->obj = nullptr;
    return -1;
  }
  const size_t bytes = ValueBytes(chunk.type());
  Py_INCREF(self);
  view->obj = self;
  view->buf = const_cast<void*>(chunk.data());
  view->len = static_cast<Py_ssize_t>(chunk.rows() * bytes);
  view->itemsize = static_cast<Py_ssize_t>(bytes);
  view->readonly = 1;
  view->ndim = 1;
  view->format =
      (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(BufferFormat(chunk.type())) : nullptr;
  view->shape = (flags & PyBUF_ND) != 0 ? &value.shape : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &value.stride : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}

PyObject* ValueAt(const Chunk& chunk, size_t row) {
  if (chunk.IsNull(row)) Py_RETURN_NONE;
  switch (chunk.type()) {
    case ChunkType::kInt64:
      return PyLong_FromLongLong(chunk.Get<int64_t>(row));
    case ChunkType::kInt32:
      return PyLong_FromLong(chunk.Get<int32_t>(row));
    case ChunkType::kUint32:
      return PyLong_FromUnsignedLong(chunk.Get<uint32_t>(row));
    case ChunkType::kDouble:
      return PyFloat_FromDouble(chunk.Get<double>(row));
    case ChunkType::kText:
      return ToPython(chunk.Text(row));
  }
  Py_RETURN_NONE;
}

Py_ssize_t Length(PyObject* self) { return static_cast<Py_ssize_t>(ChunkOf(self).rows()); }

PyObject* Item(PyObject* self, Py_ssize_t row) {
  const Chunk& chunk = ChunkOf(self);
  if (row < 0 || static_cast<size_t>(row) >= chunk.rows()) {
    PyErr_Format(PyExc_IndexError, "there is no row %zd; the column has %zu", row, chunk.rows());
    return nullptr;
  }
  return ValueAt(chunk, static_cast<size_t>(row));
}

// to_list(begin=0, end=None)
PyObject* ToList(PyObject* self, PyObject* arguments) {
  const Chunk& chunk = ChunkOf(self);
  const auto rows = static_cast<Py_ssize_t>(chunk.rows());
  Py_ssize_t begin = 0;
  Py_ssize_t end = rows;
  if (!PyArg_ParseTuple(arguments, "|nn:to_list", &begin, &end)) return nullptr;
  begin = begin < 0 ? 0 : begin > rows ? rows : begin;
  end = end < begin ? begin : end > rows ? rows : end;
  Ref list(PyList_New(end - begin));
  if (!list) return nullptr;
  for (Py_ssize_t row = begin; row < end; ++row) {
    PyObject* value = ValueAt(chunk, static_cast<size_t>(row));
    if (value == nullptr || PyList_SetItem(list.get(), row - begin, value) != 0) return nullptr;
  }
  return list.release();
}

// texts(numbers): the texts of some numbers of the dictionary, as a list.
PyObject* Texts(PyObject* self, PyObject* numbers) {
  const Chunk& chunk = ChunkOf(self);
  if (chunk.type() != ChunkType::kText) {
    PyErr_SetString(PyExc_TypeError, "this column holds no texts");
    return nullptr;
  }
  const Py_ssize_t count = PySequence_Size(numbers);
  if (count < 0) return nullptr;
  Ref list(PyList_New(count));
  if (!list) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Ref number(PySequence_GetItem(numbers, i));
    const long id = number ? PyLong_AsLong(number.get()) : -1;
    if (PyErr_Occurred() != nullptr) return nullptr;
    if (id < 0 || static_cast<size_t>(id) >= chunk.dictionary().size()) {
      PyErr_Format(PyExc_IndexError, "there is no text %ld in the dictionary", id);
      return nullptr;
    }
    PyObject* text = ToPython(chunk.dictionary().Get(static_cast<StringId>(id)));
    if (text == nullptr || PyList_SetItem(list.get(), i, text) != 0) return nullptr;
  }
  return list.release();
}

PyObject* Type(PyObject* self, void*) {
  constexpr const char* kNames[] = {"int64", "int32", "uint32", "float64", "text"};
  return PyUnicode_FromString(kNames[static_cast<size_t>(ChunkOf(self).type())]);
}

PyObject* NullCount(PyObject* self, void*) {
  const Chunk& chunk = ChunkOf(self);
  size_t count = 0;
  const bool is_counted = RunReleased([&] {
    count = chunk.null_count();
    return Status();
  });
  return is_counted ? PyLong_FromSize_t(count) : nullptr;
}

// A bit per row, the first one lowest; None if there is a value in every row.
PyObject* Validity(PyObject* self, void*) {
  const Chunk& chunk = ChunkOf(self);
  const uint8_t* bits = nullptr;
  const bool is_found = RunReleased([&] {
    bits = chunk.validity();
    return Status();
  });
  if (!is_found) return nullptr;
  if (bits == nullptr) Py_RETURN_NONE;
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bits),
                                   static_cast<Py_ssize_t>((chunk.rows() + 7) / 8));
}

PyObject* ArrowArrayOf(PyObject* self, PyObject*, PyObject*) {
  const ColumnValue& value = ValueOf<ColumnValue>(self);
  return NewArrayPair({"", value.chunk->type()}, value.chunk);
}

PyMethodDef methods[] = {
    {"to_list", ToList, METH_VARARGS,
     "to_list(begin=0, end=None)\n--\n\nThe values of some rows; None where there is none."},
    {"texts", Texts, METH_O,
     "texts(numbers)\n--\n\nThe texts that numbers of the dictionary stand for."},
    {"__arrow_c_array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(ArrowArrayOf)),
     METH_VARARGS | METH_KEYWORDS, "The column for libraries that read Arrow arrays."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"type", Type, nullptr, "int64, int32, uint32, float64 or text", nullptr},
    {"null_count", NullCount, nullptr, "how many rows have no value", nullptr},
    {"validity", Validity, nullptr, "a bit per row as bytes; None if every row has a value",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

bool AddColumnType(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("The values of a column in one rank. Libraries that know the "
                                    "buffer protocol or Arrow take them without a copy.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(FreeObject<ColumnValue>)},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_sq_length, reinterpret_cast<void*>(Length)},
      {Py_sq_item, reinterpret_cast<void*>(Item)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)},
      {0, nullptr}};
  PyType_Spec spec = {"steplens._reader.Column", sizeof(Holder<ColumnValue>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  column_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return column_type != nullptr &&
         PyModule_AddObjectRef(module, "Column", reinterpret_cast<PyObject*>(column_type)) == 0;
}

PyObject* NewColumn(std::shared_ptr<const Chunk> chunk) {
  const auto rows = static_cast<Py_ssize_t>(chunk->rows());
  const auto stride = static_cast<Py_ssize_t>(ValueBytes(chunk->type()));
  return NewObject(column_type, ColumnValue{std::move(chunk), rows, stride});
}

}  // namespace steplens::python
