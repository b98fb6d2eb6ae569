#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "analysis/cluster/spread.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"
#include "analysis/viewer/cells.h"
#include "analysis/viewer/free_causes.h"
#include "analysis/viewer/kernel_rows.h"
#include "analysis/viewer/metrics.h"
#include "analysis/viewer/overlap_lanes.h"
#include "analysis/viewer/recipe_tables.h"

// The Findings page: what could be made faster, the largest gain first. Each finding is drawn from
// the result of another page, so its numbers can be looked up there.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

// A text in both languages.
struct Words {
  std::string en;
  std::string zh;
};

struct Finding {
  std::string kind;
  Words subject;
  Words reason;
  Words advice;
  double gain_us = kNoNumber;  // a step; not known for hints
  const char* sure = "medium";
  int64_t rank = store::kNone;
  int64_t t0_ns = store::kNone;
  int64_t t1_ns = store::kNone;
  const char* page = "timeline";
  std::string search{};  // a name to look for on the timeline
};

// Finds one kind after the other; a kind whose numbers are missing finds nothing.
class Finder {
 public:
  Finder(const MetricCall& call, const TraceStore& store, int64_t origin_ns)
      : call_(call), store_(store), origin_ns_(origin_ns) {
    steps_ = std::max<double>(1, static_cast<double>(ComputeStepRanges(store).size()));
  }

  void FindAll() {
    LateRanks();
    Exposed();
    Free();
    Unsteady();
    Aicpu();
    Frequency();
    Hints();
    Transfers();
  }

  double step_us() const { return e2e_us_ / steps_; }
  std::vector<Finding>& found() { return found_; }

 private:
  static constexpr double kNoticeable = 0.05;
  static constexpr std::string_view kExposed = "Communication(Not Overlapped) Time";

  std::vector<table::Table> Ask(const char* metric, MetricArgs args = {}) const {
    args.values["rank"] = store_.info.rank;
    args.values["origin_ns"] = origin_ns_;
    Result<MetricAnswer> answer = ComputeMetric(metric, args, call_.job, call_.read_args);
    return answer.ok() ? std::move(answer->tables) : std::vector<table::Table>{};
  }
  static const table::Table* TableOf(const std::vector<table::Table>& tables,
                                     std::string_view name) {
    for (const table::Table& table : tables) {
      if (table.name() == name) return &table;
    }
    return nullptr;
  }
  static int64_t IntCell(const table::Table& table, const char* column, size_t row) {
    const table::Column* found = table.Find(column);
    return found == nullptr ? store::kNone : found->ints[row];
  }
  static std::string Us(double us) {
    return us >= 1000 ? fmt::format("{:.3f} ms", us / 1000) : fmt::format("{:.1f} us", us);
  }
  void Add(Finding finding) {
    if (finding.rank == store::kNone) finding.rank = store_.info.rank;
    found_.push_back(std::move(finding));
  }

  // Who is waited for: what `steplens cluster -m summary` says.
  void LateRanks() {
    if (call_.job.ranks.size() < 2) return;
    Result<cluster::Answer> answer = AskRecipe("summary", {}, call_.job);
    const table::Table* table = answer.ok() ? FindTable(*answer, "ClusterFindings") : nullptr;
    for (size_t i = 0; table != nullptr && i < table->rows(); ++i) {
      if (IntCell(*table, "hidden", i) == 1) continue;
      const auto text = [&](const char* column) {
        return std::string(TextCell(*table, column, i));
      };
      Finding finding;
      finding.kind = text("kind");
      finding.subject = {text("subject"), text("subjectZh")};
      finding.reason = {text("reason"), text("reasonZh")};
      finding.advice = {text("advice"), text("adviceZh")};
      finding.gain_us = NumberCell(*table, "msPerStep", i) * 1000;
      finding.sure = "high";
      finding.page = "cluster";
      const std::string ranks = text("ranks");
      finding.rank = std::atoll(ranks.c_str());
      Add(std::move(finding));
    }
  }

  // Communication that no computing hides, by group; layouts that only convert data.
  void Exposed() {
    const std::vector<table::Table> tables = Ask("overall");
    const table::Table* table = TableOf(tables, "overall");
    if (table == nullptr) return;
    const auto total_us = [&](size_t i) { return NumberCell(*table, "total_us", i); };
    for (size_t i = 0; i < table->rows(); ++i) {
      if (TextCell(*table, "path", i) == "E2E Time") e2e_us_ = total_us(i);
      if (TextCell(*table, "path", i) == "Computing Time") computing_us_ = total_us(i);
      if (TextCell(*table, "path", i) == kExposed) exposed_us_ = total_us(i);
    }
    const std::string group_prefix = std::string(kExposed) + " > ";
    for (size_t i = 0; i < table->rows(); ++i) {
      const std::string_view path = TextCell(*table, "path", i);
      if (total_us(i) < kNoticeable * e2e_us_) continue;
      if (path.starts_with(group_prefix) && IntCell(*table, "level", i) == 2)
        AddExposed(std::string(path.substr(group_prefix.size())), total_us(i),
                   NumberCell(*table, "skew_us", i));
      if (path == "Computing Time > Other Vector > Trans") AddConversion(total_us(i));
    }
  }
  void AddExposed(const std::string& group, double us, double skew_us) {
    const double share = 100 * Share(us, e2e_us_);
    const bool has_skew = std::isfinite(skew_us);
    Add({.kind = "exposed_communication",
         .subject = {group, group},
         .reason = {fmt::format("{:.1f} % of the time is communication of this group that no "
                                "computing hides{}",
                                share,
                                has_skew ? fmt::format("; {} of it is waiting for the last rank",
                                                       Us(skew_us / steps_))
                                         : ""),
                    fmt::format(
                        "该通信域未被计算掩盖的通信占 {:.1f} %{}", share,
                        has_skew ? fmt::format("，其中等待最慢卡 {}", Us(skew_us / steps_)) : "")},
         .advice =
             {"overlap it with computing (bucketing, async collectives), or balance the ranks "
              "that are waited for",
              "与计算并行（分桶、异步通信），或均衡被等待的卡"},
         .gain_us = us / steps_,
         .page = "communication"});
  }
  void AddConversion(double us) {
    Add({.kind = "conversion",
         .subject = {"Cast, TransData, Transpose", "Cast、TransData、Transpose"},
         .reason = {fmt::format("{:.1f} % of the time only changes types and layouts of data",
                                100 * Share(us, e2e_us_)),
                    fmt::format("{:.1f} % 的时间仅用于数据类型与格式转换",
                                100 * Share(us, e2e_us_))},
         .advice = {"keep one layout and type between operators; allow internal formats",
                    "保持算子间格式与类型一致，允许使用内部格式"},
         .gain_us = us / steps_,
         .page = "operators",
         .search = "Trans"});
  }

  void Free() {
    uint32_t index = 0;
    while (&call_.job.ranks[index] != &store_) ++index;
    std::vector<Interval> gaps;
    for (const OverlapLanes& device : ComputeOverlapLanes(store_))
      gaps.insert(gaps.end(), device.free.begin(), device.free.end());
    const FreeCauses causes = FindFreeCauses(call_.job, index, std::move(gaps));
    struct Cause {
      const char* key;
      const char* kind;
      Words subject;
      Words advice;
    };
    const Cause known[] = {
        {"gap.host_bound",
         "host_bound",
         {"the host is late", "Host 下发慢"},
         {"look at what the host does in the longest gap: data loading, synchronise calls, "
          "garbage collection, many small operators",
          "查看最长空闲段内 Host 的行为：数据加载、同步调用、GC、小算子过多"}},
        {"gap.dependency",
         "dependency",
         {"streams wait for each other", "流间等待"},
         {"look for events that need not be waited for", "检查不必要的事件等待"}},
        {"gap.launch",
         "launch",
         {"launches take long", "任务下发时延长"},
         {"launch less and larger work; use graph mode", "减少下发次数，使用图模式"}},
    };
    for (const Cause& cause : known) {
      const auto time = causes.cause_us.find(cause.key);
      if (time == causes.cause_us.end() || time->second < kNoticeable * e2e_us_) continue;
      const double share = 100 * Share(time->second, e2e_us_);
      const Interval gap = causes.longest.at(cause.key);
      Add({.kind = cause.kind,
           .subject = cause.subject,
           .reason = {fmt::format("the device is free {:.1f} % of the time for this reason", share),
                      fmt::format("设备因此空闲 {:.1f} %", share)},
           .advice = cause.advice,
           .gain_us = time->second / steps_,
           .t0_ns = AddNs(gap.begin_ns, -origin_ns_),
           .t1_ns = AddNs(gap.end_ns, -origin_ns_)});
    }
  }

  // Kernels that take much longer now and then, compared with those of the same name and shapes.
  void Unsteady() {
    const store::KernelTable& kernels = store_.kernels;
    std::map<std::pair<StringId, StringId>, cluster::Spread> groups;
    for (const uint32_t i : SelectKernels(store_, {}, [&](size_t row) {
           return kernels.input_shapes[row] != StringId::kEmpty;
         })) {
      groups[{kernels.name[i], kernels.input_shapes[i]}].Add(kernels.dur_ns[i]);
    }
    for (const auto& [key, spread] : groups) {
      const double p50_us = spread.Quantile(0.5) / 1000;
      const double ratio = Share(spread.Quantile(0.99) / 1000, p50_us);
      const double extra_us =
          NsToUs(spread.sum_ns()) - static_cast<double>(spread.count()) * p50_us;
      constexpr double kMuch = 1.5;
      if (ratio < kMuch || extra_us < 0.02 * e2e_us_ || spread.count() < 4) continue;
      const std::string name(store_.Text(key.first));
      Add({.kind = "unsteady_kernel",
           .subject = {name, name},
           .reason = {fmt::format("its slowest calls take {:.1f} times as long as usual, with the "
                                  "same shapes",
                                  ratio),
                      fmt::format("相同 shape 下最慢的调用耗时为通常的 {:.1f} 倍", ratio)},
           .advice =
               {"compare a slow call with its like: frequency, cores, communication beside it",
                "对比慢调用与同类：频率、核数、并行通信"},
           .gain_us = extra_us / steps_,
           .sure = "low",
           .page = "operators",
           .search = name});
    }
  }

  void Aicpu() {
    expert_ = Ask("expert");
    const table::Table* table = TableOf(expert_, "aicpu");
    if (table == nullptr || table->rows() == 0) return;
    int64_t sum_ns = 0;
    size_t longest = 0;
    for (size_t i = 0; i < table->rows(); ++i) {
      const int64_t dur_ns = IntCell(*table, "Duration(us)", i);
      sum_ns = AddNs(sum_ns, dur_ns);
      if (dur_ns > IntCell(*table, "Duration(us)", longest)) longest = i;
    }
    const int64_t start_ns = IntCell(*table, "start_ns", longest);
    Add({.kind = "aicpu",
         .subject = {fmt::format("{} operators on the AI CPU", table->rows()),
                     fmt::format("{} 个 AICPU 算子", table->rows())},
         .reason = {"the AI CPU is much slower than the cores it stands in for",
                    "AICPU 远慢于 AI Core"},
         .advice = {"change data types or replace the code so that they run on AI cores",
                    "修改数据类型或替换代码，使其在 AI Core 上执行"},
         .gain_us = NsToUs(sum_ns) / steps_,
         .sure = "high",
         .t0_ns = start_ns,
         .t1_ns = AddNs(start_ns, IntCell(*table, "Duration(us)", longest)),
         .search = std::string(TextCell(*table, "Name", longest))});
  }

  void Frequency() {
    const table::Table* table = TableOf(expert_, "frequency");
    for (size_t i = 0; table != nullptr && i < table->rows(); ++i) {
      if (TextCell(*table, "Result", i) != "Issue") continue;
      const auto drop = static_cast<double>(IntCell(*table, "Drop(%)", i));
      Add({.kind = "frequency",
           .subject = {"AI Core frequency", "AI Core 频率"},
           .reason = {fmt::format("the clock falls by {:.0f} %", drop),
                      fmt::format("频率下降 {:.0f} %", drop)},
           .advice = {"check power limit, cooling and other jobs of the device",
                      "检查功耗限制、散热与其它任务"},
           .gain_us = computing_us_ * drop / 100 / steps_,
           .search = "AI Core Freq"});
      return;
    }
  }

  // Rules of the reference viewer that say what to change, not what it brings.
  void Hints() {
    struct Hint {
      const char* table;
      const char* column;
      Words subject;
      Words advice;
    };
    const Hint hints[] = {
        {"fusion",
         "Fused Operator",
         {"operators that can be fused", "可以融合的算子"},
         {"use the fused operator", "使用融合算子"}},
        {"affinity_api",
         "Replace API",
         {"operators with a faster form", "有更快替代的算子"},
         {"use the API of torch_npu", "使用 torch_npu 亲和 API"}},
        {"affinity_optimizer",
         "Replace API",
         {"optimizer with a fused form", "有融合版本的优化器"},
         {"use the fused optimizer", "使用融合优化器"}},
        {"dispatch",
         "Name",
         {"operators compiled while running", "在线编译算子"},
         {"switch jit compile off for dynamic shapes: "
          "torch_npu.npu.set_compile_mode(jit_compile=False)",
          "动态 shape 请关闭 jit 编译：torch_npu.npu.set_compile_mode(jit_compile=False)"}},
    };
    for (const Hint& hint : hints) {
      const table::Table* table = TableOf(expert_, hint.table);
      if (table == nullptr || table->rows() == 0) continue;
      const int64_t start_ns = IntCell(*table, "start_ns", 0);
      const std::string names(TextCell(*table, hint.column, 0));
      Add({.kind = hint.table,
           .subject = hint.subject,
           .reason = {table->rows() == 1
                          ? "found once: " + names
                          : fmt::format("found {} times, first: {}", table->rows(), names),
                      fmt::format("{} 处，首个：{}", table->rows(), names)},
           .advice = hint.advice,
           .sure = "low",
           .t0_ns = start_ns,
           .t1_ns = AddNs(start_ns, IntCell(*table, "Duration(us)", 0))});
    }
  }

  void Transfers() {
    const std::vector<table::Table> tables = Ask("comm_advice");
    const table::Table* packet = TableOf(tables, "packet");
    const auto ranks = static_cast<double>(call_.job.ranks.size());
    for (size_t i = 0; packet != nullptr && i < packet->rows(); ++i) {
      if (TextCell(*packet, "Result", i) != "Issue") continue;
      const std::string transport(TextCell(*packet, "Transport Type", i));
      const double share = NumberCell(*packet, "Small Packet(%)", i);
      Add({.kind = "small_packets",
           .subject = {transport, transport},
           .reason = {fmt::format("{:.1f} % of its transfers are small", share),
                      fmt::format("{:.1f} % 的传输为小包", share)},
           .advice = {"send more at once: larger buckets, fewer splits",
                      "增大单次通信量：更大的桶、减少切分"},
           // The table adds up all ranks; what computing hides is not gained.
           .gain_us = std::min(NumberCell(*packet, "Small Packet Time(ms)", i) * 1000 / ranks,
                               exposed_us_) /
                      steps_,
           .sure = "low",
           .page = "communication"});
    }
    struct Rule {
      const char* table;
      Words subject;
      Words advice;
    };
    const Rule rules[] = {
        {"byte_alignment",
         {"transfers that are not aligned", "通信未字节对齐"},
         {"make sizes a multiple of 512 bytes", "使数据量为 512 字节的倍数"}},
        {"contention",
         {"transfers beside a MatMul", "通信与计算争抢带宽"},
         {"move one of the two, or give the collective fewer cores", "错开两者或减少通信占用的核"}},
        {"retransmission",
         {"retransmission", "通信重传"},
         {"check the network between these ranks", "检查相关卡之间的网络"}},
    };
    for (const Rule& rule : rules) {
      const table::Table* table = TableOf(tables, rule.table);
      if (table == nullptr || table->rows() == 0) continue;
      const std::string name(TextCell(*table, "operator", 0));
      Add({.kind = rule.table,
           .subject = rule.subject,
           .reason = {fmt::format("operators: {}, first: {}", table->rows(), name),
                      fmt::format("{} 个算子，首个：{}", table->rows(), name)},
           .advice = rule.advice,
           .sure = "low",
           .page = "communication",
           .search = name});
    }
  }

  const MetricCall& call_;
  const TraceStore& store_;
  const int64_t origin_ns_;
  double steps_ = 1;
  double e2e_us_ = 0;
  double computing_us_ = 0;
  double exposed_us_ = 0;
  std::vector<table::Table> expert_;
  std::vector<Finding> found_;
};

}  // namespace

Result<MetricAnswer> Findings(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  Finder finder(call, *store, origin_ns);
  finder.FindAll();
  std::vector<Finding>& found = finder.found();
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
    const auto gain = [](const Finding& one) { return std::isnan(one.gain_us) ? -1 : one.gain_us; };
    return gain(a) > gain(b);
  });
  TableRows rows(
      "findings",
      {TextColumn("kind"), TextColumn("subject"), TextColumn("subjectZh"), TextColumn("reason"),
       TextColumn("reasonZh"), TextColumn("advice"), TextColumn("adviceZh"),
       NumberColumn("gain_us", 3), NumberColumn("share", 2), TextColumn("sure"), IntColumn("rank"),
       IntColumn("t0_ns"), IntColumn("t1_ns"), TextColumn("page"), TextColumn("search")});
  for (const Finding& one : found) {
    const double step_us = finder.step_us();
    rows.Add(one.kind, one.subject.en, one.subject.zh, one.reason.en, one.reason.zh, one.advice.en,
             one.advice.zh, RoundTo(one.gain_us, 3),
             step_us > 0 ? RoundTo(100 * one.gain_us / step_us, 2) : kNoNumber, one.sure, one.rank,
             one.t0_ns, one.t1_ns, one.page, one.search);
  }
  MetricAnswer answer;
  answer.definition = "steplens.findings";
  answer.tables.push_back(rows.Take());
  if (call.job.ranks.size() < 2)
    answer.warnings.push_back("one rank: who waits for whom is not known");
  return answer;
}

}  // namespace steplens::analysis::viewer
