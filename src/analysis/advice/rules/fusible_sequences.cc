#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/advice/rules/kernel_counters.h"
#include "analysis/advice/rules/rules.h"
#include "analysis/cells.h"
#include "analysis/time_math.h"
#include "base/hash.h"

// Sequences of kernels that come again and again and would be worth a kernel of their own: most of
// their time the device waits for launches, or moves data.

namespace steplens::analysis {
namespace {

// A sequence of kernels, wherever it comes.
struct RepeatedSequence {
  size_t first = 0;  // its first place: index in the order of time
  size_t length = 0;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t busy_ns = 0;
  double mte_us = 0;
  double core_us = 0;
  bool is_host_bound = false;
  bool is_mte_bound = false;
};

class SequenceSearch {
 public:
  explicit SequenceSearch(const RankEvidence& rank)
      : rank_(rank), store_(rank.store()), limits_(rank.thresholds()) {
    CollectOrder();
  }

  std::vector<RepeatedSequence> Find() {
    CountAll();
    std::vector<RepeatedSequence> kept;
    for (auto& [key, one] : by_key_) {
      if (Qualifies(one)) kept.push_back(one);
    }
    std::sort(kept.begin(), kept.end(), [](const RepeatedSequence& a, const RepeatedSequence& b) {
      return std::pair(-a.total_ns, a.first) < std::pair(-b.total_ns, b.first);
    });
    return WithoutOverlaps(kept);
  }

  int64_t window_ns() const { return window_ns_; }
  uint32_t KernelAt(size_t place) const { return order_[place]; }

 private:
  void CollectOrder() {
    const store::KernelTable& k = store_.kernels;
    for (uint32_t i = 0; i < k.size(); ++i) {
      if (k.begin_ns[i] != store::kNone && k.dur_ns[i] != store::kNone && rank_.IsKernelInSteps(i))
        order_.push_back(i);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](uint32_t a, uint32_t b) { return k.begin_ns[a] < k.begin_ns[b]; });
    if (order_.empty()) return;
    int64_t end_ns = INT64_MIN;
    ids_.reserve(order_.size());
    for (const uint32_t i : order_) {
      end_ns = std::max<int64_t>(end_ns, EndNs(k.begin_ns[i], k.dur_ns[i]));
      ids_.push_back(Breaks(i) ? 0 : IdOf(i));
    }
    window_ns_ = SubtractSaturating(end_ns, k.begin_ns[order_.front()].value());
  }

  // Communication and the AI CPU are never part of a sequence.
  bool Breaks(uint32_t row) const {
    const std::string_view core = store_.Text(store_.kernels.core[row]);
    if (core == "AI_CPU" || IsCommunicationCore(core)) return true;
    const std::string_view name = store_.Text(store_.kernels.name[row]);
    return name.starts_with("hcom") || name.starts_with("lccl") || name.starts_with("lcoc");
  }

  uint64_t IdOf(uint32_t row) const {
    const std::array<uint32_t, 3> key{static_cast<uint32_t>(store_.kernels.name[row]),
                                      static_cast<uint32_t>(store_.kernels.input_shapes[row]),
                                      static_cast<uint32_t>(store_.kernels.output_shapes[row])};
    const uint64_t id = Mix(Mix(key[0] + 1, key[1]), key[2]);
    return id == 0 ? 1 : id;
  }

  static uint64_t Mix(uint64_t seed, uint64_t value) {
    uint64_t x = (seed ^ (value + 0x9E3779B97F4A7C15ULL + (seed << 6) + (seed >> 2)));
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }

  // visit(key, place, length) of every sequence that begins at a place.
  template <typename Visit>
  void ForEachSequence(const Visit& visit) const {
    const auto longest = static_cast<size_t>(std::max(1.0, limits_.fusible_ops_longest));
    const auto shortest = static_cast<size_t>(std::max(2.0, limits_.fusible_ops_shortest));
    for (size_t i = 0; i < ids_.size(); ++i) {
      uint64_t key = 0;
      for (size_t length = 1; length <= longest && i + length <= ids_.size(); ++length) {
        const uint64_t id = ids_[i + length - 1];
        if (id == 0) break;
        key = Mix(key, id);
        if (length >= shortest) visit(key, i, length);
      }
    }
  }

  // Times of a sequence are differences of sums from the start.
  void CountAll() {
    const KernelCounters counters(store_);
    const store::KernelTable& k = store_.kernels;
    std::vector<int64_t> busy(order_.size() + 1, 0);
    std::vector<double> mte(order_.size() + 1, 0);
    std::vector<double> core(order_.size() + 1, 0);
    for (size_t i = 0; i < order_.size(); ++i) {
      const uint32_t row = order_[i];
      busy[i + 1] = AddNs(busy[i], k.dur_ns[row].value());
      mte[i + 1] = mte[i] + counters.Most({"aic_mte2_time", "aiv_mte2_time"}, row) +
                   counters.Most({"aic_fixpipe_time", "aiv_mte3_time"}, row);
      core[i + 1] = core[i] + counters.At("aicore_time", row) + counters.At("aiv_time", row);
    }
    ForEachSequence([&](uint64_t key, size_t i, size_t length) {
      RepeatedSequence& one = by_key_[key];
      if (one.count++ == 0) {
        one.first = i;
        one.length = length;
      }
      const uint32_t last = order_[i + length - 1];
      const store::MaybeInt end_ns = EndNs(k.begin_ns[last], k.dur_ns[last]);
      one.total_ns =
          AddNs(one.total_ns, SubtractSaturating(end_ns.value(), k.begin_ns[order_[i]].value()));
      one.busy_ns = AddNs(one.busy_ns, busy[i + length] - busy[i]);
      one.mte_us += mte[i + length] - mte[i];
      one.core_us += core[i + length] - core[i];
    });
  }

  bool Qualifies(RepeatedSequence& one) const {
    if (static_cast<double>(one.count) <= limits_.fusible_ops_count || one.total_ns <= 0)
      return false;
    one.is_host_bound = static_cast<double>(one.busy_ns) <
                        limits_.fusible_ops_busy_share * static_cast<double>(one.total_ns);
    one.is_mte_bound = one.core_us > 0 && one.mte_us > limits_.fusible_ops_mte_share * one.core_us;
    const bool is_long = static_cast<double>(one.total_ns) >
                         limits_.fusible_ops_time_share * static_cast<double>(window_ns_);
    return one.is_mte_bound || (one.is_host_bound && is_long);
  }

  // Device time counts once: of sequences that lie in each other the one that takes longest.
  std::vector<RepeatedSequence> WithoutOverlaps(const std::vector<RepeatedSequence>& sorted) const {
    std::unordered_map<uint64_t, size_t> rank_of;  // key -> index in sorted
    for (size_t s = 0; s < sorted.size(); ++s) rank_of[KeyOf(sorted[s])] = s;
    std::vector<std::vector<size_t>> places(sorted.size());
    ForEachSequence([&](uint64_t key, size_t i, size_t /*length*/) {
      const auto found = rank_of.find(key);
      if (found != rank_of.end()) places[found->second].push_back(i);
    });
    std::vector<bool> taken(ids_.size(), false);
    std::vector<RepeatedSequence> kept;
    for (size_t s = 0; s < sorted.size(); ++s) {
      RepeatedSequence one = sorted[s];
      std::vector<size_t> own;
      size_t next = 0;
      for (const size_t i : places[s]) {
        const auto begin = taken.begin() + static_cast<std::ptrdiff_t>(i);
        const auto end = begin + static_cast<std::ptrdiff_t>(one.length);
        if (i < next || std::find(begin, end, true) != end) continue;
        own.push_back(i);
        next = i + one.length;
      }
      if (static_cast<double>(own.size()) <= limits_.fusible_ops_count) continue;
      for (const size_t i : own) {
        std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(i), one.length, true);
      }
      const double part = static_cast<double>(own.size()) / static_cast<double>(one.count);
      one.count = static_cast<int64_t>(own.size());
      one.total_ns = static_cast<int64_t>(static_cast<double>(one.total_ns) * part);
      one.busy_ns = static_cast<int64_t>(static_cast<double>(one.busy_ns) * part);
      one.mte_us *= part;
      kept.push_back(one);
    }
    return kept;
  }

  uint64_t KeyOf(const RepeatedSequence& one) const {
    uint64_t key = 0;
    for (size_t i = 0; i < one.length; ++i) key = Mix(key, ids_[one.first + i]);
    return key;
  }

  const RankEvidence& rank_;
  const store::TraceStore& store_;
  const RuleThresholds& limits_;
  std::vector<uint32_t> order_;  // kernels by time
  std::vector<uint64_t> ids_;    // what each is; 0: it ends a sequence
  int64_t window_ns_ = 0;
  std::unordered_map<uint64_t, RepeatedSequence> by_key_;
};

std::string SequenceNames(const RankEvidence& rank, const SequenceSearch& search,
                          const RepeatedSequence& one) {
  std::string text;
  for (size_t i = 0; i < one.length; ++i) {
    const uint32_t row = search.KernelAt(one.first + i);
    text +=
        fmt::format("{}{}", i == 0 ? "" : " - ", rank.store().Text(rank.store().kernels.type[row]));
  }
  return text;
}

}  // namespace

std::vector<Finding> FindFusibleSequences(const RankEvidence& rank) {
  // Operators of a CPU are no kernels that anybody would fuse by hand.
  const auto activities = rank.store().FindMeta("config.common_config.activities");
  if (activities && activities->find("NPU") == activities->npos) return {};
  SequenceSearch search(rank);
  const std::vector<RepeatedSequence> found = search.Find();
  if (found.empty()) return {};
  TableRows rows(rank.DetailName(RuleId::kFusibleOps),
                 {TextColumn("sequence"), IntColumn("start index"), IntColumn("end index"),
                  TimeColumn("total time(us)"), TimeColumn("execution time(us)"),
                  NumberColumn("mte time(us)", 3), IntColumn("occurrences"),
                  TextColumn("mte bound"), TextColumn("host bound")});
  int64_t total_ns = 0;
  int64_t busy_ns = 0;
  int64_t waiting_ns = 0;
  double mte_us = 0;
  for (const RepeatedSequence& one : found) {
    rows.Add(SequenceNames(rank, search, one), one.first, one.first + one.length - 1, one.total_ns,
             one.busy_ns, one.mte_us, one.count, one.is_mte_bound ? "True" : "False",
             one.is_host_bound ? "True" : "False");
    total_ns = AddNs(total_ns, one.total_ns);
    busy_ns = AddNs(busy_ns, one.busy_ns);
    mte_us += one.mte_us;
    if (one.is_host_bound) waiting_ns = AddNs(waiting_ns, one.total_ns - one.busy_ns);
  }
  const bool is_host_bound = found.front().is_host_bound;
  Finding finding = rank.Make(
      RuleId::kFusibleOps, {"finding.name", {{"name", SequenceNames(rank, search, found.front())}}},
      {"finding.fusible_ops.reason",
       {{"count", std::to_string(found.size())},
        {"total", SentenceTime(rank.PerStepUs(total_ns))},
        {"busy", SentenceTime(rank.PerStepUs(busy_ns))},
        {"mte", SentenceTime(mte_us / static_cast<double>(rank.times().steps))}}},
      {is_host_bound ? "finding.fusible_ops.host" : "finding.fusible_ops.mte"});
  if (waiting_ns > 0) finding.saving = rank.AtMost(waiting_ns, rank.times().free_ns);
  finding.effort = is_host_bound ? Effort::kCode : Effort::kModel;
  finding.places = {rank.PlaceOfKernel(search.KernelAt(found.front().first))};
  finding.details = {rows.Take()};
  finding.evidence = {
      {{"evidence.sequence",
        {{"count", std::to_string(found.front().count)},
         {"time", SentenceTime(NsToUs(found.front().total_ns))}}},
       fmt::format("SELECT * FROM kernels WHERE rank = {} ORDER BY begin_ns", rank.rank())}};
  return {finding};
}

}  // namespace steplens::analysis
