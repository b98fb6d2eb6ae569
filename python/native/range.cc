// The context manager of a range: `with Range("forward"): ...`. It remembers whether its begin was
// recorded, so that a range that was open when recording started or stopped never closes another
// one.
#include "native.h"

namespace steplens::python {
namespace {

struct Range {
  PyObject ob_base;
  PyObject* name;  // owned str
  unsigned
      depth;  // how often it is entered and recorded; one object may be entered again inside itself
};

PyObject* New(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  PyObject* name = nullptr;
  static const char* names[] = {"name", nullptr};
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "U:range", const_cast<char**>(names),
                                   &name))
    return nullptr;
  auto* allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* object = allocate(type, 0);
  if (!object) return nullptr;
  Py_INCREF(name);
  reinterpret_cast<Range*>(object)->name = name;
  return object;
}

void Free(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Py_CLEAR(reinterpret_cast<Range*>(object)->name);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

PyObject* Enter(PyObject* object, PyObject*) {
  auto* range = reinterpret_cast<Range*>(object);
  if (sl_recording()) {
    sl_range_begin(TextId(range->name));
    ++range->depth;
  }
  Py_INCREF(object);
  return object;
}

PyObject* Exit(PyObject* object, PyObject* const*, Py_ssize_t) {
  auto* range = reinterpret_cast<Range*>(object);
  if (range->depth > 0) {
    --range->depth;
    sl_range_end();
  }
  Py_RETURN_FALSE;
}

PyObject* Name(PyObject* object, void*) {
  PyObject* name = reinterpret_cast<Range*>(object)->name;
  Py_INCREF(name);
  return name;
}

PyMethodDef methods[] = {
    {"__enter__", Enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(Exit)), METH_FASTCALL,
     nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef properties[] = {{"name", Name, nullptr, "What the range is called.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyObject* MakeRangeType() {
  static PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(New)},
      {Py_tp_dealloc, reinterpret_cast<void*>(Free)},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_tp_doc, const_cast<char*>("A named range of time of the calling thread.")},
      {0, nullptr}};
  static PyType_Spec spec = {"steplens._native.Range", sizeof(Range), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return PyType_FromSpec(&spec);
}

}  // namespace steplens::python
