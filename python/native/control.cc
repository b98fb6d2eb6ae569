// Calls made a few times per capture: start, stop and what lies between. Those that may wait for
// the disk release the interpreter lock.
#include <cstring>
#include <ctime>
#include <string>

#include "native.h"

namespace steplens::python {
namespace {

PyObject* Fail(int code) {
  const char* text = sl_last_error();
  if (!text || !*text) {
    text = code == SL_RUNNING       ? "a capture is running already"
           : code == SL_NOT_RUNNING ? "no capture is running"
                                    : "the recorder refused without saying why";
  }
  PyErr_SetString(PyExc_RuntimeError, text);
  return nullptr;
}

// Reads the members of the options dict; after the first failure the rest does nothing.
class Options {
 public:
  explicit Options(PyObject* dict) : dict_(dict) {}
  bool ok() const { return ok_; }

  void Text(const char* key, std::string* out, const char** pointer) {
    PyObject* value = Get(key);
    if (!value) return;
    Py_ssize_t length = 0;
    PyObject* bytes = PyUnicode_Check(value) ? PyUnicode_EncodeFSDefault(value) : nullptr;
    char* text = nullptr;
    if (!bytes || PyBytes_AsStringAndSize(bytes, &text, &length) < 0) {
      Refuse(key, "a str");
    } else if (std::strlen(text) != static_cast<size_t>(length)) {
      Refuse(key, "a str without a null character");
    } else {
      out->assign(text, static_cast<size_t>(length));
      *pointer = out->c_str();
    }
    Py_XDECREF(bytes);
  }

  template <typename Integer>
  void Number(const char* key, Integer* out) {
    PyObject* value = Get(key);
    if (!value) return;
    const long long number = PyLong_AsLongLong(value);
    if (PyErr_Occurred()) {
      Refuse(key, "an int");
    } else {
      *out = static_cast<Integer>(number);
    }
  }

 private:
  // Borrowed; nullptr for a key that is absent or None.
  PyObject* Get(const char* key) {
    if (!ok_) return nullptr;
    PyObject* value = PyDict_GetItemString(dict_, key);
    return value == Py_None ? nullptr : value;
  }
  void Refuse(const char* key, const char* expected) {
    ok_ = false;
    PyErr_Format(PyExc_TypeError, "start: '%s' must be %s", key, expected);
  }

  PyObject* dict_;
  bool ok_ = true;
};

PyObject* Start(PyObject*, PyObject* dict) {
  if (!PyDict_Check(dict)) {
    PyErr_SetString(PyExc_TypeError, "start: expected a dict of options");
    return nullptr;
  }
  sl_options options{};
  options.struct_size = sizeof(options);
  options.rank = -1;
  std::string directory, config, info;
  Options in(dict);
  in.Text("directory", &directory, &options.directory);
  in.Text("config_json", &config, &options.config_json);
  in.Text("info_json", &info, &options.info_json);
  in.Number("rank", &options.rank);
  in.Number("rank_is_text", &options.rank_is_text);
  in.Number("thread_buffer_bytes", &options.thread_buffer_bytes);
  in.Number("total_buffer_bytes", &options.total_buffer_bytes);
  in.Number("flush_period_ms", &options.flush_period_ms);
  in.Number("host_sources", &options.host_sources);
  in.Number("host_period_ms", &options.host_period_ms);
  in.Number("start_paused", &options.start_paused);
  in.Number("mindspore", &options.mindspore);
  if (!in.ok()) return nullptr;
  int code = SL_OK;
  Py_BEGIN_ALLOW_THREADS;
  code = sl_start(&options);
  Py_END_ALLOW_THREADS;
  if (code != SL_OK) return Fail(code);
  Py_RETURN_NONE;
}

PyObject* Stop(PyObject*, PyObject*) {
  sl_statistics statistics{};
  int code = SL_OK;
  Py_BEGIN_ALLOW_THREADS;
  code = sl_stop(&statistics);
  Py_END_ALLOW_THREADS;
  if (code != SL_OK) return Fail(code);
  return Py_BuildValue("{s:K,s:K,s:K,s:K}", "recorded",
                       static_cast<unsigned long long>(statistics.recorded), "dropped",
                       static_cast<unsigned long long>(statistics.dropped), "lost_on_write",
                       static_cast<unsigned long long>(statistics.lost_on_write), "bytes_written",
                       static_cast<unsigned long long>(statistics.bytes_written));
}

PyObject* Call(int (*function)()) {
  int code = SL_OK;
  Py_BEGIN_ALLOW_THREADS;
  code = function();
  Py_END_ALLOW_THREADS;
  if (code != SL_OK) return Fail(code);
  Py_RETURN_NONE;
}

PyObject* Discard(PyObject*, PyObject*) { return Call(sl_discard); }
PyObject* Flush(PyObject*, PyObject*) { return Call(sl_flush); }

PyObject* Pause(PyObject*, PyObject*) {
  sl_pause();
  Py_RETURN_NONE;
}

PyObject* Resume(PyObject*, PyObject*) {
  sl_resume();
  Py_RETURN_NONE;
}

PyObject* Metadata(PyObject*, PyObject* arguments) {
  const char *key = nullptr, *json = nullptr;
  if (!PyArg_ParseTuple(arguments, "ss:metadata", &key, &json)) return nullptr;
  const int code = sl_metadata(key, json);
  if (code != SL_OK) return Fail(code);
  Py_RETURN_NONE;
}

PyObject* ParamInfo(PyObject*, PyObject* arguments) {
  unsigned long long key = 0;
  unsigned int tag = 0;
  const char* text = nullptr;
  Py_ssize_t length = 0;
  if (!PyArg_ParseTuple(arguments, "KIs#:param_info", &key, &tag, &text, &length)) return nullptr;
  sl_param_info(key, static_cast<uint16_t>(tag), text, static_cast<size_t>(length));
  Py_RETURN_NONE;
}

PyObject* MarkFilter(PyObject*, PyObject* arguments) {
  int enabled = 0;
  const char *include = "", *exclude = "";
  if (!PyArg_ParseTuple(arguments, "p|ss:mark_filter", &enabled, &include, &exclude))
    return nullptr;
  sl_mark_filter(enabled, include, exclude);
  Py_RETURN_NONE;
}

PyObject* Now(PyObject*, PyObject*) { return PyLong_FromUnsignedLongLong(sl_now()); }
PyObject* Thread(PyObject*, PyObject*) { return PyLong_FromUnsignedLongLong(sl_thread()); }

// The state of the collection that runs; collections never nest and hold the interpreter lock.
int64_t gc_threshold_ns = 0;
int64_t gc_begin_ns = 0;
sl_ticks gc_begin = 0;

int64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

PyObject* GcThreshold(PyObject*, PyObject* milliseconds) {
  const double value = PyFloat_AsDouble(milliseconds);
  if (PyErr_Occurred()) return nullptr;
  gc_threshold_ns = static_cast<int64_t>(value * 1e6);
  Py_RETURN_NONE;
}

// For gc.callbacks: (phase, info).
PyObject* GcHook(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (!sl_recording() || count < 1 || !PyUnicode_Check(arguments[0])) Py_RETURN_NONE;
  if (PyUnicode_CompareWithASCIIString(arguments[0], "start") == 0) {
    gc_begin_ns = MonotonicNs();
    gc_begin = sl_now();
  } else if (gc_begin != 0) {
    if (MonotonicNs() - gc_begin_ns >= gc_threshold_ns) sl_record_gc(gc_begin, sl_now());
    gc_begin = 0;
  }
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef kControlMethods[] = {
    {"start", Start, METH_O, "start(options): begins a capture; RuntimeError says why it cannot."},
    {"stop", Stop, METH_NOARGS,
     "stop() -> dict: ends the capture and tells what became of its records."},
    {"discard", Discard, METH_NOARGS, "discard(): forgets the capture and removes its folder."},
    {"flush", Flush, METH_NOARGS, "flush(): waits until all recorded so far is in the files."},
    {"pause", Pause, METH_NOARGS, "pause(): events are dropped until resume()."},
    {"resume", Resume, METH_NOARGS, "resume(): events are kept again."},
    {"metadata", Metadata, METH_VARARGS,
     "metadata(key, json): a member of profiler_metadata.json."},
    {"mark_filter", MarkFilter, METH_VARARGS,
     "mark_filter(enabled, include='', exclude=''): which domains of marks are kept."},
    {"param_info", ParamInfo, METH_VARARGS,
     "param_info(key, tag, text): parameters of a module (tag 1) or an optimizer (tag 2)."},
    {"now", Now, METH_NOARGS, "now() -> int: the raw clock."},
    {"thread", Thread, METH_NOARGS, "thread() -> int: the kernel's id of the calling thread."},
    {"gc_threshold", GcThreshold, METH_O,
     "gc_threshold(ms): collections shorter than this are not recorded."},
    {"gc_hook", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(GcHook)), METH_FASTCALL,
     "gc_hook(phase, info): a member for gc.callbacks."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace steplens::python
