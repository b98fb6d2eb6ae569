// Texts for what the interpreter runs, and references that keep their keys valid. Everything here
// needs the lock.
#ifndef STEPLENS_PYTHON_NAMES_H_
#define STEPLENS_PYTHON_NAMES_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace steplens::python {

// "file(line): name" with a prefix of `SetTrimmedPrefixes` taken off the file.
std::string FunctionText(PyCodeObject* code);
// The same of a call stack: the whole path and the line that runs.
std::string FrameText(PyCodeObject* code, int instruction);
// "ClassName######<address>".
std::string ModuleText(PyObject* module);
std::string ClassName(PyTypeObject* type);
// "<built-in method ...>".
std::string BuiltinText(PyObject* function);

// Folders whose files are named without them, longest first.
void SetTrimmedPrefixes(std::vector<std::string> prefixes);

// Objects whose address is used as a key during a capture: kept alive until Release.
class KeptObjects {
 public:
  // False if the object was kept already.
  bool Keep(PyObject* object) {
    if (!kept_.insert(object).second) return false;
    Py_INCREF(object);
    return true;
  }
  void Release() {
    std::unordered_set<PyObject*> objects;
    objects.swap(kept_);
    for (PyObject* object : objects) Py_DECREF(object);
  }

 private:
  std::unordered_set<PyObject*> kept_;
};

}  // namespace steplens::python

#endif
