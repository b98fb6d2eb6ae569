// What no recorder of operators and Python calls can do without: callbacks that do nothing, so that
// bench/python_record.py can tell the framework's part of the time added from ours. Loaded with
// ctypes.
#include <ATen/record_function.h>

#include <memory>

namespace {

using Scope = at::RecordScope;

at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;

std::unique_ptr<at::ObserverContext> NothingAtStart(const at::RecordFunction&) { return nullptr; }
void NothingAtEnd(const at::RecordFunction&, at::ObserverContext*) {}

}  // namespace

extern "C" {

// Needs and scopes as src/torch_adapter/operators.cc asks for them.
__attribute__((visibility("default"))) void floor_begin(int needs_inputs) {
  handle = at::addGlobalCallback(at::RecordFunctionCallback(&NothingAtStart, &NothingAtEnd)
                                     .needsInputs(needs_inputs != 0)
                                     .scopes({Scope::FUNCTION, Scope::BACKWARD_FUNCTION,
                                              Scope::TORCHSCRIPT_FUNCTION, Scope::USER_SCOPE}));
}

__attribute__((visibility("default"))) void floor_end() { at::removeCallback(handle); }

// A profile function of the interpreter (Py_tracefunc).
__attribute__((visibility("default"))) int floor_profile(void*, void*, int, void*) { return 0; }

}  // extern "C"
