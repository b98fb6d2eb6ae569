#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "analysis/classify/classify.h"
#include "analysis/classify/text_memo.h"
#include "analysis/cluster/recipes/dual_pipe.h"
#include "analysis/cluster/recipes/host_calls.h"
#include "analysis/cluster/recipes/marked_comm_ops.h"
#include "analysis/cluster/recipes/p2p_pairs.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/step_window.h"
#include "analysis/time_math.h"
#include "base/json.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using store::TraceStore;
using table::CellType;

// A forward or backward pass on the device.
struct Event {
  int64_t step = 0;  // 0 outside all steps
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  bool is_forward = false;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(step, begin_ns, end_ns, is_forward);
  }
};

struct Part {
  std::vector<Event> events;  // in order of start
  P2POps p2p;
  std::vector<MarkedCommOp> marked_ops;
  std::string distributed_args;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(events, p2p, marked_ops, distributed_args);
  }
};

bool ContainsInAnyCase(std::string_view text, std::string_view lower_word) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(text.begin(), text.end(), lower_word.begin(), lower_word.end(), same) !=
         text.end();
}

bool IsForward(std::string_view message) { return ContainsInAnyCase(message, "forward"); }
bool IsPass(std::string_view message) {
  return IsForward(message) || ContainsInAnyCase(message, "backward") ||
         ContainsInAnyCase(message, "weightgradstore_pop");
}

// The device tasks of the marks that name a pass.
std::vector<Event> FindEvents(const TraceStore& rank, const Options& options) {
  const StepWindow window = FindStepWindow(rank, options);
  const HostCalls host(rank);
  TextMemo is_pass(rank, IsPass);
  std::map<int64_t, Event> marks;  // by connection
  for (size_t i = 0; i < rank.markers.size(); ++i) {
    const auto slice = static_cast<size_t>(rank.markers.slice[i]);
    if (slice >= rank.slices.size() || rank.markers.correlation[i] == kNone) continue;
    const int64_t mark_ns = rank.slices.begin_ns[slice];
    if (!is_pass(rank.slices.name[slice]) || !window.Contains(mark_ns)) continue;
    Event& mark = marks[rank.markers.correlation[i]];
    mark.step = std::max<int64_t>(0, host.StepAt(mark_ns).value_or(0));
    mark.is_forward = IsForward(rank.Text(rank.slices.name[slice]));
  }
  std::vector<Event> events;
  const std::vector<TrackKind> tracks = ClassifyTracks(rank);
  const store::SliceTable& slices = rank.slices;
  for (size_t i = 0; i < slices.size() && !marks.empty(); ++i) {
    const auto track = static_cast<size_t>(slices.track[i]);
    if (track >= tracks.size() || tracks[track] != TrackKind::kDevice) continue;
    const auto mark = marks.find(slices.correlation[i]);
    if (mark == marks.end()) continue;
    Event& event = events.emplace_back(mark->second);
    event.begin_ns = slices.begin_ns[i];
    event.end_ns = EndNs(slices.begin_ns[i], slices.dur_ns[i]);
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.begin_ns < b.begin_ns; });
  return events;
}

// The capture's own word on the layout, which comes after that of the metadata file beside it.
std::string FindDistributedArgs(const TraceStore& rank) {
  std::string args;
  for (size_t i = 0; i < rank.meta.size(); ++i) {
    if (rank.Text(rank.meta.name[i]) == "distributed_args") args = rank.Text(rank.meta.value[i]);
  }
  return args;
}

// Of events that overlap, the first.
std::vector<Event> Thinned(const std::vector<Event>& events) {
  std::vector<Event> kept;
  for (const Event& event : events) {
    if (kept.empty() || event.begin_ns >= kept.back().end_ns) kept.push_back(event);
  }
  return kept;
}

// How the job divides into stages, from the first rank's metadata.
struct Pipeline {
  int64_t stages = 1;
  int64_t ranks_per_stage = 1;
  int64_t micro_batches = 0;
};

class PpChart : public RecipeOf<Part> {
 public:
  explicit PpChart(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form) override {
    Answer answer;
    answer.edits = std::move(edits_);
    const std::optional<Pipeline> dual_pipe = ReadDualPipeV(answer);
    table::Table all("StepTaskInfo");
    all.AddColumn("rank", CellType::kInt);
    AddColumns(all);
    for (const Rank& rank : ranks_) {
      if (rank.events.empty()) continue;
      const std::vector<Event> events = dual_pipe ? Thinned(rank.events) : rank.events;
      const std::vector<PipelineTask> names =
          dual_pipe ? DualPipeNames(*dual_pipe, rank.rank, events) : PassNames(events);
      RankEdit edit{rank.rank, RankEdit::Kind::kTable, table::Table("StepTaskInfo")};
      AddColumns(edit.table);
      for (size_t i = 0; i < events.size(); ++i) {
        all.AppendInt(0, rank.rank);
        AppendRow(all, 1, names[i], events[i]);
        AppendRow(edit.table, 0, names[i], events[i]);
      }
      answer.edits.push_back(std::move(edit));
    }
    AddNotes(answer);
    answer.tables.push_back(
        {std::move(all), "step_task_info.csv", {"rank", "name", "startNs", "endNs", "type"}});
    answer.suggestion = Message{"suggestion.pp_chart"};
    return answer;
  }

 protected:
  Part MapRank(const TraceStore& rank) const override {
    return {FindEvents(rank, options_), FindP2POps(rank, options_),
            FindMarkedCommOps(rank, options_), FindDistributedArgs(rank)};
  }

  void AddRank(const RankFacts& facts, Part part) override {
    if (ranks_.empty()) {
      pp_info_ = facts.pp_info;
      distributed_args_ = part.distributed_args;
    }
    without_events_ += part.events.empty() ? 1 : 0;
    ranks_.push_back({facts.rank, std::move(part.events)});
    if (!part.marked_ops.empty()) edits_.push_back(CommOpEdit(facts.rank, part.marked_ops));
    const std::vector<P2PPair> pairs = PairP2POps(facts, std::move(part.p2p.ops), options_.compat);
    if (!pairs.empty()) edits_.push_back(P2PEdit(facts.rank, pairs));
  }

 private:
  struct Rank {
    int64_t rank = 0;
    std::vector<Event> events;
  };

  static void AddColumns(table::Table& table) {
    table.AddColumn("name", CellType::kText);
    for (const char* name : {"startNs", "endNs", "type"}) table.AddColumn(name, CellType::kInt);
  }
  static void AppendRow(table::Table& table, size_t first, const PipelineTask& task,
                        const Event& event) {
    table.AppendText(first, task.name);
    table.AppendInt(first + 1, event.begin_ns);
    table.AppendInt(first + 2, event.end_ns);
    table.AppendInt(first + 3, task.type);
  }

  // Nothing if the job runs another schedule or its metadata makes no sense, which is noted.
  std::optional<Pipeline> ReadDualPipeV(Answer& answer) const {
    const Result<JsonDocument> info = JsonDocument::Parse(pp_info_, "pp_info");
    if (pp_info_.empty() || !info.ok()) return std::nullopt;
    if (!ContainsInAnyCase(info->root()["pp_type"].AsString().value_or(""), "dualpipev"))
      return std::nullopt;
    std::string problem;
    const std::optional<ParallelLayout> layout = ParseLayout(distributed_args_, problem);
    if (!layout) {
      answer.notes.push_back("DualPipeV passes keep their plain names: " + problem);
      return std::nullopt;
    }
    Pipeline pipeline{layout->pp, layout->tp * layout->cp * layout->dp,
                      info->root()["microbatch_num"].AsInt().value_or(0)};
    if (pipeline.micro_batches / 2 < pipeline.stages) {
      answer.notes.push_back(fmt::format(
          "DualPipeV passes keep their plain names: {} micro batches are fewer than twice the {} "
          "stages",
          pipeline.micro_batches, pipeline.stages));
      return std::nullopt;
    }
    return pipeline;
  }

  static std::vector<PipelineTask> PassNames(const std::vector<Event>& events) {
    std::vector<PipelineTask> names;
    for (const Event& event : events)
      names.push_back(event.is_forward ? PipelineTask{"FP", 0} : PipelineTask{"BP", 1});
    return names;
  }

  // The events of a step are the entries of the schedule, one by one; without names where their
  // numbers differ.
  std::vector<PipelineTask> DualPipeNames(const Pipeline& pipeline, int64_t rank,
                                          const std::vector<Event>& events) {
    const int64_t stage = rank / pipeline.ranks_per_stage;
    std::vector<PipelineTask> schedule;
    // It has an entry a pass, and more: no schedule of more than there are is worked out.
    if (stage < pipeline.stages && pipeline.micro_batches <= static_cast<int64_t>(events.size()))
      schedule = DualPipeVSchedule(stage, pipeline.stages, pipeline.micro_batches);
    std::map<int64_t, std::vector<size_t>> by_step;
    for (size_t i = 0; i < events.size(); ++i) by_step[events[i].step].push_back(i);
    std::vector<PipelineTask> names(events.size());
    for (const auto& [step, rows] : by_step) {
      if (rows.size() != schedule.size()) {
        ++mismatched_;
        continue;
      }
      for (size_t i = 0; i < rows.size(); ++i) names[rows[i]] = schedule[i];
    }
    return names;
  }

  void AddNotes(Answer& answer) const {
    answer.Note(without_events_,
                "{ranks} {have} no marks of forward and backward passes with a task on "
                "the device");
    answer.Note(mismatched_,
                "{steps} {have} another number of passes than the DualPipeV schedule; "
                "{their} rows have no names");
  }

  Options options_;
  std::string pp_info_;           // of the first rank
  std::string distributed_args_;  // likewise
  std::vector<Rank> ranks_;
  std::vector<RankEdit> edits_;
  size_t without_events_ = 0;
  size_t mismatched_ = 0;
};

}  // namespace

RecipeSpec PpChartRecipe() {
  RecipeSpec spec;
  spec.name = "pp_chart";
  spec.folder = "PPChart";
  spec.summary = "Forward and backward passes of pipeline stages, for a chart";
  spec.needs.timeline = true;
  spec.make = MakeRecipe<PpChart>;
  return spec;
}

}  // namespace steplens::analysis::cluster
