// The call stack of an operator as one text, looked up by its frames: a stack seen before costs a
// walk over the frames and one comparison, and neither allocation nor, on Python 3.11, the
// interpreter lock.
#ifndef STEPLENS_PYTHON_STACKS_H_
#define STEPLENS_PYTHON_STACKS_H_

#include "steplens/collect.h"

namespace steplens::python {

// A new capture begins: what threads remember is void. The lock is held.
void BeginStacks(bool call_stacks, bool modules);
// The capture is over: code objects are given back. The lock is held.
void EndStacks();

// The function the adapter calls (slt_stack_function). Frames innermost first, at most 128; modules
// outermost first.
void CurrentStack(sl_string* call_stack, sl_string* modules);

}  // namespace steplens::python

#endif
