#include "names.h"

#include <algorithm>

namespace steplens::python {
namespace {

std::vector<std::string>& Prefixes() {
  static auto* const prefixes = new std::vector<std::string>;
  return *prefixes;
}

std::string Utf8(PyObject* text) {
  Py_ssize_t length = 0;
  const char* bytes =
      text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &length) : nullptr;
  if (bytes) return {bytes, static_cast<size_t>(length)};
  PyErr_Clear();
  return "?";
}

std::string Located(std::string file, int line, PyObject* name) {
  file += '(';
  file += std::to_string(line);
  file += "): ";
  return file + Utf8(name);
}

}  // namespace

std::string FunctionText(PyCodeObject* code) {
  std::string file = Utf8(code->co_filename);
  for (const std::string& prefix : Prefixes()) {
    if (file.starts_with(prefix)) {
      file.erase(0, prefix.size());
      break;
    }
  }
  return Located(std::move(file), code->co_firstlineno, code->co_name);
}

std::string FrameText(PyCodeObject* code, int instruction) {
  const int line = PyCode_Addr2Line(code, instruction);
  return Located(Utf8(code->co_filename), line > 0 ? line : code->co_firstlineno, code->co_name);
}

const std::string& FrameTexts::Get(const Frame& frame) {
  const auto [entry, is_new] = texts_.try_emplace({frame.code, frame.instruction});
  if (is_new) entry->second = FrameText(frame.code, static_cast<int>(frame.instruction));
  return entry->second;
}

std::string ClassName(PyTypeObject* type) {
  const std::string name = type->tp_name;
  const size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

std::string ModuleText(PyObject* module) {
  return ClassName(Py_TYPE(module)) + "######" +
         std::to_string(reinterpret_cast<uintptr_t>(module));
}

std::string BuiltinText(PyObject* function) {
  // The repr of a built-in runs no Python code; of anything else it might, so the class has to do.
  if (!PyCFunction_Check(function)) return "<" + ClassName(Py_TYPE(function)) + " object>";
  PyObject* repr = PyObject_Repr(function);
  std::string text = Utf8(repr);
  Py_XDECREF(repr);
  PyErr_Clear();
  return text;
}

void SeenObjects::Add(PyObject* object) {
  if (!object) return;
  PyObject*& reference = references_[object];
  if (reference && PyWeakref_GetObject(reference) == object) return;
  Py_XDECREF(reference);  // of one that lay here before
  reference = PyWeakref_NewRef(object, nullptr);
  if (reference) return;
  PyErr_Clear();
  references_.erase(object);
}

PyObject* SeenObjects::Take() {
  std::unordered_map<PyObject*, PyObject*> references;
  references.swap(references_);
  PyObject* list = PyList_New(0);
  for (const auto& [address, reference] : references) {
    PyObject* object = PyWeakref_GetObject(reference);  // borrowed
    if (list && object != Py_None && PyList_Append(list, object) != 0) Py_CLEAR(list);
    Py_DECREF(reference);
  }
  return list;
}

void SetTrimmedPrefixes(std::vector<std::string> prefixes) {
  std::sort(prefixes.begin(), prefixes.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });
  Prefixes() = std::move(prefixes);
}

}  // namespace steplens::python
