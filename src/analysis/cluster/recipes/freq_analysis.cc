#include <map>

#include "analysis/cluster/core_clock.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/step_window.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

// What the reference takes for rated and idle, whatever the chip.
constexpr int64_t kReferenceRatedMhz = 1800;
constexpr int64_t kReferenceIdleMhz = 800;

// A core without work is clocked down to less than half; a core that works is slowed by less.
bool IsIdleClock(int64_t mhz, int64_t rated_mhz) { return mhz * 2 <= rated_mhz; }

using Part = ClockTimes;

class FreqAnalysis : public RecipeOf<Part> {
 public:
  explicit FreqAnalysis(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form) override {
    const int64_t rated_mhz = options_.compat ? kReferenceRatedMhz : RatedMhz();
    table::Table free = MakeTable("FreeFrequencyRanks");
    table::Table abnormal = MakeTable("AbnormalFrequencyRanks");
    for (const auto& [rank, part] : ranks_) {
      const Verdict verdict = Judge(part, rated_mhz);
      if (verdict == Verdict::kFree) AppendRank(free, rank, part, rated_mhz);
      if (verdict == Verdict::kAbnormal) AppendRank(abnormal, rank, part, rated_mhz);
    }
    Answer answer;
    answer.had_input = !ranks_.empty() && !options_.compat;
    answer.tables.push_back({std::move(free), "free_frequency_ranks.csv"});
    answer.tables.push_back({std::move(abnormal), "abnormal_frequency_ranks.csv"});
    AddNotes(answer, rated_mhz);
    answer.suggestion = Message{"suggestion.freq_analysis"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    const StepWindow window = options_.compat ? StepWindow{} : FindStepWindow(rank, options_);
    return MeasureClock(rank, window);
  }

  void AddRank(const RankFacts& facts, Part part) override {
    if (part.all_ns.empty()) {
      ++silent_ranks_;
      return;
    }
    ranks_.emplace_back(facts.rank, std::move(part));
  }

 private:
  enum class Verdict : uint8_t { kNormal, kFree, kAbnormal };

  Verdict Judge(const Part& part, int64_t rated_mhz) const {
    Verdict verdict = Verdict::kNormal;
    for (const auto& [mhz, ns] : part.all_ns) {
      if (mhz == rated_mhz) continue;
      const bool is_idle = options_.compat ? mhz == kReferenceIdleMhz : IsIdleClock(mhz, rated_mhz);
      if (!is_idle) return Verdict::kAbnormal;
      verdict = Verdict::kFree;
    }
    // A rank that was never at the rated clock is no idle one for the reference.
    if (options_.compat && !part.all_ns.contains(rated_mhz)) return Verdict::kAbnormal;
    return verdict;
  }

  // Where the cores of the job spent most time, idle clocks aside; of equals the highest.
  int64_t RatedMhz() const {
    std::map<int64_t, int64_t> ns_at_mhz;
    for (const auto& [rank, part] : ranks_) {
      for (const auto& [mhz, ns] : part.all_ns) ns_at_mhz[mhz] = AddNs(ns_at_mhz[mhz], ns);
    }
    if (ns_at_mhz.empty()) return 0;
    const int64_t highest_mhz = ns_at_mhz.rbegin()->first;
    int64_t rated_mhz = highest_mhz;
    for (const auto& [mhz, ns] : ns_at_mhz) {
      if (!IsIdleClock(mhz, highest_mhz) && ns > ns_at_mhz[rated_mhz]) rated_mhz = mhz;
    }
    return rated_mhz;
  }

  table::Table MakeTable(std::string name) const {
    table::Table table(std::move(name));
    table.AddColumn("rankId", CellType::kInt);
    table.AddColumn("aicoreFrequency", CellType::kText);
    if (options_.compat) return table;
    table.AddColumn("ratedFrequency", CellType::kInt);
    table.AddColumn("timeBelowRated(%)", CellType::kDouble, 2);
    table.AddColumn("computingBelowRated(%)", CellType::kDouble, 2);
    return table;
  }

  // Share of time below the rated frequency.
  static double BelowPercent(const std::map<int64_t, int64_t>& ns_at_mhz, int64_t rated_mhz) {
    double all_ns = 0;
    double below_ns = 0;
    for (const auto& [mhz, ns] : ns_at_mhz) {
      all_ns += static_cast<double>(ns);
      if (mhz < rated_mhz) below_ns += static_cast<double>(ns);
    }
    return all_ns > 0 ? 100 * below_ns / all_ns : 0;
  }

  void AppendRank(table::Table& table, int64_t rank, const Part& part, int64_t rated_mhz) const {
    std::string list;
    for (const auto& [mhz, ns] : part.all_ns)
      list += (list.empty() ? "[" : ", ") + std::to_string(mhz);
    table.AppendInt(0, rank);
    table.AppendText(1, list + "]");
    if (options_.compat) return;
    table.AppendInt(2, rated_mhz);
    table.AppendDouble(3, BelowPercent(part.all_ns, rated_mhz));
    table.AppendDouble(4, BelowPercent(part.computing_ns, rated_mhz));
  }

  void AddNotes(Answer& answer, int64_t rated_mhz) const {
    answer.Note(silent_ranks_, "{ranks} {have} no AI Core frequency recorded.");
    if (!options_.compat && !ranks_.empty()) {
      answer.notes.push_back("The rated frequency is taken to be " + std::to_string(rated_mhz) +
                             " MHz, where the cores spent most time.");
    }
  }

  Options options_;
  std::vector<std::pair<int64_t, Part>> ranks_;  // a few frequencies each
  size_t silent_ranks_ = 0;
};

}  // namespace

RecipeSpec FreqAnalysisRecipe() {
  RecipeSpec spec;
  spec.name = "freq_analysis";
  spec.folder = "FreqAnalysis";
  spec.summary = "Ranks whose AI Core frequency dropped";
  spec.needs.timeline = true;
  spec.make = MakeRecipe<FreqAnalysis>;
  return spec;
}

}  // namespace steplens::analysis::cluster
