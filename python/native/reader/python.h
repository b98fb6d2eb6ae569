#pragma once

// The first include of every file that talks to Python, in the limited API of 3.11 where that is
// there: the buffer protocol came into it then.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace steplens::python {

// An object that this scope owns. Made and dropped with the interpreter's lock held.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Texts of captures may hold bytes that are no UTF-8; such become U+FFFD.
PyObject* ToPython(std::string_view text);

// Sets the exception that stands for the error; returns null.
PyObject* Raise(const Error& error);
// The classes for that, by ErrorCode; see set_errors.
PyObject* SetErrors(PyObject* module, PyObject* classes);

// Runs `work` on a thread of its own, without the interpreter's lock, and waits for it. Ctrl-C
// cancels it. False with an exception set if it failed or was interrupted. `work` must not touch
// Python.
bool RunReleased(const std::function<Status()>& work);

// An object of a type that PyType_FromSpec made, with a C++ value behind its head.
template <typename Value>
struct Holder {
  PyObject head;
  Value value;
};
template <typename Value>
Value& ValueOf(PyObject* object) {
  return reinterpret_cast<Holder<Value>*>(object)->value;
}
template <typename Value>
PyObject* NewObject(PyTypeObject* type, Value value) {
  PyObject* object = PyType_GenericAlloc(type, 0);
  if (object != nullptr) new (&ValueOf<Value>(object)) Value(std::move(value));
  return object;
}
template <typename Value>
void FreeObject(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  ValueOf<Value>(object).~Value();
  PyObject_Free(object);
  Py_DECREF(type);
}

}  // namespace steplens::python
