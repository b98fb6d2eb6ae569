#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/classify/classify.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/rounding.h"
#include "analysis/cluster/recipes/stats_table.h"
#include "analysis/cluster/step_window.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

using table::CellType;

// An API of one layer. The reference does not tell layers apart: there the level is empty.
struct Api {
  std::string name;
  std::string level;
  auto operator<=>(const Api&) const = default;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, level);
  }
};

struct Part {
  std::map<Api, Spread> apis;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(apis);
  }
};

// The ranks that share the smallest or largest value.
struct Holders {
  int64_t value_ns = 0;
  std::vector<int64_t> ranks;

  void Offer(int64_t offered_ns, int64_t rank, bool is_better) {
    if (is_better || ranks.empty()) {
      ranks.clear();
      value_ns = offered_ns;
    }
    if (offered_ns == value_ns) ranks.push_back(rank);
  }
  std::string ToText() const {
    std::string text;
    for (const int64_t rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
    return text;
  }
};

// What a table says of one API.
struct Numbers {
  int64_t count = 0;
  int64_t total_ns = 0;
  double average_ns = 0;
  double q1_ns = 0;
  double median_ns = 0;
  double q3_ns = 0;
  double stdev_ns = 0;
};

Numbers Measure(const Spread& spread) {
  return {
      spread.count(),       spread.sum_ns(),       spread.mean_ns(),          spread.Quantile(0.25),
      spread.Quantile(0.5), spread.Quantile(0.75), spread.population_std_ns()};
}

// The reference rounds the numbers of a rank in SQL, those of all ranks in pandas.
void RoundOff(Numbers& numbers, double (*round)(double value, int decimals)) {
  for (double* value :
       {&numbers.average_ns, &numbers.q1_ns, &numbers.median_ns, &numbers.q3_ns, &numbers.stdev_ns})
    *value = round(*value, 1);
}

void AddTo(int64_t& total_ns, int64_t ns) { total_ns = AddNs(total_ns, ns); }

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The reference's merge of ranks: extremes and the median of their quartiles, and a standard
// deviation that takes those of the ranks (of the population) for those of samples.
Numbers PoolRanks(const std::vector<Numbers>& ranks) {
  Numbers pooled = ranks.front();
  pooled.count = pooled.total_ns = 0;
  std::vector<double> medians_ns;
  for (const Numbers& rank : ranks) {
    pooled.count += rank.count;
    AddTo(pooled.total_ns, rank.total_ns);
    pooled.q1_ns = std::min(pooled.q1_ns, rank.q1_ns);
    pooled.q3_ns = std::max(pooled.q3_ns, rank.q3_ns);
    medians_ns.push_back(rank.median_ns);
  }
  const auto count = static_cast<double>(pooled.count);
  pooled.average_ns = static_cast<double>(pooled.total_ns) / count;
  pooled.median_ns = Median(std::move(medians_ns));
  if (ranks.size() == 1) return pooled;
  double squares = 0;
  for (const Numbers& rank : ranks) {
    const auto n = static_cast<double>(rank.count);
    const double offset_ns = rank.average_ns - pooled.average_ns;
    squares += (n - 1) * rank.stdev_ns * rank.stdev_ns + n * offset_ns * offset_ns;
  }
  pooled.stdev_ns = std::sqrt(squares / (count - 1));
  return pooled;
}

class CannApiSum : public RecipeOf<Part> {
 public:
  explicit CannApiSum(const Options& options) : options_(options) {
    per_rank_.AddColumn("name", CellType::kText);
    per_rank_.AddColumn("durationRatio", CellType::kDouble, 2);
    per_rank_.AddColumn("totalTimeNs", CellType::kInt);
    per_rank_.AddColumn("totalCount", CellType::kInt);
    for (const char* name : {"averageNs", "minNs", "Q1Ns", "medNs", "Q3Ns", "maxNs", "stdev"})
      per_rank_.AddColumn(name, CellType::kDouble, 1);
    per_rank_.AddColumn("rank", CellType::kInt);
    if (!options_.compat) per_rank_.AddColumn("apiType", CellType::kText);
  }

  Result<Answer> Finish(Form) override {
    Answer answer;
    answer.tables.push_back({AllRanks(), "all_stats.csv"});
    answer.tables.push_back({std::move(per_rank_), "rank_stats.csv"});
    answer.Note(silent_ranks_, "{ranks} recorded no API call in the time looked at.");
    answer.suggestion = Message{"suggestion.cann_api_sum"};
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    const StepWindow window = FindStepWindow(rank, options_);
    const std::vector<TrackKind> tracks = ClassifyTracks(rank);
    const SliceKinds kinds(rank);
    const store::SliceTable& slices = rank.slices;
    std::map<std::pair<StringId, SliceKind>, Spread> by_name;
    for (size_t i = 0; i < slices.size(); ++i) {
      const auto track = static_cast<size_t>(slices.track[i]);
      const SliceKind kind = kinds[slices.category[i]];
      const bool is_cann = track < tracks.size() && tracks[track] == TrackKind::kCann;
      if (!is_cann && !IsGpuApi(kind)) continue;
      if (window.Contains(slices.begin_ns[i]))
        by_name[{slices.name[i], kind}].Add(slices.dur_ns[i], rank.info.rank);
    }
    Part part;
    for (const auto& [name, spread] : by_name)
      part.apis[ApiOf(rank.Text(name.first), name.second)].Merge(spread);
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    if (part.apis.empty()) ++silent_ranks_;
    std::map<std::string, int64_t> level_ns;
    for (const auto& [api, spread] : part.apis) AddTo(level_ns[api.level], spread.sum_ns());
    for (const auto* api : BySum(part.apis)) {
      AppendRank(facts.rank, api->first, api->second, level_ns[api->first.level]);
      Whole& whole = apis_[api->first];
      whole.spread.Merge(api->second);
      Offer(whole, api->second, facts.rank);
    }
  }

 private:
  struct Whole {
    Spread spread;
    std::vector<Numbers> ranks;  // compat only
    Holders min;
    Holders max;
  };

  Api ApiOf(std::string_view slice_name, SliceKind kind) const {
    Api api{std::string(slice_name), ""};
    if (const auto cann = ParseCannApi(slice_name)) {
      api = {std::string(cann->name), std::string(cann->level)};
    } else if (IsGpuApi(kind)) {
      api.level = kind == SliceKind::kDriver ? "driver" : "runtime";
    }
    if (options_.compat) api.level.clear();
    return api;
  }

  void Offer(Whole& whole, const Spread& spread, int64_t rank) const {
    whole.min.Offer(spread.min_ns(), rank, spread.min_ns() < whole.min.value_ns);
    whole.max.Offer(spread.max_ns(), rank, spread.max_ns() > whole.max.value_ns);
    if (!options_.compat) return;
    whole.ranks.push_back(Measure(spread));
    RoundOff(whole.ranks.back(), SqliteRound);
  }

  static double Percent(int64_t part_ns, int64_t whole_ns) {
    if (whole_ns == 0) return 0;
    return 100 * static_cast<double>(part_ns) / static_cast<double>(whole_ns);
  }

  void AppendRank(int64_t rank, const Api& api, const Spread& spread, int64_t level_ns) {
    Numbers numbers = Measure(spread);
    double ratio = Percent(spread.sum_ns(), level_ns);
    if (options_.compat) {
      RoundOff(numbers, SqliteRound);
      ratio = SqliteRound(ratio, 2);
    }
    size_t column = 0;
    per_rank_.AppendText(column++, api.name);
    per_rank_.AppendDouble(column++, ratio);
    per_rank_.AppendInt(column++, numbers.total_ns);
    per_rank_.AppendInt(column++, numbers.count);
    for (const double value :
         {numbers.average_ns, static_cast<double>(spread.min_ns()), numbers.q1_ns,
          numbers.median_ns, numbers.q3_ns, static_cast<double>(spread.max_ns()), numbers.stdev_ns})
      per_rank_.AppendDouble(column++, value);
    per_rank_.AppendInt(column++, rank);
    if (!options_.compat) per_rank_.AppendText(column, api.level);
  }

  table::Table AllRanks() const {
    std::map<std::string, int64_t> level_ns;
    std::vector<const std::pair<const Api, Whole>*> order;
    for (const auto& api : apis_) {
      AddTo(level_ns[api.first.level], api.second.spread.sum_ns());
      order.push_back(&api);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return a->second.spread.sum_ns() > b->second.spread.sum_ns();
    });
    table::Table table("CannApiSum");
    table.AddColumn("name", CellType::kText);
    table.AddColumn("timeRatio", CellType::kDouble, 2);
    table.AddColumn("totalTimeNs", CellType::kInt);
    table.AddColumn("totalCount", CellType::kInt);
    for (const char* name : {"averageNs", "Q1Ns", "medNs", "Q3Ns", "minNs", "maxNs", "stdev"})
      table.AddColumn(name, CellType::kDouble, 1);
    for (const char* name : {"minRank", "maxRank"}) table.AddColumn(name, CellType::kText);
    if (!options_.compat) table.AddColumn("apiType", CellType::kText);
    for (const auto* api : order)
      AppendWhole(table, api->first, api->second, level_ns[api->first.level]);
    return table;
  }

  void AppendWhole(table::Table& table, const Api& api, const Whole& whole,
                   int64_t level_ns) const {
    Numbers numbers = options_.compat ? PoolRanks(whole.ranks) : Measure(whole.spread);
    double ratio = Percent(numbers.total_ns, level_ns);
    if (options_.compat) {
      RoundOff(numbers, RoundTo);
      ratio = RoundTo(ratio, 1);
    }
    size_t column = 0;
    table.AppendText(column++, api.name);
    table.AppendDouble(column++, ratio);
    table.AppendInt(column++, numbers.total_ns);
    table.AppendInt(column++, numbers.count);
    for (const double value : {numbers.average_ns, numbers.q1_ns, numbers.median_ns, numbers.q3_ns,
                               static_cast<double>(whole.min.value_ns),
                               static_cast<double>(whole.max.value_ns), numbers.stdev_ns})
      table.AppendDouble(column++, value);
    table.AppendText(column++, whole.min.ToText());
    table.AppendText(column++, whole.max.ToText());
    if (!options_.compat) table.AppendText(column, api.level);
  }

  Options options_;
  std::map<Api, Whole> apis_;
  table::Table per_rank_{"CannApiSumRank"};  // grows rank by rank
  size_t silent_ranks_ = 0;
};

}  // namespace

RecipeSpec CannApiSumRecipe() {
  RecipeSpec spec;
  spec.name = "cann_api_sum";
  spec.folder = "CannApiSum";
  spec.summary = "Durations of API calls by name, for each rank and over all";
  spec.needs.timeline = true;
  spec.make = MakeRecipe<CannApiSum>;
  return spec;
}

}  // namespace steplens::analysis::cluster
