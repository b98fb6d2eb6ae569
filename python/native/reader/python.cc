#include "reader/python.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/cancel.h"
#include "base/memory_limit.h"

namespace steplens::python {
namespace {

constexpr std::chrono::milliseconds kLookForSignals{50};
PyObject* error_classes = nullptr;  // a tuple, by ErrorCode

Status RunCaught(const std::function<Status()>& work) {
  try {
    return work();
  } catch (const std::exception& failure) {
    if (IsOutOfMemory(failure)) return OutOfMemory();
    return Error{ErrorCode::kInternal, failure.what()};
  }
}

// The end of the work, as the thread that waits for it sees it.
struct Outcome {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  Status status{};
};

}  // namespace

PyObject* ToPython(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

PyObject* Raise(const Error& error) {
  const auto code = static_cast<Py_ssize_t>(error.code);
  PyObject* type = error_classes != nullptr && code < PyTuple_Size(error_classes)
                       ? PyTuple_GetItem(error_classes, code)
                       : PyExc_RuntimeError;
  const Ref message(ToPython(error.message));
  if (message) PyErr_SetObject(type, message.get());
  return nullptr;
}

PyObject* SetErrors(PyObject*, PyObject* classes) {
  if (!PyTuple_Check(classes)) {
    PyErr_SetString(PyExc_TypeError, "a tuple of exception classes was expected");
    return nullptr;
  }
  Py_INCREF(classes);
  Py_XDECREF(error_classes);
  error_classes = classes;
  Py_RETURN_NONE;
}

bool RunReleased(const std::function<Status()>& work) {
  Outcome outcome;
  std::atomic<bool> is_unwanted = false;
  std::thread worker;
  try {
    worker = std::thread([&] {
      const CancelScope scope([&] { return is_unwanted.load(); });
      Status status = RunCaught(work);
      const std::lock_guard lock(outcome.mutex);
      outcome.status = std::move(status);
      outcome.is_done = true;
      outcome.changed.notify_one();
    });
  } catch (const std::system_error&) {
    Raise(OutOfMemory());
    return false;
  }
  bool is_interrupted = false;
  PyThreadState* state = PyEval_SaveThread();
  while (true) {
    {
      std::unique_lock lock(outcome.mutex);
      if (outcome.changed.wait_for(lock, kLookForSignals, [&] { return outcome.is_done; })) break;
    }
    if (is_interrupted) continue;
    PyEval_RestoreThread(state);
    is_interrupted = PyErr_CheckSignals() != 0;
    is_unwanted = is_interrupted;
    state = PyEval_SaveThread();
  }
  worker.join();
  PyEval_RestoreThread(state);
  if (is_interrupted) return false;
  if (outcome.status.ok()) return true;
  Raise(outcome.status.error());
  return false;
}

}  // namespace steplens::python
