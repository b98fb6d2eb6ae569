#include "analysis/viewer/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "analysis/time_math.h"
#include "base/cancel.h"

namespace steplens::analysis::viewer {
namespace {

bool SameLetter(char any, char lower) {
  return std::tolower(static_cast<unsigned char>(any)) == lower;
}

}  // namespace

Result<const store::TraceStore*> RankOf(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> wanted, call.args.Int("rank"));
  for (const store::TraceStore& store : call.job.ranks) {
    if (!wanted || store.info.rank == *wanted) return &store;
  }
  if (!wanted) return Error{ErrorCode::kNotFound, "no rank has been read"};
  return Error{ErrorCode::kNotFound, fmt::format("there is no rank {}", *wanted)};
}

Result<int64_t> OriginOf(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> given, call.args.Int("origin_ns"));
  if (given && !IsPlausible(*given, *given)) {
    return Error{ErrorCode::kInvalidArgument, "argument 'origin_ns' is no time"};
  }
  return given ? *given : OriginNs(call.job);
}

Result<TimeRange> RangeOf(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> t0_ns, call.args.Int("t0"));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> t1_ns, call.args.Int("t1"));
  TimeRange range;
  if (!t0_ns && !t1_ns) return range;
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  if (t0_ns) range.begin_ns = AddNs(origin_ns, *t0_ns);
  if (t1_ns) range.end_ns = AddNs(origin_ns, *t1_ns);
  if (range.begin_ns > range.end_ns) {
    return Error{ErrorCode::kInvalidArgument, "argument 't0' is after 't1'"};
  }
  return range;
}

Result<std::optional<int64_t>> StepOf(const MetricCall& call) {
  const auto found = call.args.values.find("step");
  if (found != call.args.values.end()) {
    const auto* text = std::get_if<std::string>(&found->second);
    if (text != nullptr && (text->empty() || *text == "all" || *text == "All")) {
      return std::optional<int64_t>();
    }
  }
  return call.args.Int("step");
}

Status StillWanted() {
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "nobody waits for the result any more"};
  return {};
}

std::string SqlText(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
  return out + "'";
}

bool ContainsInAnyCase(std::string_view text, std::string_view lower_word) {
  return std::search(text.begin(), text.end(), lower_word.begin(), lower_word.end(), SameLetter) !=
         text.end();
}

bool StartsInAnyCase(std::string_view text, std::string_view lower_word) {
  return text.size() >= lower_word.size() &&
         std::equal(lower_word.begin(), lower_word.end(), text.begin(),
                    [](char lower, char any) { return SameLetter(any, lower); });
}

}  // namespace steplens::analysis::viewer
