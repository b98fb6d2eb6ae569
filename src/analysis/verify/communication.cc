#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "analysis/verify/checks.h"

namespace steplens::analysis::verify {
namespace {

std::string NoCommunicationFile(const Context& context) {
  return fmt::format("no {}", context.Name("communication.json", "CommAnalyzerTime"));
}

// step, kind (collective or p2p)
using ClassKey = std::pair<StringId, StringId>;
// step, kind, transport
using LinkKey = std::tuple<StringId, StringId, StringId>;

std::string TimeText(const Context& context, size_t row) {
  const store::CommTimeTable& times = context.store.comm_times;
  return fmt::format("{} {} {}", context.Name("communication.json", "CommAnalyzerTime"),
                     context.Text(times.step[row]), context.Text(times.op_name[row]));
}

std::string BandwidthText(const Context& context, size_t row) {
  const store::CommBandwidthTable& links = context.store.comm_bandwidths;
  return fmt::format("{} {} {} {}", context.Name("communication.json", "CommAnalyzerBandwidth"),
                     context.Text(links.step[row]), context.Text(links.op_name[row]),
                     context.Text(links.transport[row]));
}

// Sums of many decimals: nine digits must agree.
double Rounding(double value) { return 1e-6 + 1e-9 * std::fabs(value); }

// The ratio of communication.json, four decimals, 0 without a divisor.
double RatioOf(double part_ms, double transit_ms) {
  return part_ms + transit_ms > 0 ? part_ms / (part_ms + transit_ms) : 0;
}

// GB/s, 0 without time; not known if one of them is not.
double BandwidthOf(double size_mb, double transit_ms) {
  if (std::isnan(size_mb) || std::isnan(transit_ms)) return store::NotKnown<double>();
  return transit_ms > 0 ? size_mb / transit_ms : 0;
}

// Traffic over HCCS per class: of the totals, or of the operations where there are no totals (db).
std::map<ClassKey, double> HccsSizes(const Context& context) {
  const store::CommBandwidthTable& links = context.store.comm_bandwidths;
  std::map<ClassKey, double> totals_mb;
  std::map<ClassKey, double> ops_mb;
  for (size_t i = 0; i < links.size(); ++i) {
    if (context.Text(links.transport[i]) != "HCCS") continue;
    const bool is_total = context.Text(links.op_name[i]) == kTotalOpInfo;
    (is_total ? totals_mb : ops_mb)[{links.step[i], links.kind[i]}] += links.transit_size_mb[i];
  }
  for (const auto& [key, size_mb] : ops_mb) totals_mb.try_emplace(key, size_mb);
  return totals_mb;
}

// The same of the matrix: of the totals ("allreduce-total"), or of the operations where the keys
// are their names and none is a total, as older files and msprof have it.
std::map<ClassKey, double> MatrixHccsSizes(const Context& context) {
  const store::CommLinkTable& links = context.store.comm_links;
  std::map<ClassKey, double> totals_mb;
  std::map<ClassKey, double> ops_mb;
  for (size_t i = 0; i < links.size(); ++i) {
    const std::string_view op = context.Text(links.op_name[i]);
    if (context.Text(links.transport[i]) != "HCCS" || op == kTotalOpInfo) continue;
    (op.ends_with("-total") ? totals_mb : ops_mb)[{links.step[i], links.kind[i]}] +=
        links.transit_size_mb[i];
  }
  for (const auto& [key, size_mb] : ops_mb) totals_mb.try_emplace(key, size_mb);
  return totals_mb;
}

// Time columns that 'Total Op Info' sums up.
constexpr size_t kTimeColumns = 5;
constexpr std::string_view kTimeNames[kTimeColumns] = {"Elapse Time(ms)", "Transit Time(ms)",
                                                       "Wait Time(ms)", "Synchronization Time(ms)",
                                                       "Idle Time(ms)"};
using TimeSums = std::array<double, kTimeColumns>;

TimeSums TimesAt(const store::CommTimeTable& times, size_t row) {
  return {times.elapse_ms[row], times.transit_ms[row], times.wait_ms[row],
          times.synchronization_ms[row], times.idle_ms[row]};
}

void CheckTimeTotals(const Context& context, Verdict& verdict) {
  const store::CommTimeTable& times = context.store.comm_times;
  std::map<ClassKey, TimeSums> sums;
  const auto is_total = [&](size_t i) { return context.Text(times.op_name[i]) == kTotalOpInfo; };
  for (size_t i = 0; i < times.size(); ++i) {
    if (is_total(i)) continue;
    TimeSums& sum = sums[{times.step[i], times.kind[i]}];
    const TimeSums row = TimesAt(times, i);
    for (size_t c = 0; c < kTimeColumns; ++c) sum[c] += row[c];
  }
  for (size_t i = 0; i < times.size(); ++i) {
    if (!is_total(i)) continue;
    const TimeSums& expected = sums[{times.step[i], times.kind[i]}];
    const TimeSums found = TimesAt(times, i);
    for (size_t c = 0; c < kTimeColumns; ++c) {
      verdict.Near(found[c], expected[c], Rounding(expected[c]),
                   [&] { return fmt::format("{}: {}", TimeText(context, i), kTimeNames[c]); });
    }
  }
}

void CheckTrafficTotals(const Context& context, Verdict& verdict) {
  const store::CommBandwidthTable& links = context.store.comm_bandwidths;
  std::map<LinkKey, std::pair<double, double>> sums;  // MB, ms
  const auto is_total = [&](size_t i) { return context.Text(links.op_name[i]) == kTotalOpInfo; };
  for (size_t i = 0; i < links.size(); ++i) {
    if (is_total(i)) continue;
    auto& [size_mb, transit_ms] = sums[{links.step[i], links.kind[i], links.transport[i]}];
    size_mb += links.transit_size_mb[i];
    transit_ms += links.transit_ms[i];
  }
  for (size_t i = 0; i < links.size(); ++i) {
    if (!is_total(i)) continue;
    const auto& [size_mb, transit_ms] = sums[{links.step[i], links.kind[i], links.transport[i]}];
    verdict.Near(links.transit_size_mb[i], size_mb, Rounding(size_mb),
                 [&] { return BandwidthText(context, i) + ": Transit Size(MB)"; });
    verdict.Near(links.transit_ms[i], transit_ms, Rounding(transit_ms),
                 [&] { return BandwidthText(context, i) + ": Transit Time(ms)"; });
  }
}

// Bandwidth = size / time, for operations; totals have none.
void CheckBandwidths(const Context& context, Verdict& verdict) {
  const store::CommBandwidthTable& links = context.store.comm_bandwidths;
  for (size_t i = 0; i < links.size(); ++i) {
    if (context.Text(links.op_name[i]) == kTotalOpInfo || std::isnan(links.bandwidth_gbps[i]))
      continue;
    const double expected = BandwidthOf(links.transit_size_mb[i], links.transit_ms[i]);
    verdict.Near(links.bandwidth_gbps[i], expected, 0.0001,
                 [&] { return BandwidthText(context, i) + ": Bandwidth(GB/s)"; });
  }
}

// The packets of a link carry its traffic. SDMA is the sum of other links and lists none of its
// own.
void CheckPackets(const Context& context, Verdict& verdict) {
  const store::CommBandwidthTable& links = context.store.comm_bandwidths;
  const store::CommPacketTable& packets = context.store.comm_packets;
  struct Sum {
    double size_mb = 0;
    double total_ms = 0;
    double count = 0;
    double large = 0;
  };
  std::vector<Sum> sums(links.size());
  std::vector<bool> has_packets(links.size(), false);
  for (size_t i = 0; i < packets.size(); ++i) {
    const size_t row = packets.bandwidth_row[i];
    if (row >= links.size()) continue;
    const double large_mb = context.Text(links.transport[row]) == "RDMA" ? 0.5 : 32;
    Sum& sum = sums[row];
    sum.size_mb += packets.package_size_mb[i] * packets.count[i];
    sum.total_ms += packets.total_ms[i];
    sum.count += packets.count[i];
    if (packets.package_size_mb[i] > large_mb) sum.large += packets.count[i];
    has_packets[row] = true;
  }
  for (size_t i = 0; i < links.size(); ++i) {
    if (!has_packets[i]) continue;
    verdict.Near(sums[i].size_mb, links.transit_size_mb[i], Rounding(links.transit_size_mb[i]),
                 [&] { return BandwidthText(context, i) + ": size of all packets in MB"; });
    verdict.Near(sums[i].total_ms, links.transit_ms[i], Rounding(links.transit_ms[i]),
                 [&] { return BandwidthText(context, i) + ": time of all packets in ms"; });
    if (!(sums[i].count > 0) || context.Text(links.op_name[i]) == kTotalOpInfo) continue;
    verdict.Near(links.large_packet_ratio[i], sums[i].large / sums[i].count, 0.0001,
                 [&] { return BandwidthText(context, i) + ": Large Packet Ratio"; });
  }
}

std::set<StringId> CollectivesOnTimeline(const Context& context) {
  const store::SliceTable& slices = context.store.slices;
  std::set<StringId> names;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (context.track_kind(slices.track[i]) == TrackKind::kCommGroup) names.insert(slices.name[i]);
  }
  return names;
}

// Converted GPU traces number operations of one name: "ncclDevKernel_AllReduce__2".
StringId NameOnTimeline(const Context& context, StringId name, const std::set<StringId>& shown) {
  if (shown.contains(name)) return name;
  const std::string_view text = context.Text(name);
  const size_t mark = text.rfind("__");
  if (mark == text.npos || text.find_first_not_of("0123456789", mark + 2) != text.npos) return name;
  return context.store.strings.Find(text.substr(0, mark)).value_or(name);
}

}  // namespace

CheckResult CheckCommTimes(const Context& context) {
  Verdict verdict(context, "15",
                  "Elapse Time = Transit Time + Wait Time + Idle Time; the ratios follow");
  const store::CommTimeTable& times = context.store.comm_times;
  if (times.size() == 0) return verdict.NotApplicable(NoCommunicationFile(context));
  for (size_t i = 0; i < times.size(); ++i) {
    const double sum_ms = times.transit_ms[i] + times.wait_ms[i] + times.idle_ms[i];
    verdict.Near(times.elapse_ms[i], sum_ms, Rounding(sum_ms),
                 [&] { return TimeText(context, i) + ": Elapse Time(ms)"; });
    const auto check_ratio = [&](double found, double part_ms, std::string_view column) {
      if (std::isnan(found)) return;  // the db has no ratios
      verdict.Near(found, RatioOf(part_ms, times.transit_ms[i]), 0.0001,
                   [&] { return fmt::format("{}: {}", TimeText(context, i), column); });
    };
    check_ratio(times.wait_ratio[i], times.wait_ms[i], "Wait Time Ratio");
    check_ratio(times.synchronization_ratio[i], times.synchronization_ms[i],
                "Synchronization Time Ratio");
  }
  return verdict.Finish("values");
}

CheckResult CheckCommMatrix(const Context& context) {
  Verdict verdict(context, "15.matrix",
                  "The HCCS links of the matrix carry the HCCS traffic of all operations");
  const store::CommLinkTable& links = context.store.comm_links;
  if (links.size() == 0) {
    return verdict.NotApplicable(
        fmt::format("no {}", context.Name("communication_matrix.json", "CommAnalyzerMatrix")));
  }
  if (context.store.comm_bandwidths.size() == 0)
    return verdict.NotApplicable(NoCommunicationFile(context));
  std::map<ClassKey, double> matrix_mb = MatrixHccsSizes(context);
  std::map<ClassKey, double> expected_mb = HccsSizes(context);
  for (const auto& [key, size_mb] : matrix_mb) expected_mb.try_emplace(key, 0);
  for (const auto& [key, size_mb] : expected_mb) {
    verdict.Near(matrix_mb[key], size_mb, Rounding(size_mb), [&] {
      return fmt::format("{} {} {}: HCCS traffic in MB",
                         context.Name("communication_matrix.json", "CommAnalyzerMatrix"),
                         context.Text(key.first), context.Text(key.second));
    });
  }
  return verdict.Finish("classes of operations");
}

CheckResult CheckCommTotals(const Context& context) {
  Verdict verdict(context, "communication.totals", "Total Op Info is the sum of the operations");
  if (context.store.comm_times.size() == 0)
    return verdict.NotApplicable(NoCommunicationFile(context));
  CheckTimeTotals(context, verdict);
  CheckTrafficTotals(context, verdict);
  return verdict.Finish("values of Total Op Info");
}

CheckResult CheckCommBandwidth(const Context& context) {
  Verdict verdict(
      context, "communication.bandwidth",
      "Bandwidth is size / time, the packets of a link sum up to its size and time, and Large "
      "Packet Ratio is the share of large ones");
  if (context.store.comm_bandwidths.size() == 0) {
    return verdict.NotApplicable(
        fmt::format("no {}", context.Name("communication.json", "CommAnalyzerBandwidth")));
  }
  CheckBandwidths(context, verdict);
  CheckPackets(context, verdict);
  return verdict.Finish("values");
}

CheckResult CheckCommLinks(const Context& context) {
  Verdict verdict(context, "communication.links",
                  "The bandwidth of every link of the matrix is its size / time");
  const store::CommLinkTable& links = context.store.comm_links;
  const std::string_view file = context.Name("communication_matrix.json", "CommAnalyzerMatrix");
  if (links.size() == 0) return verdict.NotApplicable(fmt::format("no {}", file));
  for (size_t i = 0; i < links.size(); ++i) {
    const double expected = BandwidthOf(links.transit_size_mb[i], links.transit_ms[i]);
    verdict.Near(links.bandwidth_gbps[i], expected, 0.0001, [&] {
      return fmt::format("{} {} {} {}-{}: Bandwidth(GB/s)", file, context.Text(links.step[i]),
                         context.Text(links.op_name[i]), int64_t{links.src_rank[i]},
                         int64_t{links.dst_rank[i]});
    });
  }
  return verdict.Finish("links");
}

CheckResult CheckCommOpsInTrace(const Context& context) {
  Verdict verdict(context, "communication.ops",
                  "The operations of communication.json are the collectives of the timeline");
  const store::CommTimeTable& times = context.store.comm_times;
  if (times.size() == 0) return verdict.NotApplicable(NoCommunicationFile(context));
  const std::set<StringId> shown = CollectivesOnTimeline(context);
  if (shown.empty()) return verdict.NotApplicable("no communication groups in the trace");
  std::set<StringId> named;
  std::set<StringId> steps;
  for (size_t i = 0; i < times.size(); ++i) {
    steps.insert(times.step[i]);
    if (context.Text(times.op_name[i]) == kTotalOpInfo) continue;
    const StringId name = NameOnTimeline(context, times.op_name[i], shown);
    named.insert(name);
    verdict.Row(shown.contains(name),
                [&] { return TimeText(context, i) + ": not on the timeline"; });
  }
  // With several steps, operations between them are in none; with one step, all are in it.
  if (steps.size() == 1) {
    for (const StringId name : shown) {
      verdict.Row(named.contains(name), [&] {
        return fmt::format("trace: {} is not in {}", context.Text(name),
                           context.Name("communication.json", "CommAnalyzerTime"));
      });
    }
  }
  return verdict.Finish("operations");
}

}  // namespace steplens::analysis::verify
