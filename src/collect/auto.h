#pragma once

namespace steplens::collect {

// Recording that the environment asks for (STEPLENS_RECORD, set by `steplens record`), for native
// programs that do not start a capture themselves. Python programs are recorded by the Python
// package, which reads the same variable.
//
// Steps are the calls of sl_step_begin, counted from 1. What happens before the first one is
// recorded, too, because nobody knows yet whether there will be steps; when one comes, and a range
// of steps was asked for, that part is thrown away. With a control_dir commands are looked for when
// a step begins (auto_control.h): any number of ranges can be recorded, one after the other.

// When the library is loaded: looks whether there is such a wish. Cheap.
void AutoLoad();
// The first thing to record happened: starts the capture if that is still wanted.
void AutoBegin();
// A step begins or has ended.
void AutoStepBegin();
void AutoStepEnd();
// Whether steps matter: something is, or may still be, recorded on request.
bool AutoIsOn();
// The program starts a capture itself: what is being recorded on request ends and is kept.
void AutoCancel();
// In the child of a fork: it is not recorded.
void AutoForgetInChild();

}  // namespace steplens::collect
