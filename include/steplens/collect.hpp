// Recording from C++: a thin layer over collect.h, header only. Link libsteplens_collect.so.
//
//   steplens::Profiler profiler({.directory = "profile", .schedule = steplens::Schedule{.wait = 1, .active = 3}});
//   profiler.Start();
//   for (...) {
//     { steplens::Range range("forward"); ... }
//     profiler.Step();
//   }
//   profiler.Stop();
//
// Nothing throws: a capture that cannot be started is reported once on standard error, and the training goes on.
#ifndef STEPLENS_COLLECT_HPP_
#define STEPLENS_COLLECT_HPP_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "steplens/collect.h"

namespace steplens {

// A text to be used often: interned once, e.g. static const steplens::Text kForward("forward");
class Text {
 public:
  explicit Text(std::string_view text) : id_(sl_intern(text.data(), text.size())) {}
  sl_string id() const { return id_; }

 private:
  sl_string id_;
};

// A range of the calling thread, from here to the end of the block, however it is left.
class Range {
 public:
  explicit Range(const Text& name) { sl_range_begin(name.id()); }
  explicit Range(std::string_view name) { sl_range_begin_text(name.data(), name.size()); }
  ~Range() { sl_range_end(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

enum class Action { kNone, kWarmup, kRecord, kRecordAndSave };

// Which steps are recorded: after skip_first steps, cycles of wait, warm-up and active steps, `repeat` of them (0: on and
// on). skip_first_wait: the first cycle begins behind its wait. Negative numbers count as 0, active below 1 as 1.
struct Schedule {
  int64_t wait = 0;
  int64_t active = 1;
  int64_t warmup = 0;
  int64_t repeat = 0;
  int64_t skip_first = 0;
  int64_t skip_first_wait = 0;

  Action operator()(int64_t step) const {
    const auto positive = [](int64_t value) { return value < 0 ? 0 : value; };
    const int64_t waiting = positive(wait);
    const int64_t warming = positive(warmup);
    const int64_t cycle = waiting + warming + (active < 1 ? 1 : active);
    if (step < positive(skip_first)) return Action::kNone;
    step -= positive(skip_first);
    if (skip_first_wait != 0) step += waiting;
    if (repeat > 0 && step / cycle >= repeat) return Action::kNone;
    const int64_t in_cycle = step % cycle;
    if (in_cycle < waiting) return Action::kNone;
    if (in_cycle < waiting + warming) return Action::kWarmup;
    return in_cycle < cycle - 1 ? Action::kRecord : Action::kRecordAndSave;
  }
};

struct ProfilerOptions {
  std::string directory = ".";  // captures become folders in it
  std::string worker;           // first part of their names; empty: the host
  std::optional<Schedule> schedule;  // none: everything between Start and Stop
  uint32_t host_sources = 0;         // SL_HOST_CPU | ...
  std::string config_json =
      R"({"common_config": {"activities": ["ProfilerActivity.CPU"]}, "experimental_config": {}})";
  std::function<void(const std::string& folder)> on_capture;  // called for each finished capture
};

// Records the steps a schedule names, each cycle into a folder of its own. Used by one thread, the training loop's.
class Profiler {
 public:
  explicit Profiler(ProfilerOptions options) : options_(std::move(options)) {}
  ~Profiler() { Stop(); }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  void Start() {
    if (is_started_) return Warn("the profiler is running already");
    is_started_ = true;
    step_ = 0;
    Enter(ActionOf(step_));
  }

  // At the end of each training step.
  void Step() {
    if (!is_started_) return Warn("Step() without Start()");
    LeaveStep();
    Enter(ActionOf(++step_));
  }

  void Stop() {
    if (!is_started_) return;
    is_started_ = false;
    LeaveStep();
    if (action_ == Action::kWarmup) {
      Warn("stopped during the warm-up; nothing was recorded");
      sl_discard();
    } else if (action_ != Action::kNone) {
      if (options_.schedule) Warn("stopped before the schedule was through; the capture may be incomplete");
      Close(true);
    }
    action_ = Action::kNone;
  }

  // The folder of the running or the last capture.
  const std::string& folder() const { return folder_; }

 private:
  Action ActionOf(int64_t step) const {
    return options_.schedule ? (*options_.schedule)(step) : Action::kRecord;
  }

  static bool IsRecord(Action action) {
    return action == Action::kRecord || action == Action::kRecordAndSave;
  }

  void Enter(Action next) {
    if (action_ == Action::kRecordAndSave) {
      Close(true);
      action_ = Action::kNone;
    }
    if (action_ == Action::kNone && next != Action::kNone) {
      Open(next == Action::kWarmup);
    } else if (action_ == Action::kWarmup && IsRecord(next)) {
      sl_resume();
    } else if (action_ != Action::kNone && !IsRecord(next) && action_ != next) {
      Warn("the schedule ends a cycle too early");
      Close(false);
    }
    action_ = next;
    if (action_ != Action::kNone) {
      sl_step_begin(step_);
      is_in_step_ = true;
    }
  }

  void LeaveStep() {
    if (is_in_step_) sl_step_end();
    is_in_step_ = false;
  }

  void Open(bool paused) {
    char name[512];
    sl_capture_name(name, sizeof(name), options_.worker.c_str());
    folder_ = options_.directory + "/" + name;
    sl_options options = {};
    options.struct_size = sizeof(options);
    options.directory = folder_.c_str();
    options.rank = sl_environment_rank(&options.rank_is_text);
    options.config_json = options_.config_json.c_str();
    options.host_sources = options_.host_sources;
    options.start_paused = paused ? 1 : 0;
    if (sl_start(&options) != SL_OK) Warn(sl_last_error());
  }

  void Close(bool report) {
    sl_statistics statistics = {};
    const int result = sl_stop(&statistics);
    if (result == SL_NOT_RUNNING) return;  // it could not be started, which was said then
    if (result != SL_OK) Warn(sl_last_error());
    if (statistics.dropped + statistics.lost_on_write != 0) {
      Warn(std::to_string(statistics.dropped + statistics.lost_on_write) + " records were lost");
    }
    if (report && options_.on_capture) options_.on_capture(folder_);
  }

  static void Warn(const std::string& text) {
    std::fprintf(stderr, "steplens: %s\n", text.c_str());
  }

  const ProfilerOptions options_;
  std::string folder_;
  Action action_ = Action::kNone;
  int64_t step_ = 0;
  bool is_started_ = false;
  bool is_in_step_ = false;
};

}  // namespace steplens

#endif
