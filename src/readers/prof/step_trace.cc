#include "readers/prof/step_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>
#include <tuple>

#include "format/prof/device_records.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;

bool IsMarkTag(uint32_t tag) { return tag == raw::kTagMark || tag == raw::kTagMarkRange; }
bool IsCollective(uint32_t tag) { return tag >= raw::kTagCollective && tag < raw::kTagGetNext; }
bool IsGetNext(uint32_t tag) { return tag >= raw::kTagGetNext && tag < raw::kTagStepStart; }
bool IsStage(uint32_t tag) {
  return tag == raw::kTagModelStart || tag == raw::kTagForwardStart ||
         tag == raw::kTagBackwardEnd || tag == raw::kTagIterationEnd;
}

// Iterations of a pipelined model overlap: puts the marks of each behind each other.
class Reorder {
 public:
  explicit Reorder(std::vector<StepMark>& out) : out_(out) {}

  void Add(const StepMark& mark) {
    if (mark.tag == raw::kTagModelStart) {
      Open(mark);
    } else if (IsStage(mark.tag)) {
      const auto entry = std::find_if(open_.begin(), open_.end(), [&](const Entry& candidate) {
        return candidate.last_stage < mark.tag;
      });
      if (entry == open_.end()) {
        Open(mark);
      } else {
        entry->marks.push_back(mark);
        entry->last_stage = mark.tag;
      }
    } else if (IsCollective(mark.tag) || mark.tag >= raw::kTagStepStart) {
      const auto entry = std::find_if(open_.begin(), open_.end(), [](const Entry& candidate) {
        return candidate.last_stage != raw::kTagIterationEnd;
      });
      if (entry != open_.end()) entry->marks.push_back(mark);
    } else if (IsGetNext(mark.tag)) {
      if (!open_.empty()) open_.back().marks.push_back(mark);
    } else if (mark.tag == raw::kTagModelEnd) {
      if (!open_.empty()) Emit();
      while (!open_.empty() && !open_.front().begins_model) Emit();
      out_.push_back(mark);
    }
  }

  void Finish() {
    while (!open_.empty()) Emit();
  }

 private:
  struct Entry {
    std::vector<StepMark> marks;
    uint32_t last_stage = 0;
    bool begins_model = false;
  };
  void Open(const StepMark& mark) {
    open_.push_back({{mark}, mark.tag, mark.tag == raw::kTagModelStart});
  }
  void Emit() {
    out_.insert(out_.end(), open_.front().marks.begin(), open_.front().marks.end());
    open_.pop_front();
  }

  std::vector<StepMark>& out_;
  std::deque<Entry> open_;
};

// The marks of one model, in order, as iterations.
class IterationBuilder {
 public:
  IterationBuilder(uint64_t model, std::vector<Iteration>& out) : model_(model), out_(out) {}

  void Add(const StepMark& mark) {
    switch (mark.tag) {
      case raw::kTagModelStart:
        if (state_ == State::kStart) Begin(mark.time);
        if (state_ == State::kAfterIteration) step_.begin = mark.time;
        state_ = State::kInside;
        return;
      case raw::kTagIterationEnd:
        if (state_ == State::kStart) return;
        End(mark.time);
        Begin(mark.time);
        state_ = State::kAfterIteration;
        return;
      case raw::kTagModelEnd:
        if (state_ != State::kInside) return;
        End(mark.time);
        state_ = State::kStart;
        return;
      case raw::kTagForwardStart:
        step_.passes.push_back({mark.time, 0});
        return;
      case raw::kTagBackwardEnd:
        if (!step_.passes.empty()) step_.passes.back().end = mark.time;
        return;
      default:
        break;
    }
    if (IsCollective(mark.tag)) AddSpan(mark, step_.collectives);
    if (IsGetNext(mark.tag)) AddSpan(mark, step_.get_nexts);
  }

 private:
  enum class State : uint8_t { kStart, kInside, kAfterIteration };

  static void AddSpan(const StepMark& mark, std::vector<StepSpan>& spans) {
    if (mark.tag % 2 == 0) {
      spans.push_back({mark.time, 0});
    } else if (!spans.empty()) {
      spans.back().end = mark.time;
    }
  }
  void Begin(uint64_t time) {
    step_ = {};
    step_.model = model_;
    step_.begin = time;
  }
  void End(uint64_t time) {
    step_.index = ++index_;
    step_.end = time;
    if (step_.begin != 0 && step_.begin < step_.end) out_.push_back(step_);
  }

  uint64_t model_;
  std::vector<Iteration>& out_;
  State state_ = State::kStart;
  int64_t index_ = 0;
  Iteration step_;
};

}  // namespace

std::vector<Iteration> FindIterations(std::vector<StepMark> marks) {
  std::erase_if(marks, [](const StepMark& mark) { return IsMarkTag(mark.tag); });
  std::stable_sort(marks.begin(), marks.end(), [](const StepMark& a, const StepMark& b) {
    return std::tie(a.model, a.time) < std::tie(b.model, b.time);
  });
  std::vector<Iteration> out;
  for (size_t first = 0; first < marks.size();) {
    size_t last = first;
    while (last < marks.size() && marks[last].model == marks[first].model) ++last;
    std::vector<StepMark> ordered;
    Reorder reorder(ordered);
    std::map<uint64_t, uint64_t> steps;  // steps of single operators: index -> start
    for (size_t i = first; i < last; ++i) {
      if (marks[i].tag == raw::kTagStepStart) {
        steps[marks[i].index] = marks[i].time;
      } else if (marks[i].tag == raw::kTagStepEnd) {
        const auto begin = steps.find(marks[i].index);
        if (begin == steps.end()) continue;
        Iteration step;
        step.model = marks[i].model;
        step.index = static_cast<int64_t>(marks[i].index);
        step.begin = begin->second;
        step.end = marks[i].time;
        out.push_back(step);
      } else {
        reorder.Add(marks[i]);
      }
    }
    reorder.Finish();
    IterationBuilder builder(marks[first].model, out);
    for (const StepMark& mark : ordered) builder.Add(mark);
    first = last;
  }
  return out;
}

void WriteIterations(const std::vector<Iteration>& iterations, int64_t device,
                     const SideClock& clock, TrackBuilder& tracks, store::TraceStore& out) {
  constexpr int64_t kFirstKey = 70000;
  size_t collective_number = 0;
  for (const Iteration& iteration : iterations) {
    const auto model = static_cast<int64_t>(iteration.model & 0xFFFFFFFF);
    const store::TrackId track = tracks.DeviceThread(kAscendHardware, device, kFirstKey + model,
                                                     fmt::format("Step Trace(Model ID:{})", model));
    const auto add = [&](std::string_view category, const std::string& name, uint64_t begin,
                         uint64_t end) {
      store::SliceTable::Row slice;
      slice.track = track;
      slice.begin_ns = clock.DeviceUtc(begin);
      slice.dur_ns = DurationNs(slice.begin_ns, clock.DeviceUtc(end));
      slice.name = out.strings.Intern(name);
      slice.category = out.strings.Intern(category);
      out.slices.Append(slice);
    };
    add("Iteration Time", fmt::format("Iteration {}", iteration.index), iteration.begin,
        iteration.end);
    for (const StepSpan& pass : iteration.passes) {
      if (pass.end == 0) continue;
      add("FP_BP Time", fmt::format("FP_BP Time {}", iteration.index), pass.begin, pass.end);
      add("Iteration Refresh", fmt::format("Iteration Refresh {}", iteration.index), pass.end,
          iteration.end);
    }
    for (const StepSpan& span : iteration.collectives) {
      if (span.end == 0) continue;
      add("Reduce", fmt::format("Reduce_{}_{}", iteration.index, collective_number++), span.begin,
          span.end);
    }
    for (const StepSpan& span : iteration.get_nexts) {
      if (span.end != 0) add("GetNext Time", "GetNext", span.begin, span.end);
    }
  }
}

}  // namespace steplens::readers::prof
