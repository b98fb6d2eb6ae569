#include "analysis/compare/report/step_account.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <span>

#include "analysis/breakdown/step_times.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/collectives/job_call_times.h"
#include "analysis/compare/call_groups.h"
#include "analysis/compare/kernel_classes.h"
#include "analysis/explain/free_causes.h"
#include "analysis/overlap/cover.h"
#include "analysis/time_math.h"

namespace steplens::analysis::compare {
namespace {

// A stretch of device time and what it counts for.
struct Piece {
  Interval time;
  AccountKey key;
};

// Each moment counts for the piece that began first: disjoint and ascending.
std::vector<Piece> Flattened(std::vector<Piece> pieces) {
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& x, const Piece& y) {
    return x.time.begin_ns < y.time.begin_ns;
  });
  std::vector<Piece> out;
  int64_t done_ns = INT64_MIN;
  for (Piece& piece : pieces) {
    piece.time.begin_ns = std::max(piece.time.begin_ns, done_ns);
    if (piece.time.begin_ns >= piece.time.end_ns) continue;
    done_ns = piece.time.end_ns;
    out.push_back(std::move(piece));
  }
  return out;
}

// The pieces inside of `runs`, and the rest of the runs as `rest`. All disjoint and ascending.
std::vector<Piece> Filling(std::span<const Interval> runs, const std::vector<Piece>& pieces,
                           const AccountKey& rest) {
  std::vector<Piece> out;
  size_t next = 0;
  for (const Interval& run : runs) {
    int64_t at_ns = run.begin_ns;
    while (next < pieces.size() && pieces[next].time.end_ns <= run.begin_ns) ++next;
    for (size_t i = next; i < pieces.size() && pieces[i].time.begin_ns < run.end_ns; ++i) {
      const Interval cut{std::max(pieces[i].time.begin_ns, run.begin_ns),
                         std::min(pieces[i].time.end_ns, run.end_ns)};
      if (at_ns < cut.begin_ns) out.push_back({{at_ns, cut.begin_ns}, rest});
      out.push_back({cut, pieces[i].key});
      at_ns = cut.end_ns;
    }
    if (at_ns < run.end_ns) out.push_back({{at_ns, run.end_ns}, rest});
  }
  return out;
}

// What the device did at which time, without overlap.
struct DeviceTime {
  std::vector<Interval> computing, exposed, copies, busy;
};

DeviceTime TimeOf(const RankView& rank) {
  std::vector<Interval> computing, communication, memory;
  for (const DeviceWork& work : rank.device_work()) {
    computing.insert(computing.end(), work.compute.begin(), work.compute.end());
    communication.insert(communication.end(), work.communication.begin(), work.communication.end());
    memory.insert(memory.end(), work.memory.begin(), work.memory.end());
  }
  const Cover compute_cover(std::move(computing));
  const Cover comm_cover(std::move(communication));
  const Cover copy_cover(std::move(memory));
  DeviceTime out;
  out.computing.assign(compute_cover.runs().begin(), compute_cover.runs().end());
  out.exposed = Subtract(comm_cover.runs(), compute_cover.runs());
  std::vector<Interval> both = out.computing;
  both.insert(both.end(), out.exposed.begin(), out.exposed.end());
  const Cover work_cover(std::move(both));
  out.copies = Subtract(copy_cover.runs(), work_cover.runs());
  std::vector<Interval> all(work_cover.runs().begin(), work_cover.runs().end());
  all.insert(all.end(), out.copies.begin(), out.copies.end());
  const Cover busy_cover(std::move(all));
  out.busy.assign(busy_cover.runs().begin(), busy_cover.runs().end());
  return out;
}

// The periods that are accounted for, as step_times has them.
std::vector<Interval> PeriodsOf(const ReportSide& of, const DeviceTime& time) {
  const RankView& rank = of.side.view;
  if (time.busy.empty()) return {};
  const Interval whole{time.busy.front().begin_ns, time.busy.back().end_ns};
  const std::vector<std::optional<Interval>> work = WorkOfSteps(rank);
  std::vector<Interval> periods;
  std::optional<Interval> chosen;
  for (size_t i = 0; i < work.size(); ++i) {
    if (!work[i]) continue;
    const bool has_next =
        i + 1 < work.size() && work[i + 1] && work[i + 1]->begin_ns > work[i]->begin_ns;
    const Interval period{work[i]->begin_ns, has_next ? work[i + 1]->begin_ns : work[i]->end_ns};
    if (of.side.step && rank.steps()[i].step == of.side.step->step) chosen = period;
    periods.push_back(period);
  }
  if (of.side.step) return chosen ? std::vector<Interval>{*chosen} : std::vector<Interval>();
  if (periods.empty()) return {whole};
  if (periods.size() > 1) periods.pop_back();  // of the last one nobody knows when the next began
  return periods;
}

std::vector<Piece> KernelPieces(const Side& side, const SheetOptions& options) {
  Overall unused;
  std::vector<ClassedKernel> works;
  ClassifyKernels(side, options, unused, &works);
  std::vector<Piece> pieces;
  pieces.reserve(works.size());
  for (const ClassedKernel& work : works) {
    pieces.push_back({{work.begin_ns, EndNs(work.begin_ns, work.dur_ns)},
                      {AccountKind::kComputing, std::string(ClassName(work.kind))}});
  }
  return pieces;
}

std::vector<Piece> CallPieces(const ReportSide& of) {
  const store::TraceStore& store = of.side.store;
  const store::CommOpTable& ops = store.comm_ops;
  if (ops.size() == 0) return {};
  CallGroups groups(store, cluster::DescribeRank(store));
  JobCallTimes calls(of.job);
  std::vector<uint32_t> order(ops.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t x, uint32_t y) { return ops.begin_ns[x] < ops.begin_ns[y]; });
  std::vector<Piece> pieces;
  for (const uint32_t row : order) {
    const Interval call{ops.begin_ns[row], EndNs(ops.begin_ns[row], ops.dur_ns[row])};
    const std::string& group = groups.Of(ops.group_name[row]).kind;
    const CallTimes times = calls.Of(of.rank_index, row);
    if (times.source == TimesSource::kUnknown) {
      pieces.push_back({call, {AccountKind::kCommunication, group}});
      continue;
    }
    // Where inside a call it waited is not recorded: as in GroupTimes, before it transferred.
    const int64_t moves_ns =
        std::min(EndNs(call.begin_ns, AddNs(times.idle_ns, times.wait_ns)), call.end_ns);
    pieces.push_back({{call.begin_ns, moves_ns}, {AccountKind::kWait, group}});
    pieces.push_back({{moves_ns, call.end_ns}, {AccountKind::kTransfer, group}});
  }
  return pieces;
}

// Adds what of the pieces lies in the periods.
void AddPieces(const std::vector<Piece>& pieces, std::span<const Interval> periods,
               StepAccount& account) {
  for (const Interval& period : periods) {
    auto piece =
        std::upper_bound(pieces.begin(), pieces.end(), period.begin_ns,
                         [](int64_t ns, const Piece& one) { return ns < one.time.end_ns; });
    for (; piece != pieces.end() && piece->time.begin_ns < period.end_ns; ++piece) {
      const int64_t from_ns = std::max(piece->time.begin_ns, period.begin_ns);
      const int64_t to_ns = std::min(piece->time.end_ns, period.end_ns);
      account.total_ns[piece->key] += to_ns - from_ns;
    }
  }
}

// Those of disjoint and ascending runs that reach into the period. O(log n).
std::span<const Interval> Touching(std::span<const Interval> runs, Interval period) {
  const auto first =
      std::upper_bound(runs.begin(), runs.end(), period.begin_ns,
                       [](int64_t ns, const Interval& run) { return ns < run.end_ns; });
  const auto last =
      std::lower_bound(first, runs.end(), period.end_ns,
                       [](const Interval& run, int64_t ns) { return run.begin_ns < ns; });
  return {first, last};
}

// Free time by cause. What the causes leave open, fractions of a nanosecond among it, is short
// gaps.
void AddFree(const ReportSide& of, std::span<const Interval> busy,
             std::span<const Interval> periods, StepAccount& account) {
  std::vector<Interval> gaps;
  for (const Interval& period : periods) {
    const std::vector<Interval> free = Subtract(std::span(&period, 1), Touching(busy, period));
    gaps.insert(gaps.end(), free.begin(), free.end());
  }
  int64_t rest_ns = 0;
  for (const Interval& gap : gaps) rest_ns += gap.end_ns - gap.begin_ns;
  if (rest_ns == 0) return;
  const FreeCauses causes = FindFreeCauses(of.job, of.rank_index, std::move(gaps));
  for (const auto& [cause, us] : causes.cause_us) {
    if (cause == "gap.short") continue;
    const int64_t ns = std::min<int64_t>(std::llround(us * 1000), rest_ns);
    if (ns <= 0) continue;
    account.total_ns[{AccountKind::kFree, cause}] += ns;
    rest_ns -= ns;
  }
  if (rest_ns > 0) account.total_ns[{AccountKind::kFree, "gap.short"}] += rest_ns;
}

// Means in whole nanoseconds of totals that add up: the mean of the sum so far is rounded, and each
// one is the step from the sum before.
class RoundedMeans {
 public:
  explicit RoundedMeans(int64_t count) : count_(std::max<int64_t>(count, 1)) {}
  int64_t Next(int64_t total_ns) {
    const int64_t before_ns = Mean();
    sum_ns_ += total_ns;
    return Mean() - before_ns;
  }
  int64_t Mean() const { return (sum_ns_ + count_ / 2) / count_; }

 private:
  int64_t count_;
  int64_t sum_ns_ = 0;
};

}  // namespace

std::string_view KindName(AccountKind kind) {
  constexpr std::string_view kNames[] = {"computing",     "transfer", "wait",
                                         "communication", "copy",     "free"};
  return kNames[static_cast<size_t>(kind)];
}

StepAccount AccountOfSteps(const ReportSide& of, const SheetOptions& options) {
  StepAccount account;
  const DeviceTime time = TimeOf(of.side.view);
  const std::vector<Interval> periods = PeriodsOf(of, time);
  account.steps = static_cast<int64_t>(periods.size());
  for (const Interval& period : periods) account.all_ns += period.end_ns - period.begin_ns;
  if (periods.empty()) return account;
  AddPieces(Filling(time.computing, Flattened(KernelPieces(of.side, options)),
                    {AccountKind::kComputing, "other"}),
            periods, account);
  AddPieces(
      Filling(time.exposed, Flattened(CallPieces(of)), {AccountKind::kCommunication, "other"}),
      periods, account);
  AddPieces(Filling(time.copies, {}, {AccountKind::kCopy, "copy"}), periods, account);
  AddFree(of, time.busy, periods, account);
  return account;
}

Waterfall CompareAccounts(const StepAccount& a, const StepAccount& b) {
  Waterfall out;
  out.is_missing_a = a.steps == 0;
  out.is_missing_b = b.steps == 0;
  std::set<AccountKey> keys;
  for (const StepAccount* one : {&a, &b}) {
    for (const auto& [key, ns] : one->total_ns) keys.insert(key);
  }
  RoundedMeans means_a(a.steps);
  RoundedMeans means_b(b.steps);
  const auto total = [](const StepAccount& of, const AccountKey& key) {
    const auto found = of.total_ns.find(key);
    return found == of.total_ns.end() ? 0 : found->second;
  };
  for (const AccountKey& key : keys) {
    const int64_t a_ns = means_a.Next(total(a, key));
    const int64_t b_ns = means_b.Next(total(b, key));
    out.bars.push_back({key, a_ns, b_ns});
  }
  out.a_ns = means_a.Mean();
  out.b_ns = means_b.Mean();
  std::stable_sort(out.bars.begin(), out.bars.end(),
                   [](const Waterfall::Bar& x, const Waterfall::Bar& y) {
                     if (x.key.kind != y.key.kind) return x.key.kind < y.key.kind;
                     return std::abs(x.change_ns()) > std::abs(y.change_ns());
                   });
  return out;
}

}  // namespace steplens::analysis::compare
