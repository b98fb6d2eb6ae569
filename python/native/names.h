// Texts for what the interpreter runs, and references that keep their keys valid. Everything here
// needs the lock.
#ifndef STEPLENS_PYTHON_NAMES_H_
#define STEPLENS_PYTHON_NAMES_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frames.h"

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

// FrameText of frames that come again: finding the line of an instruction takes a walk over the
// whole function.
class FrameTexts {
 public:
  const std::string& Get(const Frame& frame);
  void Clear() { texts_.clear(); }

 private:
  struct Hash {
    size_t operator()(const std::pair<PyCodeObject*, int64_t>& key) const {
      return (reinterpret_cast<size_t>(key.first) >> 4) * 31 + static_cast<size_t>(key.second);
    }
  };
  std::unordered_map<std::pair<PyCodeObject*, int64_t>, std::string, Hash> texts_;
};

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

// Objects that were met, without keeping them alive. What cannot be referred to weakly is left out.
class SeenObjects {
 public:
  void Add(PyObject* object);
  // A new list of those that live still; empty afterwards. nullptr with an exception set on
  // failure.
  PyObject* Take();

 private:
  std::unordered_map<PyObject*, PyObject*> references_;  // by address: weak references, owned
};

}  // namespace steplens::python

#endif
