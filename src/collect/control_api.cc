// The calls of collect.h that start, stop and configure. Memory that runs out becomes SL_NO_MEMORY:
// no exception leaves.
#include <cstdio>
#include <new>

#include "collect/auto.h"
#include "collect/auto_config.h"
#include "collect/capture.h"
#include "collect/marks.h"
#include "collect/thread_state.h"
#include "steplens/collect.h"

namespace steplens::collect {
namespace {

template <typename Call>
int Guarded(Call call) {
  ThreadState* state = StateOfThisThread();
  if (state == nullptr) return SL_NO_MEMORY;
  state->error[0] = '\0';
  try {
    return call();
  } catch (const std::bad_alloc&) {
    SetError("out of memory");
    return SL_NO_MEMORY;
  }
}

int Missing(const char* what) {
  SetError("%s is missing", what);
  return SL_BAD_ARGUMENT;
}

}  // namespace
}  // namespace steplens::collect

using namespace steplens::collect;

extern "C" {

int sl_start(const sl_options* options) {
  AutoCancel();  // who starts a capture itself is not recorded on request of the environment
  return Guarded([&] { return options != nullptr ? StartCapture(*options) : Missing("options"); });
}

void sl_pause(void) {
  RecordOpenRanges();
  PauseCapture(true);
}
void sl_resume(void) { PauseCapture(false); }

int sl_stop(sl_statistics* out) {
  RecordOpenRanges();
  return Guarded([&] { return StopCapture(out); });
}

int sl_discard(void) {
  return Guarded([] { return DiscardCapture(); });
}

int sl_flush(void) {
  return Guarded([] { return FlushCapture(); });
}

const char* sl_last_error(void) {
  const ThreadState* state = StateOfThisThread();
  return state != nullptr ? state->error : "out of memory";
}

size_t sl_capture_name(char* out, size_t size, const char* worker) {
  size_t length = 0;
  Guarded([&] {
    const std::string name = CaptureName(worker != nullptr ? worker : "");
    length = name.size();
    if (out != nullptr && size != 0) std::snprintf(out, size, "%s", name.c_str());
    return int{SL_OK};
  });
  return length;
}

int64_t sl_environment_rank(int* is_text) {
  bool from_rank = false;
  const int64_t rank = RankFromEnvironment(&from_rank);
  if (is_text != nullptr) *is_text = from_rank ? 1 : 0;
  return rank;
}

int sl_metadata(const char* key, const char* json) {
  return Guarded([&] {
    if (key == nullptr || json == nullptr) return Missing("key or value of the metadata");
    return AddMetadata(key, json);
  });
}

void sl_mark_filter(int enabled, const char* include, const char* exclude) {
  Guarded([&] {
    SetMarkFilter(enabled != 0, include, exclude);
    return int{SL_OK};
  });
}

}  // extern "C"
