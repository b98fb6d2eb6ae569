#include "collect/library.h"

#include <pthread.h>

#include "collect/auto.h"
#include "collect/capture.h"
#include "collect/marks.h"
#include "collect/thread_state.h"

namespace steplens::collect {
namespace {

constexpr size_t kMaxTexts = 256 << 20;  // bytes of all texts together

void BeforeFork() {
  LockDomains();
  TheLibrary().strings.LockAll();
  TheLibrary().rings.LockForFork();
  TheLibrary().side.LockForFork();
}

void InParent() {
  TheLibrary().side.UnlockInParent();
  TheLibrary().rings.UnlockInParent();
  TheLibrary().strings.UnlockAll();
  UnlockDomains();
}

// The child has one thread and no writer: it records nothing, and the parent's files are not its
// own. It may start a capture of its own.
void InChild() {
  SetRecordedGeneration(0);
  hot_state.current_generation.store(0, std::memory_order_relaxed);
  ForgetRingInChild();
  ForgetCaptureInChild();
  AutoForgetInChild();
  TheLibrary().side.ResetInChild();
  TheLibrary().rings.ResetInChild();
  TheLibrary().strings.UnlockAll();
  UnlockDomains();
}

// The only work at load time: the clock must be known before the first call, and the first fork may
// come at any moment.
__attribute__((constructor)) void Load() {
  DetectClock();
  TheLibrary();
  pthread_atfork(BeforeFork, InParent, InChild);
  AutoLoad();
}

}  // namespace

Library::Library() : strings(kMaxTexts), loaded(SampleClocks()) {}

Library& TheLibrary() {
  static Library* const library = new Library;
  return *library;
}

}  // namespace steplens::collect
