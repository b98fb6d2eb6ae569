// The Python frames of the calling thread, innermost first.
#ifndef STEPLENS_PYTHON_FRAMES_H_
#define STEPLENS_PYTHON_FRAMES_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace steplens::python {

struct Frame {
  PyCodeObject* code;    // alive as long as the frame runs
  int64_t instruction;   // offset of the running instruction in bytes, for PyCode_Addr2Line
  PyTypeObject* module;  // the class of the nn.Module whose call this frame is, else nullptr

  bool operator==(const Frame&) const = default;
};

// The code objects that are calls of modules: `self`, their first argument, is the module. The lock
// is held.
void SetModuleCode(PyCodeObject* code);
bool IsModuleCode(const PyCodeObject* code);

// At most `max` frames of the calling thread, whose state is `thread`; `places` tells one running
// frame from another. May be called without the interpreter lock: a thread's own frames do not
// change while it is busy elsewhere. On Python 3.11 the lock is not taken; on later ones, whose
// frames have no accessible layout, it is.
size_t CurrentFrames(PyThreadState* thread, Frame* out, const void** places, size_t max);

// The code a frame runs; borrowed. The lock is held.
PyCodeObject* CodeOf(PyFrameObject* frame);

// The module a frame of module code was called for; borrowed, nullptr if it cannot be told. The
// lock is held.
PyObject* ModuleOf(PyFrameObject* frame);

}  // namespace steplens::python

#endif
