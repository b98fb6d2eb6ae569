#include "analysis/explain/explain.h"

#include <optional>

#include "readers/slice_args.h"
#include "server/api/handlers.h"
#include "server/api/message.h"
#include "server/bad_request.h"

namespace steplens::server {
namespace {

using analysis::Interval;

// What is explained: a time on a lane, and the slice of the store that it is, if it is one.
struct Subject {
  const Lane* lane = nullptr;
  Interval times;
  std::optional<uint32_t> slice{};
};

struct Explained {
  Subject subject;
  analysis::Explanation explanation;
};

// The lane whose slices are the gaps of all streams together.
bool IsFreeLane(const Lane& lane) {
  return (lane.flags & kOverlapLane) != 0 && lane.name == "Free";
}

Interval TimesOf(const Lane& lane, uint32_t slice) {
  return {lane.rows.columns().begin(slice), lane.rows.columns().end(slice)};
}

Result<Interval> FreeAt(const Lane& lane, int64_t ts_ns) {
  for (size_t r = 0; r < lane.rows.rows(); ++r) {
    const auto [lo, hi] = lane.rows.Touching(r, ts_ns, AddSaturating(ts_ns, 1));
    if (lo < hi) return TimesOf(lane, lane.rows.row(r)[lo]);
  }
  return Bad("the device is busy at this time: there is no gap");
}

Result<Interval> GapAt(const Ask& ask, const Lane& lane, int64_t ts_ns) {
  if (IsFreeLane(lane)) return FreeAt(lane, ts_ns);
  if (lane.is_merged()) return Bad("gaps are explained on single streams; split this lane");
  if (lane.kind != LaneKind::kSlices || (lane.flags & kDeviceLane) == 0)
    return Bad("gaps are explained on streams, on communication groups and on the Free lane");
  Result<Interval> gap = analysis::FindGap(*ask.view.RankOf(lane).store, lane.track, ts_ns);
  // The lane is there: what is wrong is the time.
  if (!gap.ok()) return Bad(gap.error().message);
  return gap;
}

Result<Explained> ExplainGap(const Ask& ask, const store::Job& job, const Lane& lane,
                             Interval gap) {
  const store::TrackId track = IsFreeLane(lane) ? store::kNoTrack : lane.track;
  SL_ASSIGN_OR_RETURN(analysis::Explanation explanation,
                      analysis::ExplainGap(job, JobIndex(ask, lane), track, gap));
  return Explained{{&lane, gap}, std::move(explanation)};
}

Result<Explained> ExplainOne(const Ask& ask, const store::Job& job, const SliceRef& ref,
                             bool wait) {
  const Lane& lane = *ref.home;
  if (!wait && IsFreeLane(lane)) return ExplainGap(ask, job, lane, TimesOf(lane, ref.slice));
  if (lane.is_derived()) return Bad("this lane is derived; choose a task or an operator");
  const uint32_t rank_index = JobIndex(ask, lane);
  const auto slice = static_cast<store::SliceId>(ref.slice);
  SL_ASSIGN_OR_RETURN(
      analysis::Explanation explanation,
      wait ? analysis::ExplainWait(job, rank_index, slice)
           : analysis::ExplainSlice(job, rank_index, slice, ask.view.RankOf(lane).facts,
                                    readers::MakeArgsReader()));
  return Explained{{&lane, TimesOf(lane, ref.slice), ref.slice}, std::move(explanation)};
}

Result<Explained> Explain(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::string kind, ask.params.Text("kind"));
  if (kind != "gap" && kind != "wait" && kind != "slice")
    return Bad("'kind' must be gap, wait, slice or number");
  SL_ASSIGN_OR_RETURN(const store::Job* job, NeedJob(ask));
  if (kind == "gap") {
    SL_ASSIGN_OR_RETURN(const Lane* lane, LaneParam(ask));
    SL_ASSIGN_OR_RETURN(const int64_t t, ask.params.Int("t"));
    SL_ASSIGN_OR_RETURN(const Interval gap, GapAt(ask, *lane, ask.FromShown(*lane, t)));
    return ExplainGap(ask, *job, *lane, gap);
  }
  SL_ASSIGN_OR_RETURN(const SliceRef ref, SliceParam(ask));
  return ExplainOne(ask, *job, ref, kind == "wait");
}

// Where to look. Evidence that names no place is about the subject itself.
Subject PlaceOf(const Ask& ask, const analysis::Evidence& item, const Subject& subject) {
  Subject place = subject;
  if (item.slice) {
    const ShownRank& rank = *ask.view.ranks()[ask.view.SlotsByRank()[item.slice->rank_index]];
    const auto slice = static_cast<uint32_t>(item.slice->slice);
    const Lane* lane =
        item.slice->slice == store::kNoSlice ? nullptr : rank.timeline->LaneOf(*rank.store, slice);
    // A timeline that does not show the slice: the rank is what is left to show.
    place = lane == nullptr ? Subject{rank.timeline->lanes().front().get(), subject.times}
                            : Subject{lane, TimesOf(*lane, slice), slice};
  }
  if (item.range) place.times = *item.range;
  return place;
}

void WriteItem(JsonWriter& json, const Ask& ask, const analysis::Evidence& item,
               const Subject& subject) {
  const Subject place = PlaceOf(ask, item, subject);
  json.BeginObject();
  WriteMessage(json, item.wording);
  json.Key("share").Double(item.share).Key("ns").Int(item.ns).Key("track").Int(place.lane->id);
  if (place.slice) json.Key("i").Int(*place.slice);
  json.Key("t0").Int(ask.ToShown(*place.lane, place.times.begin_ns));
  json.Key("t1").Int(ask.ToShown(*place.lane, place.times.end_ns));
  json.EndObject();
}

}  // namespace

Result<Response> PostExplain(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::string kind, ask.params.TextOr("kind", ""));
  if (kind == "number") return ExplainNumber(ask);
  SL_ASSIGN_OR_RETURN(const Explained answer, Explain(ask));
  JsonWriter json;
  json.BeginObject().Key("title").BeginObject();
  WriteMessage(json, answer.explanation.title);
  json.EndObject().Key("items").BeginArray();
  for (const analysis::Evidence& item : answer.explanation.items)
    WriteItem(json, ask, item, answer.subject);
  json.EndArray().Key("verdict").BeginObject();
  WriteMessage(json, answer.explanation.verdict);
  json.EndObject().EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
