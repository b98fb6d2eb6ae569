#include <fmt/format.h>

#include <limits>

#include "analysis/time_math.h"
#include "analysis/verify/checks.h"
#include "base/number.h"

namespace steplens::analysis::verify {
namespace {

constexpr int64_t kSecondNs = 1000 * 1000 * 1000;

// visit(what, row, name, begin_ns, dur_ns) for everything that has a start and a duration.
template <typename Visit>
void ForEachSpan(const store::TraceStore& store, Visit&& visit) {
  const auto visit_table = [&](std::string_view what, const auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (table.begin_ns[i] == store::kNone || table.dur_ns[i] == store::kNone) continue;
      visit(what, i, table.name[i], table.begin_ns[i], table.dur_ns[i]);
    }
  };
  visit_table("slices", store.slices);
  visit_table("kernels", store.kernels);
  visit_table("comm_ops", store.comm_ops);
}

std::optional<int64_t> MetaInt(const Context& context, std::string_view name) {
  const auto text = context.store.FindMeta(name);
  return text ? ParseInt64(*text) : std::nullopt;
}

// The number between prefix and suffix of the last part of a path: profiler_info_3.json -> 3.
std::optional<int64_t> NumberInName(std::string_view path, std::string_view prefix,
                                    std::string_view suffix) {
  const size_t slash = path.rfind('/');
  std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  if (name.size() < prefix.size() + suffix.size()) return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  return ParseInt64(name);
}

std::optional<int64_t> RankInName(std::string_view path) {
  if (const auto rank = NumberInName(path, "profiler_info_", ".json")) return rank;
  if (const auto rank = NumberInName(path, "ascend_pytorch_profiler_", ".db")) return rank;
  return NumberInName(path, "ascend_mindspore_profiler_", ".db");
}

}  // namespace

CheckResult CheckImportIssues(const Context& context) {
  Verdict verdict(context, "import.issues", "Every record of the files could be read");
  for (size_t k = 0; k < static_cast<size_t>(store::IssueKind::kCount); ++k) {
    const auto kind = static_cast<store::IssueKind>(k);
    if (kind == store::IssueKind::kNegativeDuration) continue;  // has a check of its own
    const store::IssueInfo& info = store::GetIssueInfo(kind);
    if (info.severity != store::Severity::kDataLoss) continue;
    const store::IssueLog::Entry& entry = context.store.issues.entry(kind);
    verdict.Row(entry.count == 0, [&] {
      return fmt::format("{}: {} times, first: {}", info.name, entry.count, entry.example);
    });
  }
  return verdict.Finish("kinds of damage looked for");
}

CheckResult CheckDurations(const Context& context) {
  Verdict verdict(context, "trace.durations", "No duration is negative");
  ForEachSpan(context.store,
              [&](std::string_view what, size_t row, StringId name, int64_t, int64_t dur_ns) {
                verdict.Row(dur_ns >= 0, [&] {
                  return fmt::format("{} row {} ({}) lasts {}", what, row + 1, context.Text(name),
                                     UsText(dur_ns));
                });
              });
  // Readers replace a negative duration by 0 and keep count.
  const auto& entry = context.store.issues.entry(store::IssueKind::kNegativeDuration);
  if (entry.count > 0) {
    verdict.Row(false, [&] {
      return fmt::format("{} negative durations in the files, first: {}", entry.count,
                         entry.example);
    });
  }
  return verdict.Finish("durations");
}

CheckResult CheckSession(const Context& context) {
  Verdict verdict(context, "trace.session", "Everything happened while the capture ran");
  const auto begin_ns = MetaInt(context, "startTimeNs");
  auto end_ns = MetaInt(context, "endTimeNs");
  if (!end_ns) end_ns = MetaInt(context, "end_info.collectionTimeEnd");
  if (!begin_ns && !end_ns) return verdict.NotApplicable("the capture does not say when it ran");
  // Host and device clocks are fitted to each other: a second is generous, and no clock fault is
  // that small.
  const int64_t earliest_ns = begin_ns ? AddNs(*begin_ns, -kSecondNs) : store::kNone;
  const int64_t latest_ns =
      end_ns ? AddNs(*end_ns, kSecondNs) : std::numeric_limits<int64_t>::max();
  ForEachSpan(context.store, [&](std::string_view what, size_t row, StringId name, int64_t from_ns,
                                 int64_t dur_ns) {
    verdict.Row(from_ns >= earliest_ns && EndNs(from_ns, dur_ns) <= latest_ns, [&] {
      return fmt::format("{} row {} ({}) runs from {} to {}, the capture from {} to {}", what,
                         row + 1, context.Text(name), UsText(from_ns),
                         UsText(EndNs(from_ns, dur_ns)), begin_ns ? UsText(*begin_ns) : "?",
                         end_ns ? UsText(*end_ns) : "?");
    });
  });
  return verdict.Finish("slices, kernels and collectives");
}

CheckResult CheckRankId(const Context& context) {
  Verdict verdict(context, "rank.id", "All files of the rank name the same rank");
  const int64_t rank = context.store.info.rank;
  if (context.store.issues.entry(store::IssueKind::kDuplicateRank).count > 0) {
    return verdict.NotApplicable(
        "another folder has the same rank, this one has a number of its own");
  }
  const auto check = [&](int64_t found, std::string_view where) {
    if (found < 0) return;  // -1 where a run without ranks writes one
    verdict.Row(found == rank,
                [&] { return fmt::format("{}: rank {}, expected {}", where, found, rank); });
  };
  if (const auto id = MetaInt(context, "rank_id")) check(*id, "rank_id of profiler_info");
  if (const auto id = MetaInt(context, "RANK_DEVICE_MAP.rankId")) check(*id, "RANK_DEVICE_MAP");
  for (const store::InputFile& file : context.store.info.files) {
    if (const auto id = RankInName(file.path)) check(*id, file.path);
  }
  return verdict.Finish("files that name a rank");
}

}  // namespace steplens::analysis::verify
