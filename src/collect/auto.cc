#include "collect/auto.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include "collect/auto_config.h"
#include "collect/capture.h"
#include "collect/thread_state.h"

namespace steplens::collect {
namespace {

enum class Phase {
  kOff,
  kPending,         // nothing happened yet
  kWhole,           // recording everything
  kUntilFirstStep,  // recording, in case there are no steps
  kWaiting,         // for the first step of the range
  kSteps,           // recording the range
};

// On the heap and replaced in the child of a fork, like every lock of ours.
struct Auto {
  std::mutex mutex;  // guards what follows
  AutoConfig config;
  int64_t rank = -1;
  bool rank_is_text = false;
  int64_t steps_begun = 0;
  Auto* of_parent = nullptr;  // in the child of a fork; never touched
};

// Read without the lock to see that there is nothing to do, which is nearly always so.
std::atomic<Phase> phase{Phase::kOff};

Auto*& AutoPointer() {
  static Auto* state = new Auto;
  return state;
}

void GiveUp() {
  phase.store(Phase::kOff, std::memory_order_release);
  uint32_t pending = kAutoPending;
  current_generation.compare_exchange_strong(pending, 0);
}

// One line, as a guest speaks: only when something did not go as asked.
void Say(const char* what, const char* detail) {
  std::fprintf(stderr, "steplens: %s%s\n", what, detail);
}

void Start(Auto& state, Phase next) {
  const std::string folder = state.config.save_path + "/" + CaptureName("");
  const std::string config_json = ConfigJson(state.config);
  sl_options options = {};
  options.struct_size = sizeof(options);
  options.directory = folder.c_str();
  options.rank = state.rank;
  options.rank_is_text = state.rank_is_text ? 1 : 0;
  options.config_json = config_json.c_str();
  options.host_sources = state.config.host_sources;
  if (StartCapture(options) == SL_OK) {
    phase.store(next, std::memory_order_release);
    return;
  }
  Say("nothing is recorded: ", sl_last_error());
  GiveUp();
}

void Stop() {
  phase.store(Phase::kOff, std::memory_order_release);
  sl_statistics statistics = {};
  const int result = StopCapture(&statistics);
  if (result == SL_NOT_RUNNING) return;
  if (result != SL_OK) Say("", sl_last_error());
  if (statistics.dropped + statistics.lost_on_write == 0) return;
  std::fprintf(stderr, "steplens: %llu records were dropped, %llu could not be written\n",
               static_cast<unsigned long long>(statistics.dropped),
               static_cast<unsigned long long>(statistics.lost_on_write));
}

void StopAtExit() {
  const Phase now = phase.load(std::memory_order_acquire);
  if (now != Phase::kOff && now != Phase::kPending && now != Phase::kWaiting) Stop();
}

// Reads the wish. False if this process is not to be recorded, or not by us.
bool ReadWish(Auto& state) {
  if (dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr) return false;
  const char* json = std::getenv("STEPLENS_RECORD");
  std::optional<AutoConfig> config = ParseAutoConfig(json != nullptr ? json : "");
  if (!config) {
    Say("nothing is recorded: STEPLENS_RECORD is not a JSON object", "");
    return false;
  }
  state.config = *std::move(config);
  state.rank = RankFromEnvironment(&state.rank_is_text);
  if (state.config.wait_for_start) {
    Say("nothing is recorded: a native program cannot be told to start later", "");
    return false;
  }
  return IsRankWanted(state.config, state.rank);
}

// Out of kPending: kWaiting if a step is about to begin and steps matter, else recording.
void Begin(Auto& state, bool at_step) {
  if (!ReadWish(state)) return GiveUp();
  std::atexit(StopAtExit);
  if (!state.config.has_steps) return Start(state, Phase::kWhole);
  if (!at_step) return Start(state, Phase::kUntilFirstStep);
  phase.store(Phase::kWaiting, std::memory_order_release);
  uint32_t pending = kAutoPending;
  current_generation.compare_exchange_strong(pending, 0);
}

bool IsBehindLastStep(const Auto& state, int64_t step) {
  return state.config.step_end >= 0 && step >= state.config.step_end;
}

void StepBegin(Auto& state) {
  if (phase.load() == Phase::kPending) Begin(state, true);
  const int64_t step = ++state.steps_begun;
  if (phase.load() == Phase::kUntilFirstStep) {
    DiscardCapture();
    phase.store(Phase::kWaiting, std::memory_order_release);
  }
  if (phase.load() == Phase::kWaiting && IsBehindLastStep(state, step)) return GiveUp();
  if (phase.load() == Phase::kWaiting && step >= state.config.step_start) {
    Start(state, Phase::kSteps);
  }
}

template <typename Call>
void Locked(Call call) {
  try {
    Auto& state = *AutoPointer();
    const std::lock_guard lock(state.mutex);
    call(state);
  } catch (const std::bad_alloc&) {
    GiveUp();
  }
}

}  // namespace

void AutoLoad() {
  const char* json = std::getenv("STEPLENS_RECORD");
  if (json == nullptr || json[0] == '\0') return;
  phase.store(Phase::kPending);
  current_generation.store(kAutoPending);
}

void AutoBegin() {
  Locked([](Auto& state) {
    if (phase.load() == Phase::kPending) Begin(state, false);
  });
}

void AutoStepBegin() {
  if (phase.load(std::memory_order_acquire) == Phase::kOff) return;
  Locked([](Auto& state) { StepBegin(state); });
}

void AutoStepEnd() {
  if (phase.load(std::memory_order_acquire) != Phase::kSteps) return;
  Locked([](Auto& state) {
    if (IsBehindLastStep(state, state.steps_begun + 1)) Stop();
  });
}

void AutoCancel() {
  Phase pending = Phase::kPending;
  if (phase.compare_exchange_strong(pending, Phase::kOff)) GiveUp();
}

void AutoForgetInChild() {
  phase.store(Phase::kOff);
  auto* state = new Auto;
  state->of_parent = AutoPointer();
  AutoPointer() = state;
}

}  // namespace steplens::collect
