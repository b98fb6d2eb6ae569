// The call stack of an operator as one text. Stacks are a tree: a frame is looked up below the
// frame it was called from, so a stack is a number. While the profile hook tells of every frame
// that is entered and left, only frames that may have changed since the last operator are looked
// at; a stack seen before needs neither allocation nor, on Python 3.11, the interpreter lock.
#ifndef STEPLENS_PYTHON_STACKS_H_
#define STEPLENS_PYTHON_STACKS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

#include "steplens/collect.h"

namespace steplens::python {

// Frames entered and left by a thread since its stack was last asked for.
struct FrameMoves {
  int64_t depth = 0;   // entered minus left
  int64_t lowest = 0;  // what depth was at its lowest
};
extern constinit thread_local FrameMoves frame_moves;

// For the hook, on every call and return of a Python function.
inline void FrameEntered() { ++frame_moves.depth; }
inline void FrameLeft() {
  if (--frame_moves.depth < frame_moves.lowest) frame_moves.lowest = frame_moves.depth;
}

// A new capture begins: what threads remember is void. `hook` is the profile function that calls
// the two above. The lock is held.
void BeginStacks(bool call_stacks, bool modules, Py_tracefunc hook);
// The capture is over: code objects are given back. The lock is held.
void EndStacks();

// The function the adapter calls (slt_stack_function). Frames innermost first, at most 128; modules
// outermost first.
void CurrentStack(sl_string* call_stack, sl_string* modules);

}  // namespace steplens::python

#endif
