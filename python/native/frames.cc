#define Py_BUILD_CORE 1  // the layout of frames (3.11)
#include "frames.h"

#include <frameobject.h>

// 3.11 alone hides what the hot path reads; before, frames are public, and later there are
// functions.
#define STEPLENS_PYTHON_3_11 (PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000)
#if STEPLENS_PYTHON_3_11
#include <internal/pycore_frame.h>
#endif

#include <atomic>

namespace steplens::python {
namespace {

std::atomic<PyCodeObject*> module_code{nullptr};

#if STEPLENS_PYTHON_3_11

PyObject* FirstLocal(const _PyInterpreterFrame* frame) {
  PyObject* self = frame->localsplus[0];
  if (self && PyCell_Check(self)) self = PyCell_GET(self);
  return self;
}

}  // namespace

size_t CurrentFrames(PyThreadState* thread, Frame* out, const void** places, size_t max) {
  size_t count = 0;
  const _PyInterpreterFrame* frame = thread->cframe ? thread->cframe->current_frame : nullptr;
  for (; frame && count < max; frame = frame->previous) {
    PyCodeObject* code = frame->f_code;
    const int instruction =
        _PyInterpreterFrame_LASTI(frame) * static_cast<int>(sizeof(_Py_CODEUNIT));
    if (instruction < 0) continue;  // being entered
    PyObject* self = IsModuleCode(code) ? FirstLocal(frame) : nullptr;
    places[count] = frame;
    out[count++] = {code, instruction, self ? Py_TYPE(self) : nullptr};
  }
  return count;
}

#else

// The bytes before the instruction that runs, as PyCode_Addr2Line wants them.
int InstructionOf(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#elif PY_VERSION_HEX >= 0x030A0000
  return frame->f_lasti * static_cast<int>(sizeof(_Py_CODEUNIT));
#else
  return frame->f_lasti;
#endif
}

}  // namespace

size_t CurrentFrames(PyThreadState* thread, Frame* out, const void** places, size_t max) {
  size_t count = 0;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyFrameObject* frame = PyThreadState_GetFrame(thread);
  while (frame && count < max) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    PyObject* self = IsModuleCode(code) ? ModuleOf(frame) : nullptr;
    places[count] = frame;
    out[count++] = {code, InstructionOf(frame), self ? Py_TYPE(self) : nullptr};
    Py_DECREF(code);  // the frame keeps it
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  PyGILState_Release(state);
  return count;
}

#endif

void SetModuleCode(PyCodeObject* code) {
  Py_XINCREF(code);
  PyCodeObject* before = module_code.exchange(code);
  Py_XDECREF(before);
}

bool IsModuleCode(const PyCodeObject* code) {
  return code == module_code.load(std::memory_order_relaxed);
}

PyCodeObject* CodeOf(PyFrameObject* frame) {
#if STEPLENS_PYTHON_3_11
  return frame->f_frame->f_code;
#else
  PyCodeObject* code = PyFrame_GetCode(frame);
  Py_DECREF(code);  // the frame keeps it
  return code;
#endif
}

PyObject* ModuleOf(PyFrameObject* frame) {
#if STEPLENS_PYTHON_3_11
  return FirstLocal(frame->f_frame);
#elif PY_VERSION_HEX < 0x030B0000
  PyObject* self = frame->f_localsplus[0];
  return self && PyCell_Check(self) ? PyCell_GET(self) : self;
#else
  PyObject* self = PyFrame_GetVarString(frame, const_cast<char*>("self"));
  if (!self) {
    PyErr_Clear();
    return nullptr;
  }
  Py_DECREF(self);  // the frame keeps it
  return self;
#endif
}

}  // namespace steplens::python
