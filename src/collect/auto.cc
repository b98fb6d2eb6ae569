#include "collect/auto.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "collect/auto_analysis.h"
#include "collect/auto_config.h"
#include "collect/auto_control.h"
#include "collect/capture.h"
#include "collect/thread_state.h"

namespace steplens::collect {
namespace {

enum class Phase {
  kOff,
  kPending,         // nothing happened yet
  kRecording,       // what is wanted
  kUntilFirstStep,  // recording, in case there are no steps
  kWatching,        // for the first wanted step, or for a command
};

// The steps first, ..., end-1, counted from 1; end -1: to the end of the program.
struct Window {
  int64_t first = 1;
  int64_t end = -1;
  bool IsOver(int64_t step) const { return end >= 0 && step >= end; }
};

// On the heap and replaced in the child of a fork, like every lock of ours.
struct Auto {
  std::mutex mutex;  // guards what follows
  AutoConfig config;
  int64_t rank = -1;
  bool rank_is_text = false;
  int64_t steps_begun = 0;
  std::optional<Window> window;        // what is or will be recorded
  std::optional<AutoControl> control;  // if this program can be told what to do
  std::string capture;                 // folder of the present or last capture
  std::vector<pid_t> analyses;         // in the background
  Auto* of_parent = nullptr;           // in the child of a fork; never touched
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
  hot_state.current_generation.compare_exchange_strong(pending, 0);
}

// One line, as a guest speaks: only when something did not go as asked.
void Say(const char* what, const char* detail) {
  std::fprintf(stderr, "steplens: %s%s\n", what, detail);
}

// Nothing is recorded for now: waits for a step or a command, if one can come.
void Watch(const Auto& state) {
  if (!state.window && !state.control) return GiveUp();
  phase.store(Phase::kWatching, std::memory_order_release);
  uint32_t pending = kAutoPending;
  hot_state.current_generation.compare_exchange_strong(pending, 0);
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
    state.capture = folder;
    phase.store(next, std::memory_order_release);
    return;
  }
  Say("nothing is recorded: ", sl_last_error());
  state.window.reset();
  Watch(state);
}

// Makes the result files of the capture that has ended, if they are wanted.
void Analyse(Auto& state) {
  if (state.config.analyse != "sync" && state.config.analyse != "async") return;
  std::string problem;
  const pid_t analysis = StartAnalysis(state.capture, &problem);
  if (analysis < 0) {
    Say("what was recorded is not analysed: ", problem.c_str());
  } else if (state.config.analyse == "sync") {
    WaitForAnalysis(analysis);
  } else {
    state.analyses.push_back(analysis);
  }
}

// Ends the capture and what was wanted of it.
void Stop(Auto& state) {
  state.window.reset();
  Watch(state);
  sl_statistics statistics = {};
  const int result = StopCapture(&statistics);
  if (result == SL_NOT_RUNNING) return;
  if (result != SL_OK) Say("", sl_last_error());
  if (statistics.dropped + statistics.lost_on_write != 0) {
    std::fprintf(stderr, "steplens: %llu records were dropped, %llu could not be written\n",
                 static_cast<unsigned long long>(statistics.dropped),
                 static_cast<unsigned long long>(statistics.lost_on_write));
  }
  Analyse(state);
}

void Report(Auto& state) {
  if (!state.control) return;
  const char* name = phase.load() == Phase::kRecording ? "recording" : "idle";
  if (phase.load() == Phase::kWatching && state.window) name = "armed";
  state.control->Report(std::max<int64_t>(state.steps_begun, 1), name, state.capture);
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

void StopAtExit() {
  Locked([](Auto& state) {
    const Phase now = phase.load();
    if (now == Phase::kRecording || now == Phase::kUntilFirstStep) Stop(state);
    if (now != Phase::kOff && state.control) {
      state.control->Report(state.steps_begun, "ended", state.capture);
    }
    for (const pid_t analysis : state.analyses) WaitForAnalysis(analysis);
    phase.store(Phase::kOff, std::memory_order_release);
  });
}

// There the Python package handles the request.
bool HasPython() { return dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr; }

// Reads the wish. False if this process is not to be recorded, or not by us.
bool ReadWish(Auto& state) {
  if (HasPython()) return false;
  const char* json = std::getenv("STEPLENS_RECORD");
  std::optional<AutoConfig> config = ParseAutoConfig(json != nullptr ? json : "");
  if (!config) {
    Say("nothing is recorded: STEPLENS_RECORD is not a JSON object", "");
    return false;
  }
  state.config = *std::move(config);
  state.rank = RankFromEnvironment(&state.rank_is_text);
  if (!state.config.control_dir.empty())
    state.control.emplace(state.config.control_dir, state.rank);
  if (state.config.wait_for_start) {
    if (!state.control)
      Say("nothing is recorded: there is no control_dir to wait for a command", "");
  } else if (IsRankWanted(state.config, state.rank)) {
    state.window = Window{std::max<int64_t>(state.config.step_start, 1), state.config.step_end};
  }
  return state.window || state.control;
}

// Out of kPending: watching if a step is about to begin and steps matter, else recording.
void Begin(Auto& state, bool at_step) {
  if (!ReadWish(state)) return GiveUp();
  std::atexit(StopAtExit);
  if (!state.window || (at_step && state.config.has_steps)) {
    Watch(state);
  } else {
    Start(state, state.config.has_steps ? Phase::kUntilFirstStep : Phase::kRecording);
  }
  if (!at_step) Report(state);
}

std::string ObeyStop(Auto& state, const AutoCommand& command, int64_t step) {
  if (!state.window) return "nothing was recorded or to be recorded";
  state.window->end = std::max(command.at_step.value_or(step), step);
  return "recording ends before step " + std::to_string(state.window->end);
}

std::string ObeyStart(Auto& state, const AutoCommand& command, int64_t step) {
  const int64_t first = command.at_step.value_or(step);
  if (state.window) return "refused: a recording is running or armed";
  if (first < step) return "too late: step " + std::to_string(step) + " has begun";
  state.window = Window{first, command.steps ? first + *command.steps : -1};
  return "records from step " + std::to_string(first) +
         (command.steps ? " to " + std::to_string(state.window->end - 1) : " on");
}

// Looks for a command before step `step` begins.
void Obey(Auto& state, int64_t step) {
  const std::optional<AutoCommand> command = state.control->Poll();
  if (!command) return;
  if (!command->IsFor(std::max<int64_t>(state.rank, 0))) {
    state.control->Answer(*command, "not for this rank");
  } else {
    state.control->Answer(*command, command->is_stop ? ObeyStop(state, *command, step)
                                                     : ObeyStart(state, *command, step));
  }
}

void StepBegin(Auto& state) {
  if (phase.load() == Phase::kPending) Begin(state, true);
  if (phase.load() == Phase::kOff) return;
  const int64_t step = ++state.steps_begun;
  if (phase.load() == Phase::kUntilFirstStep) {
    DiscardCapture();
    state.capture.clear();
    Watch(state);
  }
  if (state.control) Obey(state, step);
  if (state.window && state.window->IsOver(step)) {
    phase.load() == Phase::kRecording ? Stop(state) : (state.window.reset(), Watch(state));
  }
  if (phase.load() == Phase::kWatching && state.window && step >= state.window->first) {
    Start(state, Phase::kRecording);
  }
  Report(state);
}

}  // namespace

void AutoLoad() {
  const char* json = std::getenv("STEPLENS_RECORD");
  if (json == nullptr || json[0] == '\0') return;
  phase.store(Phase::kPending);
  hot_state.current_generation.store(kAutoPending);
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
  if (phase.load(std::memory_order_acquire) != Phase::kRecording) return;
  Locked([](Auto& state) {
    if (!state.window || !state.window->IsOver(state.steps_begun + 1)) return;
    Stop(state);
    Report(state);
  });
}

bool AutoIsOn() { return phase.load(std::memory_order_relaxed) != Phase::kOff; }

void AutoCancel() {
  if (phase.load(std::memory_order_acquire) == Phase::kOff) return;
  Locked([](Auto& state) {
    const Phase now = phase.load();
    if (now == Phase::kOff || HasPython()) return GiveUp();
    Say("this program records itself; what steplens record asked for is left to it", "");
    if (now == Phase::kUntilFirstStep) {
      DiscardCapture();
      state.capture.clear();
    }
    if (now == Phase::kRecording) Stop(state);
    if (state.control) state.control->Report(state.steps_begun, "ended", state.capture);
    GiveUp();
  });
}

void AutoForgetInChild() {
  phase.store(Phase::kOff);
  auto* state = new Auto;
  state->of_parent = AutoPointer();
  AutoPointer() = state;
}

}  // namespace steplens::collect
