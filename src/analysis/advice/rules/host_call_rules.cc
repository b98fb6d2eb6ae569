#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/advice/rules/rules.h"
#include "analysis/cells.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"

// Rules about calls of the host that hold the device up: what they cost is what the device was free
// meanwhile, where that is known.

namespace steplens::analysis {
namespace {

// Calls of one rule inside of the steps, and what they took.
struct CallSum {
  std::vector<size_t> rows;
  int64_t sum_ns = 0;
  int64_t idle_ns = 0;  // of it the device was free
  size_t longest = 0;
};

CallSum SumCalls(const RankEvidence& rank, const std::vector<size_t>& rows) {
  const store::SliceTable& slices = rank.store().slices;
  CallSum out;
  std::vector<Interval> times;
  for (const size_t row : rows) {
    if (!rank.IsInHostSteps(slices.begin_ns[row])) continue;
    if (out.rows.empty() || slices.dur_ns[row] > slices.dur_ns[out.longest]) out.longest = row;
    out.rows.push_back(row);
    out.sum_ns = AddNs(out.sum_ns, slices.dur_ns[row]);
    times.push_back({slices.begin_ns[row], EndNs(slices.begin_ns[row], slices.dur_ns[row])});
  }
  const Cover cover(std::move(times));
  for (const Interval& one : cover.runs())
    out.idle_ns = AddNs(out.idle_ns, rank.free_time().Within(one));
  return out;
}

// What the calls can save at most: the free time they lie in. A capture that does not know what the
// device did has the calls themselves.
Saving SavingOf(const RankEvidence& rank, const CallSum& calls) {
  return rank.AtMost(rank.knows_device() ? calls.idle_ns : calls.sum_ns, rank.times().step_ns);
}

bool IsShareOfStep(const RankEvidence& rank, int64_t ns, double share) {
  return !rank.view().steps().empty() && ns > 0 &&
         static_cast<double>(ns) >= share * static_cast<double>(rank.times().step_ns);
}

Finding MakeCallFinding(const RankEvidence& rank, RuleId rule, const CallSum& calls,
                        Message subject, Message reason, Message advice) {
  Finding finding = rank.Make(rule, std::move(subject), std::move(reason), std::move(advice));
  finding.saving = SavingOf(rank, calls);
  finding.confidence = Confidence::kEstimated;
  finding.places = {rank.PlaceOfSlice(static_cast<store::SliceId>(calls.longest))};
  const std::string name(rank.store().Text(rank.store().slices.name[calls.longest]));
  finding.evidence = {{{"evidence.calls",
                        {{"count", std::to_string(calls.rows.size())},
                         {"time", SentenceTime(rank.PerStepUs(calls.sum_ns))}}},
                       fmt::format("SELECT * FROM slices WHERE rank = {} AND name = '{}' "
                                   "ORDER BY dur_ns DESC",
                                   rank.rank(), SqlText(name))}};
  if (rank.knows_device()) {
    finding.evidence.push_back(
        {{"evidence.idle_meanwhile", {{"time", SentenceTime(rank.PerStepUs(calls.idle_ns))}}},
         fmt::format("SELECT step, free_ns FROM breakdown WHERE rank = {}", rank.rank())});
  }
  return finding;
}

// Each call, the longest first.
table::Table CallTable(const RankEvidence& rank, RuleId rule, const CallSum& calls) {
  const store::SliceTable& slices = rank.store().slices;
  std::vector<size_t> order = calls.rows;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return slices.dur_ns[a] > slices.dur_ns[b]; });
  TableRows rows(rank.DetailName(rule),
                 {TextColumn("Name"), TimeColumn("Timestamp(us)"), TimeColumn("Duration(us)")});
  for (const size_t row : order)
    rows.Add(rank.store().Text(slices.name[row]), slices.begin_ns[row], slices.dur_ns[row]);
  return rows.Take();
}

}  // namespace

std::vector<Finding> FindMemoryCalls(const RankEvidence& rank) {
  std::map<std::string_view, std::vector<size_t>> by_name;
  for (const size_t row : rank.host_events().memory_calls)
    by_name[rank.store().Text(rank.store().slices.name[row])].push_back(row);
  std::vector<Finding> findings;
  for (const auto& [name, rows] : by_name) {
    const CallSum calls = SumCalls(rank, rows);
    if (rank.PerStepUs(calls.sum_ns) < rank.thresholds().memory_calls_total_us) continue;
    const bool allocates = name.ends_with("aclMallocMemInner");
    Finding finding = MakeCallFinding(
        rank, RuleId::kMemoryCalls, calls, {"finding.name", {{"name", std::string(name)}}},
        {"finding.memory_calls.reason",
         {{"count", std::to_string(calls.rows.size())},
          {"time", SentenceTime(rank.PerStepUs(calls.sum_ns))}}},
        {allocates ? "finding.memory_calls.allocate" : "finding.memory_calls.free"});
    finding.effort = Effort::kSetting;
    finding.details = {CallTable(rank, RuleId::kMemoryCalls, calls)};
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> FindCompilations(const RankEvidence& rank) {
  const CallSum calls = SumCalls(rank, rank.host_events().compilations);
  if (calls.rows.empty()) return {};
  const double per_step =
      static_cast<double>(calls.rows.size()) / static_cast<double>(rank.times().steps);
  const RuleThresholds& limits = rank.thresholds();
  const bool is_often = per_step >= limits.dispatch_count;
  const bool is_long = IsShareOfStep(rank, calls.sum_ns, limits.dispatch_step_share) ||
                       calls.idle_ns >= 1'000'000 * static_cast<int64_t>(rank.times().steps);
  if (rank.settings().as_reference ? !is_often : !is_often && !is_long) return {};
  Finding finding = MakeCallFinding(rank, RuleId::kDispatch, calls, {"finding.dispatch"},
                                    {"finding.dispatch.reason",
                                     {{"count", std::to_string(calls.rows.size())},
                                      {"time", SentenceTime(rank.PerStepUs(calls.sum_ns))}}},
                                    {"finding.dispatch.advice"});
  finding.effort = Effort::kSetting;
  return {finding};
}

std::vector<Finding> FindStreamSyncs(const RankEvidence& rank) {
  const HostEvents& events = rank.host_events();
  const CallSum calls = SumCalls(rank, events.syncs);
  if (calls.rows.empty()) return {};
  const store::SliceTable& slices = rank.store().slices;
  const auto starts_before = [&](size_t a, size_t b) {
    return slices.begin_ns[a] < slices.begin_ns[b];
  };
  // Synchronisations whose predecessor among launches and synchronisations is a launch.
  size_t paired = 0;
  for (size_t i = 0; i < events.syncs.size(); ++i) {
    const auto after = std::lower_bound(events.launches.begin(), events.launches.end(),
                                        events.syncs[i], starts_before);
    if (after == events.launches.begin()) continue;
    if (i == 0 || starts_before(events.syncs[i - 1], *std::prev(after))) ++paired;
  }
  const size_t launches = events.launches.size();
  const double ratio =
      launches > 0 ? static_cast<double>(paired) / static_cast<double>(launches) : 0;
  const bool follows = ratio > rank.thresholds().sync_stream_ratio;
  const bool is_long = IsShareOfStep(rank, calls.sum_ns, rank.thresholds().sync_stream_step_share);
  if (!follows && (rank.settings().as_reference || !is_long)) return {};
  Message reason = follows ? Message{"finding.sync_stream.follows",
                                     {{"syncs", std::to_string(calls.rows.size())},
                                      {"launches", std::to_string(launches)},
                                      {"ratio", fmt::format("{:.2f}", ratio)}}}
                           : Message{"finding.sync_stream.long",
                                     {{"count", std::to_string(calls.rows.size())},
                                      {"time", SentenceTime(rank.PerStepUs(calls.sum_ns))},
                                      {"percent", rank.Percent(calls.sum_ns)}}};
  Finding finding =
      MakeCallFinding(rank, RuleId::kSyncStream, calls, {"finding.sync_stream"}, std::move(reason),
                      {follows ? "finding.sync_stream.unset" : "finding.sync_stream.advice"});
  if (follows) {
    finding.effort = Effort::kSetting;
    finding.least_priority = Priority::kMedium;
  }
  finding.details = {CallTable(rank, RuleId::kSyncStream, calls)};
  return {finding};
}

std::vector<Finding> FindSyncBatchNorms(const RankEvidence& rank) {
  const CallSum calls = SumCalls(rank, rank.host_events().sync_bns);
  const double per_step =
      static_cast<double>(calls.rows.size()) / static_cast<double>(rank.times().steps);
  if (calls.rows.empty() || per_step < rank.thresholds().syncbn_count) return {};
  // What it costs is communication that nothing hides while these calls run.
  const Cover exposed(rank.Exposed());
  CallSum cost = calls;
  cost.idle_ns = 0;
  const store::SliceTable& slices = rank.store().slices;
  for (const size_t row : calls.rows) {
    cost.idle_ns = AddNs(
        cost.idle_ns,
        exposed.Within({slices.begin_ns[row], EndNs(slices.begin_ns[row], slices.dur_ns[row])}));
  }
  Finding finding =
      rank.Make(RuleId::kSyncBn, {"finding.syncbn"},
                {"finding.syncbn.reason", {{"count", fmt::format("{:.0f}", per_step)}}},
                {"finding.syncbn.advice"});
  finding.saving = SavingOf(rank, cost);
  finding.effort = Effort::kModel;
  finding.places = {rank.PlaceOfSlice(static_cast<store::SliceId>(calls.longest))};
  finding.evidence = {{{"evidence.calls",
                        {{"count", std::to_string(calls.rows.size())},
                         {"time", SentenceTime(rank.PerStepUs(calls.sum_ns))}}},
                       fmt::format("SELECT * FROM slices WHERE rank = {} AND lower(name) = "
                                   "'syncbatchnorm'",
                                   rank.rank())}};
  return {finding};
}

std::vector<Finding> FindCollections(const RankEvidence& rank) {
  const store::SliceTable& slices = rank.store().slices;
  std::vector<size_t> slow;
  for (const size_t row : rank.host_events().collections) {
    if (NsToUs(slices.dur_ns[row]) >= rank.thresholds().gc_pause_us) slow.push_back(row);
  }
  const CallSum calls = SumCalls(rank, slow);
  if (calls.rows.empty()) return {};
  Finding finding = MakeCallFinding(rank, RuleId::kGc, calls, {"finding.gc"},
                                    {"finding.gc.reason",
                                     {{"count", std::to_string(calls.rows.size())},
                                      {"time", SentenceTime(NsToUs(calls.sum_ns))}}},
                                    {"finding.gc.advice"});
  finding.details = {CallTable(rank, RuleId::kGc, calls)};
  return {finding};
}

std::vector<Finding> FindConjecturedGc(const RankEvidence& rank) {
  const HostEvents& events = rank.host_events();
  if (!events.collections.empty() || events.acl_calls.empty()) return {};
  const store::SliceTable& slices = rank.store().slices;
  const RuleThresholds& limits = rank.thresholds();
  std::vector<Interval> gaps;
  int64_t sum_ns = 0;
  for (const Interval& gap : rank.free_time().runs()) {
    const int64_t length_ns = gap.end_ns - gap.begin_ns;
    if (NsToUs(length_ns) <= limits.conjectured_gc_gap_us) continue;
    int64_t acl_ns = 0;
    size_t calls = 0;
    for (const size_t row : events.acl_calls) {
      const int64_t begin_ns = slices.begin_ns[row];
      if (begin_ns >= gap.end_ns) break;
      if (EndNs(begin_ns, slices.dur_ns[row]) <= gap.begin_ns) continue;
      acl_ns = AddNs(acl_ns, slices.dur_ns[row]);
      ++calls;
    }
    if (static_cast<double>(acl_ns) >=
            limits.conjectured_gc_acl_share * static_cast<double>(length_ns) ||
        static_cast<double>(calls) >= limits.conjectured_gc_acl_per_us * NsToUs(length_ns)) {
      continue;
    }
    gaps.push_back(gap);
    sum_ns = AddNs(sum_ns, length_ns);
  }
  if (gaps.empty()) return {};
  std::stable_sort(gaps.begin(), gaps.end(), [](const Interval& a, const Interval& b) {
    return a.end_ns - a.begin_ns > b.end_ns - b.begin_ns;
  });
  Finding finding =
      rank.Make(RuleId::kConjecturedGc, {"finding.conjectured_gc"},
                {"finding.conjectured_gc.reason",
                 {{"count", std::to_string(gaps.size())},
                  {"time", SentenceTime(NsToUs(gaps.front().end_ns - gaps.front().begin_ns))}}},
                {"finding.conjectured_gc.advice"});
  finding.saving = rank.AtMost(sum_ns, rank.times().step_ns);
  finding.places = {rank.PlaceOf(gaps.front())};
  TableRows rows(rank.DetailName(RuleId::kConjecturedGc),
                 {TimeColumn("Timestamp(us)"), TimeColumn("Duration(us)")});
  for (const Interval& gap : gaps) rows.Add(gap.begin_ns, gap.end_ns - gap.begin_ns);
  finding.details = {rows.Take()};
  finding.evidence = {
      {{"evidence.free",
        {{"time", SentenceTime(rank.PerStepUs(sum_ns))},
         {"free", SentenceTime(rank.PerStepUs(rank.free_time().total_ns()))}}},
       fmt::format("SELECT step, free_ns FROM breakdown WHERE rank = {}", rank.rank())}};
  return {finding};
}

std::vector<Finding> FindSlowLoading(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  // The iterator's mark; else, outermost first, whatever speaks of a data loader.
  std::vector<size_t> marked;
  std::vector<size_t> outer;
  int64_t covered_ns = INT64_MIN;
  for (const size_t row : rank.host_events().data_loads) {
    const int64_t begin_ns = store.slices.begin_ns[row];
    if (store.Text(store.slices.name[row]).starts_with("enumerate(DataLoader)"))
      marked.push_back(row);
    const int64_t end_ns = EndNs(begin_ns, store.slices.dur_ns[row]);
    if (end_ns <= covered_ns) continue;
    covered_ns = end_ns;
    outer.push_back(row);
  }
  const CallSum all = SumCalls(rank, marked.empty() ? outer : marked);
  if (all.rows.empty()) return {};
  std::vector<size_t> slow;
  for (const size_t row : all.rows) {
    if (NsToUs(store.slices.dur_ns[row]) >= rank.thresholds().dataloader_call_us)
      slow.push_back(row);
  }
  // Fetches that are short may still be what the device waits for.
  constexpr double kWaitedFor = 0.03;
  if (slow.empty() && !(rank.knows_device() && IsShareOfStep(rank, all.idle_ns, kWaitedFor)))
    return {};
  const CallSum calls = slow.empty() ? all : SumCalls(rank, slow);
  const std::string_view name = store.Text(store.slices.name[calls.longest]);
  const bool is_single = name.find("SingleProcess") != name.npos;
  Finding finding = MakeCallFinding(
      rank, RuleId::kDataloader, calls, {"finding.name", {{"name", std::string(name)}}},
      {"finding.dataloader.reason",
       {{"count", std::to_string(calls.rows.size())},
        {"time", SentenceTime(NsToUs(store.slices.dur_ns[calls.longest]))},
        {"limit", SentenceTime(rank.thresholds().dataloader_call_us)}}},
      {is_single ? "finding.dataloader.single" : "finding.dataloader.advice"});
  finding.details = {CallTable(rank, RuleId::kDataloader, calls)};
  return {finding};
}

}  // namespace steplens::analysis
