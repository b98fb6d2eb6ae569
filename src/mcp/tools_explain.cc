#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/explain/explain.h"
#include "base/view_address.h"
#include "mcp/tool.h"
#include "readers/slice_args.h"

namespace steplens::mcp {
namespace {

using analysis::Interval;

// The gap of all streams together around a time; without a time the longest one.
std::optional<Interval> GapOf(const analysis::RankView& rank, const std::optional<int64_t>& at_ns) {
  std::optional<Interval> out;
  for (const analysis::OverlapLanes& device : rank.overlap()) {
    for (const Interval& gap : device.free) {
      const bool fits = at_ns ? gap.begin_ns <= *at_ns && *at_ns < gap.end_ns
                              : !out || gap.end_ns - gap.begin_ns > out->end_ns - out->begin_ns;
      if (fits) out = gap;
    }
  }
  return out;
}

void AddExplanation(const Capture& capture, const analysis::Explanation& explanation,
                    Answer& answer) {
  constexpr size_t kMostItems = 12;
  answer.Line(analysis::English(explanation.title));
  answer.Line("verdict: " + analysis::English(explanation.verdict));
  size_t left = kMostItems;
  for (const analysis::Evidence& item : explanation.items) {
    if (left-- == 0) {
      answer.Line(fmt::format("({} more)", explanation.items.size() - kMostItems));
      break;
    }
    std::string line =
        fmt::format("- {:.1f} %, {:.3f} ms: {}", 100 * item.share,
                    static_cast<double>(item.ns) / 1e6, analysis::English(item.wording));
    if (item.slice && item.slice->slice != store::kNoSlice) {
      line += fmt::format(" [rank {} slice_id {}]",
                          capture.job->ranks[item.slice->rank_index].info.rank,
                          static_cast<uint32_t>(item.slice->slice));
    }
    answer.Line(line);
  }
}

Status ExplainSliceOf(const Capture& capture, size_t index, int64_t slice, Answer& answer) {
  const store::TraceStore& rank = capture.job->ranks[index];
  if (slice < 0 || static_cast<size_t>(slice) >= rank.slices.size()) {
    return Error{ErrorCode::kNotFound, fmt::format("rank {} has no slice {}; it has {} (slices.id)",
                                                   rank.info.rank, slice, rank.slices.size())};
  }
  SL_ASSIGN_OR_RETURN(const analysis::Explanation explanation,
                      analysis::ExplainSlice(*capture.job, static_cast<uint32_t>(index),
                                             static_cast<store::SliceId>(slice),
                                             capture.Facts(index), readers::MakeArgsReader()));
  AddExplanation(capture, explanation, answer);
  answer.Query(
      fmt::format("SELECT * FROM slices WHERE rank = {} AND id = {}", rank.info.rank, slice));
  return {};
}

Result<Interval> AskedGap(const Capture& capture, size_t index, std::optional<int64_t> at_ns,
                          std::optional<int64_t> track) {
  const store::TraceStore& rank = capture.job->ranks[index];
  if (track) {
    if (!at_ns)
      return Error{ErrorCode::kInvalidArgument, "'track_id' needs 'at_ns': a time in the gap"};
    if (*track < 0 || static_cast<size_t>(*track) >= rank.tracks.size())
      return Error{ErrorCode::kNotFound, fmt::format("there is no track {}", *track)};
    return analysis::FindGap(rank, static_cast<store::TrackId>(*track), *at_ns);
  }
  const std::optional<Interval> gap = GapOf(capture.Facts(index), at_ns);
  if (gap) return *gap;
  return Error{ErrorCode::kNotFound,
               at_ns ? fmt::format("the device of rank {} is busy at {} ns, or nothing ran before "
                                   "or after: there is no gap",
                                   rank.info.rank, *at_ns)
                     : fmt::format("rank {} has no gap: its device was always busy, or was not "
                                   "recorded",
                                   rank.info.rank)};
}

Result<size_t> RankParam(const ToolCall& call, const Capture& capture) {
  SL_ASSIGN_OR_RETURN(const int64_t rank,
                      call.args.IntOr("rank", capture.job->ranks.front().info.rank));
  return capture.IndexOf(rank);
}

// Where the viewer shows a slice, and which time it shows as 0.
struct Place {
  int64_t base_ns = 0;
  std::string lane{};
};
Result<Place> PlaceInViewer(const ToolCall& call, const Capture& capture, int64_t rank,
                            const std::optional<int64_t>& slice) {
  SL_ASSIGN_OR_RETURN(const server::Dataset* const dataset,
                      call.captures.OpenForViewer(capture, call.should_stop));
  const server::Dataset::View view(*dataset);
  const std::optional<size_t> slot = view.SlotOf(rank);
  if (!slot) return Error{ErrorCode::kNotFound, fmt::format("the viewer has no rank {}", rank)};
  Place place;
  place.base_ns = view.BaseNs(*slot, 0).value_or(view.origin_ns());
  if (!slice) return place;
  const server::ShownRank& shown = *view.ranks()[*slot];
  const bool is_there = *slice >= 0 && static_cast<size_t>(*slice) < shown.store->slices.size();
  const server::Lane* lane =
      is_there ? shown.timeline->LaneOf(*shown.store, static_cast<uint32_t>(*slice)) : nullptr;
  if (lane == nullptr) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("no lane of rank {} shows slice {}", rank, *slice)};
  }
  place.lane = lane->path;
  return place;
}

}  // namespace

Status RunExplain(const ToolCall& call, Answer& answer) {
  SL_ASSIGN_OR_RETURN(const Capture capture, call.OpenPath());
  SL_ASSIGN_OR_RETURN(const size_t index, RankParam(call, capture));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> slice, call.args.MaybeInt("slice_id"));
  if (slice) return ExplainSliceOf(capture, index, *slice, answer);
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> at_ns, call.args.MaybeInt("at_ns"));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> track, call.args.MaybeInt("track_id"));
  SL_ASSIGN_OR_RETURN(const Interval gap, AskedGap(capture, index, at_ns, track));
  const store::TrackId lane = track ? static_cast<store::TrackId>(*track) : store::kNoTrack;
  SL_ASSIGN_OR_RETURN(const analysis::Explanation explanation,
                      analysis::ExplainGap(*capture.job, static_cast<uint32_t>(index), lane, gap));
  answer.Line(fmt::format("gap of rank {}: {} to {} ns, {:.3f} ms",
                          capture.job->ranks[index].info.rank, gap.begin_ns, gap.end_ns,
                          static_cast<double>(gap.end_ns - gap.begin_ns) / 1e6));
  AddExplanation(capture, explanation, answer);
  answer.Query(fmt::format(
      "SELECT * FROM slices WHERE rank = {} AND begin_ns < {} AND begin_ns + dur_ns > {}",
      capture.job->ranks[index].info.rank, gap.end_ns, gap.begin_ns));
  return {};
}

Status RunLink(const ToolCall& call, Answer& answer) {
  SL_ASSIGN_OR_RETURN(const Capture capture, call.OpenPath());
  SL_ASSIGN_OR_RETURN(const std::string page, call.args.TextOr("page", "timeline"));
  SL_ASSIGN_OR_RETURN(const size_t index, RankParam(call, capture));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> begin, call.args.MaybeInt("begin_ns"));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> end, call.args.MaybeInt("end_ns"));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> slice, call.args.MaybeInt("slice_id"));
  SL_ASSIGN_OR_RETURN(const std::string search, call.args.TextOr("search", ""));
  const store::TraceStore& rank = capture.job->ranks[index];
  std::vector<std::pair<std::string, std::string>> state;
  if (begin || end) {
    if (!begin || !end || *end <= *begin)
      return Error{ErrorCode::kInvalidArgument,
                   "'begin_ns' and 'end_ns' must both be there, the end behind the begin"};
  }
  if (begin || slice) {
    SL_ASSIGN_OR_RETURN(const Place place, PlaceInViewer(call, capture, rank.info.rank, slice));
    if (begin) {
      state.emplace_back("t", fmt::format("{},{}", SubtractSaturating(*begin, place.base_ns),
                                          SubtractSaturating(*end, place.base_ns)));
    }
    if (slice) state.emplace_back("sel", fmt::format("{}/{}", place.lane, *slice));
  }
  if (call.args.Has("rank")) state.emplace_back("ranks", std::to_string(rank.info.rank));
  if (!search.empty()) state.emplace_back("q", search);
  answer.Line(fmt::format("steplens view '{}'", ViewAddress(capture.open->real_path, page, state)));
  return {};
}

}  // namespace steplens::mcp
