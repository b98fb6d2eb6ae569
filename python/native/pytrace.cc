// The module steplens._pytrace: every call and return of the interpreter, of all its threads, into
// the capture. Built for one version of Python; without it there are no call stacks and no function
// trace, and all else works.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_set>
#include <vector>

#include "frames.h"
#include "names.h"
#include "stacks.h"
#include "steplens/collect.h"

namespace steplens::python {
namespace {

enum Tag : uint8_t { kCall = 0, kReturn = 1, kBuiltinCall = 2, kBuiltinReturn = 3 };
constexpr uint64_t kExitKey = 1;  // what returns carry instead of the function that returns
constexpr char kExitName[] = "__torch_npu_profiler_python_tracer_exit";
constexpr size_t kMaxInherited = 128;  // frames of a thread that run when the capture begins

// Of the capture that runs; guarded by the interpreter lock, which every hook holds.
uint64_t epoch = 0;
bool tracing = false;
sl_ticks begin = 0;
KeptObjects kept;
SeenObjects seen_modules;           // that were called
SeenObjects seen_optimizers;        // that made a step
PyCodeObject* step_code = nullptr;  // what every step of an optimizer calls with itself
std::unordered_set<uint64_t> named_modules;
std::unordered_set<const PyMethodDef*> named_builtins;

// Keys that were named lately, so that the sets above are asked rarely.
constexpr size_t kRecentSize = 512;  // a power of two
const void* recent[kRecentSize];

const void*& RecentSlot(const void* object) {
  const auto address = reinterpret_cast<uintptr_t>(object) >> 4;
  return recent[(address ^ (address >> 9)) & (kRecentSize - 1)];
}
bool WasRecent(const void* object) { return RecentSlot(object) == object; }

// Whether `object` was here before; remembers it.
bool IsRecent(const void* object) {
  const void*& slot = RecentSlot(object);
  if (slot == object) return true;
  slot = object;
  return false;
}

// How far a thread is above the frames it had when the capture began.
struct ThreadDepth {
  uint64_t epoch = 0;
  size_t inherited = 0;  // frames from before the capture that were written and have not returned
  uint64_t own = 0;      // calls since
};
thread_local ThreadDepth thread_depth;

void Name(uint64_t key, const std::string& text) { sl_python_name(key, text.data(), text.size()); }

uint64_t KeyOfFunction(PyCodeObject* code) {
  const auto key = reinterpret_cast<uint64_t>(code);
  if (!IsRecent(code) && kept.Keep(reinterpret_cast<PyObject*>(code))) {
    Name(key, FunctionText(code));
  }
  return key;
}

// An address may be used again by another module: of the same class it has the same name, of
// another one another key.
uint64_t RawModuleKey(PyObject* module) {
  const auto address = reinterpret_cast<uint64_t>(module);
  return (address ^ (reinterpret_cast<uint64_t>(Py_TYPE(module)) << 17)) * 2 + 1;
}

uint64_t KeyOfModule(PyObject* module) {
  const uint64_t key = RawModuleKey(module);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the key is an address
  if (!IsRecent(reinterpret_cast<const void*>(key)) && named_modules.insert(key).second) {
    kept.Keep(reinterpret_cast<PyObject*>(Py_TYPE(module)));
    Name(key, ModuleText(module));
    seen_modules.Add(module);
  }
  return key;
}

uint64_t KeyOfBuiltin(PyObject* function) {
  if (!PyCFunction_Check(function)) {
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(function));
    if (kept.Keep(type)) Name(reinterpret_cast<uint64_t>(type), BuiltinText(function));
    return reinterpret_cast<uint64_t>(type);
  }
  // Methods of many objects share a definition, and its first name stands for all.
  const PyMethodDef* definition = reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
  if (!IsRecent(definition) && named_builtins.insert(definition).second)
    Name(reinterpret_cast<uint64_t>(definition), BuiltinText(function));
  return reinterpret_cast<uint64_t>(definition);
}

// Most calls are of plain functions that were called before. Code that is more than a plain
// function is never recent.
uint64_t KeyOfFrame(PyFrameObject* frame) {
  PyCodeObject* code = CodeOf(frame);
  if (WasRecent(code)) return reinterpret_cast<uint64_t>(code);
  if (code == step_code) {  // named when the capture began
    seen_optimizers.Add(ModuleOf(frame));
    return reinterpret_cast<uint64_t>(code);
  }
  if (!IsModuleCode(code)) return KeyOfFunction(code);
  PyObject* module = ModuleOf(frame);
  if (module) return KeyOfModule(module);
  if (kept.Keep(reinterpret_cast<PyObject*>(code))) {
    Name(reinterpret_cast<uint64_t>(code), FunctionText(code));
  }
  return reinterpret_cast<uint64_t>(code);
}

// Writes the frames that ran before the capture as calls at its begin, outermost first.
void Inherit(PyFrameObject* innermost, ThreadDepth* depth) {
  std::vector<uint64_t> keys;
  Py_XINCREF(innermost);
  PyFrameObject* frame = innermost;
  while (frame && keys.size() < kMaxInherited) {
    keys.push_back(KeyOfFrame(frame));
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  for (size_t i = keys.size(); i-- > 0;) sl_record_python(begin, keys[i], kCall);
  *depth = {epoch, keys.size(), 0};
}

void EnterCapture(PyFrameObject* frame, int what, ThreadDepth* depth) {
  if (what != PyTrace_CALL) return Inherit(frame, depth);
  PyFrameObject* back = PyFrame_GetBack(frame);
  Inherit(back, depth);
  Py_XDECREF(back);
}

void Returned(ThreadDepth* depth, Tag tag) {
  if (depth->own > 0) {
    --depth->own;
  } else if (tag == kReturn && depth->inherited > 0) {
    --depth->inherited;
  } else {
    return;  // its call was not seen
  }
  sl_record_python_now(kExitKey, tag);
}

int Hook(PyObject*, PyFrameObject* frame, int what, PyObject* argument) {
  if (!tracing || !sl_recording()) return 0;
  ThreadDepth& depth = thread_depth;
  if (depth.epoch != epoch) EnterCapture(frame, what, &depth);
  switch (what) {
    case PyTrace_CALL: {
      FrameEntered();
      const uint64_t key = KeyOfFrame(frame);
      ++depth.own;
      sl_record_python_now(key, kCall);
      break;
    }
    case PyTrace_C_CALL: {
      const uint64_t key = KeyOfBuiltin(argument);
      ++depth.own;
      sl_record_python_now(key, kBuiltinCall);
      break;
    }
    case PyTrace_RETURN:
      FrameLeft();
      Returned(&depth, kReturn);
      break;
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
      Returned(&depth, kBuiltinReturn);
      break;
    default:
      break;
  }
  return 0;
}

// Threads that have a profile function of their own keep it.
void SetOnAllThreads(Py_tracefunc from, Py_tracefunc to) {
#if PY_VERSION_HEX < 0x030C0000
  PyThreadState* thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  for (; thread; thread = PyThreadState_Next(thread)) {
    if (thread->c_profilefunc == from) _PyEval_SetProfile(thread, to, nullptr);
  }
#else
  if (PyThreadState_Get()->c_profilefunc == from) PyEval_SetProfileAllThreads(to, nullptr);
#endif
}

PyObject* Start(PyObject*, PyObject* arguments) {
  PyObject* module_code = nullptr;
  PyObject* optimizer_code = nullptr;
  PyObject* prefixes = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOO!:start", &module_code, &optimizer_code, &PyList_Type,
                        &prefixes))
    return nullptr;
  std::vector<std::string> folders;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(prefixes); ++i) {
    const char* text = PyUnicode_AsUTF8(PyList_GET_ITEM(prefixes, i));
    if (!text) return nullptr;
    folders.emplace_back(text);
  }
  if (module_code != Py_None && !PyCode_Check(module_code)) {
    PyErr_SetString(PyExc_TypeError, "start: expected a code object or None");
    return nullptr;
  }
  SetTrimmedPrefixes(std::move(folders));
  SetModuleCode(module_code == Py_None ? nullptr : reinterpret_cast<PyCodeObject*>(module_code));
  if (PyCode_Check(optimizer_code) && kept.Keep(optimizer_code)) {
    Name(reinterpret_cast<uint64_t>(optimizer_code),
         FunctionText(reinterpret_cast<PyCodeObject*>(optimizer_code)));
  }
  step_code =
      PyCode_Check(optimizer_code) ? reinterpret_cast<PyCodeObject*>(optimizer_code) : nullptr;
  ++epoch;
  begin = sl_now();
  Name(kExitKey, kExitName);
  tracing = true;
  SetOnAllThreads(nullptr, Hook);
  Py_RETURN_NONE;
}

PyObject* Stop(PyObject*, PyObject*) {
  tracing = false;
  SetOnAllThreads(Hook, nullptr);
  std::fill(std::begin(recent), std::end(recent), nullptr);
  named_modules.clear();
  named_builtins.clear();
  step_code = nullptr;
  kept.Release();
  PyObject* modules = seen_modules.Take();
  PyObject* optimizers = modules ? seen_optimizers.Take() : nullptr;
  if (!optimizers) {
    Py_XDECREF(modules);
    return nullptr;
  }
  return Py_BuildValue("(NN)", modules, optimizers);
}

// For threading.setprofile: a new thread's first event puts the native hook in place of this
// function.
PyObject* ThreadHook(PyObject*, PyObject*) {
  PyEval_SetProfile(tracing ? Hook : nullptr, nullptr);
  Py_RETURN_NONE;
}

PyObject* StacksBegin(PyObject*, PyObject* arguments) {
  int stacks = 0, modules = 0;
  PyObject* module_code = nullptr;
  if (!PyArg_ParseTuple(arguments, "ppO:stacks_begin", &stacks, &modules, &module_code))
    return nullptr;
  SetModuleCode(PyCode_Check(module_code) ? reinterpret_cast<PyCodeObject*>(module_code) : nullptr);
  BeginStacks(stacks, modules, Hook);
  return PyLong_FromUnsignedLongLong(reinterpret_cast<uint64_t>(&CurrentStack));
}

PyObject* StacksEnd(PyObject*, PyObject*) {
  EndStacks();
  Py_RETURN_NONE;
}

PyObject* ModuleKey(PyObject*, PyObject* module) {
  return PyLong_FromUnsignedLongLong(RawModuleKey(module));
}

PyMethodDef methods[] = {
    {"start", Start, METH_VARARGS,
     "start(module_code, step_code, prefixes): traces all threads; calls of module_code are named "
     "after the module; step_code is what optimizers call after a step; files lose the prefixes."},
    {"stop", Stop, METH_NOARGS,
     "stop() -> (list, list): ends it; the modules that were called and the optimizers that "
     "stepped, as far as they live."},
    {"thread_hook", ThreadHook, METH_VARARGS,
     "thread_hook(frame, event, arg): for threading.setprofile."},
    {"module_key", ModuleKey, METH_O,
     "module_key(module) -> int: the key its calls are recorded under."},
    {"stacks_begin", StacksBegin, METH_VARARGS,
     "stacks_begin(call_stacks, modules, module_code) -> int: the address of the function that "
     "tells a thread's stack."},
    {"stacks_end", StacksEnd, METH_NOARGS, "stacks_end(): gives back what stacks kept alive."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_pytrace",
                          "Calls and stacks of the interpreter.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace steplens::python

PyMODINIT_FUNC PyInit__pytrace() { return PyModule_Create(&steplens::python::definition); }
