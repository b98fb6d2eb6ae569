// The module steplens._native: the calls of collect.h for Python, in the limited API, so that one
// file serves every Python from 3.11 on. Calls made per event come first; while nothing is recorded
// each is one test.
#include "native.h"

namespace steplens::python {
namespace {

struct CachedText {
  PyObject* text;  // owned
  sl_string id;
};
constexpr size_t kCacheSize = 2048;  // a power of two
CachedText text_cache[kCacheSize];

size_t SlotOf(const PyObject* text) {
  const auto address = reinterpret_cast<uintptr_t>(text) >> 4;
  return (address ^ (address >> 11)) & (kCacheSize - 1);
}

// Texts that are not valid Unicode (lone surrogates) keep what they have: such characters become
// '?'.
sl_string InternUncached(PyObject* text) {
  Py_ssize_t length = 0;
  if (const char* bytes = PyUnicode_AsUTF8AndSize(text, &length)) {
    return sl_intern(bytes, static_cast<size_t>(length));
  }
  PyErr_Clear();
  PyObject* encoded = PyUnicode_AsEncodedString(text, "utf-8", "replace");
  if (!encoded) return 0;
  char* bytes = nullptr;
  sl_string id = 0;
  if (PyBytes_AsStringAndSize(encoded, &bytes, &length) == 0)
    id = sl_intern(bytes, static_cast<size_t>(length));
  Py_DECREF(encoded);
  return id;
}

sl_string InternAndCache(PyObject* text, CachedText* slot) {
  if (!PyUnicode_Check(text)) {
    PyErr_SetString(PyExc_TypeError, "a name must be a str");
    return 0;
  }
  const sl_string id = InternUncached(text);
  if (id == 0) return 0;
  PyObject* before = slot->text;
  Py_INCREF(text);
  *slot = {text, id};
  Py_XDECREF(before);
  return id;
}

PyObject* RangeBegin(PyObject*, PyObject* name) {
  if (sl_recording()) {
    const sl_string id = TextId(name);
    if (id == 0 && PyErr_Occurred()) return nullptr;
    sl_range_begin(id);
  }
  Py_RETURN_NONE;
}

PyObject* RangeEnd(PyObject*, PyObject*) {
  if (sl_recording()) sl_range_end();
  Py_RETURN_NONE;
}

PyObject* Recording(PyObject*, PyObject*) { return PyBool_FromLong(sl_recording()); }

PyObject* Intern(PyObject*, PyObject* text) {
  const sl_string id = TextId(text);
  if (id == 0 && PyErr_Occurred()) return nullptr;
  return PyLong_FromUnsignedLong(id);
}

struct MarkArguments {
  sl_string message;
  sl_string domain;
  void* stream;
};

// None and "default" are the default domain, 0. An empty text is none: *is_name is false.
bool ParseDomain(PyObject* domain, sl_string* out, bool* is_name) {
  static PyObject* const kDefault = PyUnicode_InternFromString("default");
  *out = 0;
  *is_name = true;
  if (domain == Py_None || domain == kDefault) return true;
  if (PyUnicode_Check(domain) && PyUnicode_CompareWithASCIIString(domain, "default") == 0) {
    return true;
  }
  *out = TextId(domain);
  *is_name = *out != 0;
  return !PyErr_Occurred();
}

// message[, domain[, stream]]. A domain that is none makes the message one that is not recorded.
bool ParseMark(PyObject* const* arguments, Py_ssize_t count, MarkArguments* out) {
  if (count < 1 || count > 3) {
    PyErr_SetString(PyExc_TypeError, "expected a message and, optionally, a domain and a stream");
    return false;
  }
  out->message = TextId(arguments[0]);
  if (PyErr_Occurred()) return false;
  if (count == 1) return true;
  if (count == 3) out->stream = PyLong_AsVoidPtr(arguments[2]);
  if (PyErr_Occurred()) return false;
  bool is_name = true;
  if (!ParseDomain(arguments[1], &out->domain, &is_name)) return false;
  if (!is_name) out->message = 0;
  return true;
}

// The vendor's call may wait for its queue: other threads go on meanwhile.
PyObject* Mark(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  MarkArguments mark{};
  if (sl_recording()) {
    if (!ParseMark(arguments, count, &mark)) return nullptr;
    if (mark.stream == nullptr) {
      sl_mark(mark.message, mark.domain);
    } else {
      Py_BEGIN_ALLOW_THREADS;
      sl_mark_on_stream(mark.message, mark.domain, mark.stream);
      Py_END_ALLOW_THREADS;
    }
  }
  Py_RETURN_NONE;
}

PyObject* MarkStart(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  MarkArguments mark{};
  uint64_t id = 0;
  if (sl_recording()) {
    if (!ParseMark(arguments, count, &mark)) return nullptr;
    if (mark.stream == nullptr) {
      id = sl_mark_start(mark.message, mark.domain);
    } else {
      Py_BEGIN_ALLOW_THREADS;
      id = sl_mark_start_on_stream(mark.message, mark.domain, mark.stream);
      Py_END_ALLOW_THREADS;
    }
  }
  return PyLong_FromUnsignedLongLong(id);
}

PyObject* MarkEnd(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count < 1 || count > 2) {
    PyErr_SetString(PyExc_TypeError, "expected a range's id and, optionally, a domain");
    return nullptr;
  }
  const unsigned long long id = PyLong_AsUnsignedLongLong(arguments[0]);
  if (PyErr_Occurred()) return nullptr;
  if (count == 1) {
    sl_mark_end(id);
    Py_RETURN_NONE;
  }
  sl_string domain = 0;
  bool is_name = true;
  if (!ParseDomain(arguments[1], &domain, &is_name)) return nullptr;
  if (is_name) sl_mark_end_in(id, domain);
  Py_RETURN_NONE;
}

PyObject* Counter(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "expected the name of a series and a value");
    return nullptr;
  }
  const sl_string series = TextId(arguments[0]);
  const double value = PyErr_Occurred() ? 0 : PyFloat_AsDouble(arguments[1]);
  if (PyErr_Occurred()) return nullptr;
  sl_counter(series, value);
  Py_RETURN_NONE;
}

PyObject* StepBegin(PyObject*, PyObject* step) {
  const long long value = PyLong_AsLongLong(step);
  if (PyErr_Occurred()) return nullptr;
  sl_step_begin(value);
  Py_RETURN_NONE;
}

PyObject* StepEnd(PyObject*, PyObject*) {
  sl_step_end();
  Py_RETURN_NONE;
}

template <typename Function>
PyCFunction AsMethod(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef hot_methods[] = {
    {"range_begin", RangeBegin, METH_O,
     "range_begin(name): opens a nested range of the calling thread."},
    {"range_end", RangeEnd, METH_NOARGS,
     "range_end(): closes the innermost range of the calling thread."},
    {"recording", Recording, METH_NOARGS,
     "recording() -> bool: whether events are kept right now."},
    {"intern", Intern, METH_O,
     "intern(text) -> int: the id of a text, the same for the life of the process."},
    {"mark", AsMethod(Mark), METH_FASTCALL,
     "mark(message, domain=None, stream=0): an instant, also on the stream with that handle."},
    {"mark_start", AsMethod(MarkStart), METH_FASTCALL,
     "mark_start(message, domain=None, stream=0) -> int: opens a range that any thread may end; 0: "
     "not "
     "recorded."},
    {"mark_end", AsMethod(MarkEnd), METH_FASTCALL,
     "mark_end(id, domain=any): ends a range of mark_start that is open in the domain; 0 is "
     "ignored."},
    {"counter", AsMethod(Counter), METH_FASTCALL, "counter(series, value): a sample of a series."},
    {"step_begin", StepBegin, METH_O, "step_begin(n): opens the range ProfilerStep#n."},
    {"step_end", StepEnd, METH_NOARGS, "step_end(): closes it."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_native",
                          "The recorder's C interface.",
                          -1,
                          hot_methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

sl_string TextId(PyObject* text) {
  CachedText& slot = text_cache[SlotOf(text)];
  if (slot.text == text) return slot.id;
  return InternAndCache(text, &slot);
}

}  // namespace steplens::python

PyMODINIT_FUNC PyInit__native() {
  using namespace steplens::python;
  PyObject* module = PyModule_Create(&definition);
  if (!module) return nullptr;
  PyObject* range = MakeRangeType();
  const bool ok = range && PyModule_AddFunctions(module, kControlMethods) == 0 &&
                  PyObject_SetAttrString(module, "Range", range) == 0;
  Py_XDECREF(range);
  if (ok) return module;
  Py_DECREF(module);
  return nullptr;
}
