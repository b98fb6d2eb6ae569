// What the files of the extension `_native` share. Everything here is called with the interpreter
// lock held.
#ifndef STEPLENS_PYTHON_NATIVE_H_
#define STEPLENS_PYTHON_NATIVE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "steplens/collect.h"

namespace steplens::python {

// The id of a str's text. A str seen before costs one comparison: the cache keeps it alive, so its
// address stands for its text. Not a str: TypeError is set and 0 returned.
sl_string TextId(PyObject* text);

// Methods of the module that are called a few times per capture (control.cc).
extern PyMethodDef kControlMethods[];

// The type `Range`, a context manager; nullptr with an exception set on failure (range.cc).
PyObject* MakeRangeType();

}  // namespace steplens::python

#endif
