#pragma once

namespace steplens::collect {

// Recording that the environment asks for (STEPLENS_RECORD, set by `steplens record`), for programs
// that do not start a capture themselves.

// When the library is loaded: looks whether there is such a wish. Cheap.
void AutoLoad();
// The first thing to record happened, or marks were asked for: starts the capture if that is still
// wanted.
void AutoBegin();
// A step begins or ended on the calling thread.
void AutoStepBegin(long long step);
void AutoStepEnd();

}  // namespace steplens::collect
