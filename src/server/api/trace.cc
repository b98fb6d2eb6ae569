#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/number.h"
#include "server/api/handlers.h"

// The part of the timeline that is seen, as a Chrome trace for other tools.

namespace steplens::server {
namespace {

constexpr size_t kPieceBytes = 1 << 18;

struct TraceLane {
  const Lane* lane;
  const ShownRank* rank;
  std::string process;  // title of the lane above
  int64_t base_ns;
  int64_t t0_ns;  // on the clock of the rank
  int64_t t1_ns;
};

// Writes events piece by piece. What it refers to lives as long as the data set, which is ready.
class TraceStream {
 public:
  TraceStream(std::vector<TraceLane> lanes, const NamePool& names)
      : lanes_(std::move(lanes)), names_(names) {
    for (const TraceLane& one : lanes_) written_.insert(one.lane);
  }

  // False behind the last piece.
  bool Next(std::string& out) {
    if (at_ > lanes_.size()) return false;
    if (!is_open_) out += "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    is_open_ = true;
    while (at_ < lanes_.size() && out.size() < kPieceBytes) WriteSome(out);
    if (at_ == lanes_.size()) {
      out += "\n]}\n";
      ++at_;
    }
    return true;
  }

 private:
  // The next piece of the present lane.
  void WriteSome(std::string& out) {
    const TraceLane& one = lanes_[at_];
    if (row_ == 0 && position_ == 0) WriteHead(out, one);
    const bool is_done =
        one.lane->kind == LaneKind::kCounter ? WriteSamples(out, one) : WriteSlices(out, one);
    if (!is_done) return;
    if (one.lane->kind == LaneKind::kSlices) WriteFlows(out, one);
    ++at_;
    row_ = 0;
    position_ = 0;
  }

  void Begin(std::string& out) {
    out += has_events_ ? ",\n" : "\n";
    has_events_ = true;
  }

  void WriteHead(std::string& out, const TraceLane& one) {
    const auto meta = [&](std::string_view name, std::string_view text) {
      Begin(out);
      JsonWriter json;
      json.BeginObject().Key("ph").String("M").Key("name").String(name);
      json.Key("pid").Int(one.lane->parent).Key("tid").Int(one.lane->id);
      json.Key("args").BeginObject().Key("name").String(text).EndObject().EndObject();
      out += json.text();
    };
    meta("process_name", one.process);
    if (one.lane->kind == LaneKind::kSlices) meta("thread_name", one.lane->name);
  }

  // Up to a piece of the rows; true when all are written.
  bool WriteSlices(std::string& out, const TraceLane& one) {
    const LaneRows& rows = one.lane->rows;
    for (; row_ < rows.rows(); ++row_, position_ = 0) {
      const auto [lo, hi] = rows.Touching(row_, one.t0_ns, one.t1_ns);
      for (position_ = std::max(position_, lo); position_ < hi; ++position_) {
        if (out.size() >= kPieceBytes) return false;
        WriteSlice(out, one, rows.row(row_)[position_]);
      }
    }
    return true;
  }

  void WriteSlice(std::string& out, const TraceLane& one, uint32_t slice) {
    const SliceColumns& columns = one.lane->rows.columns();
    Begin(out);
    JsonWriter json;
    json.BeginObject().Key("ph").String("X");
    json.Key("name").String(names_.Text(columns.name_of(slice)));
    if (!one.lane->is_derived())
      json.Key("cat").String(one.rank->store->Text(one.rank->store->slices.category[slice]));
    json.Key("pid").Int(one.lane->parent).Key("tid").Int(one.lane->id);
    json.Key("ts").Raw(FormatNsAsUs(SubtractSaturating(columns.begin(slice), one.base_ns)));
    json.Key("dur").Raw(FormatNsAsUs(columns.dur(slice))).EndObject();
    out += json.text();
  }

  bool WriteSamples(std::string& out, const TraceLane& one) {
    const CounterLane& counter = one.lane->counter;
    const size_t end = counter.LowerBound(one.t1_ns);
    position_ = std::max(position_, counter.LowerBound(one.t0_ns));
    for (; position_ < end; ++position_) {
      if (out.size() >= kPieceBytes) return false;
      Begin(out);
      JsonWriter json;
      json.BeginObject().Key("ph").String("C").Key("name").String(one.lane->name);
      json.Key("pid").Int(one.lane->parent);
      json.Key("ts").Raw(FormatNsAsUs(SubtractSaturating(counter.ts_ns(position_), one.base_ns)));
      json.Key("args").BeginObject().Key("value").Double(counter.value(position_));
      json.EndObject().EndObject();
      out += json.text();
    }
    return true;
  }

  // The ends on this lane of arrows that are written as a whole.
  void WriteFlows(std::string& out, const TraceLane& one) {
    if (one.lane->is_derived() || one.lane->is_merged() || one.lane->is_python()) return;
    const RankTimeline& timeline = *one.rank->timeline;
    const auto& flows = one.rank->store->flows;
    for (size_t i = 0; i < timeline.flows().count(one.lane->track); ++i) {
      const FlowIndex::End end = timeline.flows().end(one.lane->track, i);
      const int64_t from_ns = flows.from_ns[end.flow];
      const int64_t to_ns = flows.to_ns[end.flow];
      if (std::min(from_ns, to_ns) < one.t0_ns || std::max(from_ns, to_ns) > one.t1_ns) continue;
      if (!written_.contains(timeline.LaneOf(flows.from_track[end.flow])) ||
          !written_.contains(timeline.LaneOf(flows.to_track[end.flow])))
        continue;
      const int64_t here_ns = end.is_target ? to_ns : from_ns;
      Begin(out);
      JsonWriter json;
      json.BeginObject().Key("ph").String(end.is_target ? "f" : "s");
      if (end.is_target) json.Key("bp").String("e");
      const std::string_view kind = one.rank->store->Text(flows.kind[end.flow]);
      json.Key("name").String(kind).Key("cat").String(kind);
      json.Key("id").String(fmt::format("{}.{}", one.rank->rank, end.flow));
      json.Key("pid").Int(one.lane->parent).Key("tid").Int(one.lane->id);
      json.Key("ts").Raw(FormatNsAsUs(SubtractSaturating(here_ns, one.base_ns))).EndObject();
      out += json.text();
    }
  }

  std::vector<TraceLane> lanes_;
  std::set<const Lane*> written_;
  const NamePool& names_;
  size_t at_ = 0;
  size_t row_ = 0;
  size_t position_ = 0;
  bool is_open_ = false;
  bool has_events_ = false;
};

}  // namespace

Result<Response> PostTrace(const Ask& ask) {
  SL_RETURN_IF_ERROR(NeedJob(ask));  // what is streamed outlives the request
  SL_ASSIGN_OR_RETURN(const int64_t t0, ask.params.IntOr("t0", 0));
  SL_ASSIGN_OR_RETURN(const int64_t t1, ask.params.IntOr("t1", ask.view.end_ns()));
  if (t1 < t0) return Error{ErrorCode::kInvalidArgument, "'t1' lies before 't0'"};
  std::vector<TraceLane> lanes;
  for (const LaneKind kind : {LaneKind::kSlices, LaneKind::kCounter}) {
    SL_ASSIGN_OR_RETURN(const std::vector<const Lane*> found,
                        SliceLanesParam(ask, "tracks", true, kind));
    for (const Lane* lane : found) {
      const Lane* above = ask.view.FindLane(lane->parent);
      lanes.push_back({lane, &ask.view.RankOf(*lane),
                       above == nullptr ? "" : LaneTitle(ask, *above), ask.BaseNs(lane->rank_slot),
                       ask.FromShown(*lane, t0), ask.FromShown(*lane, t1)});
    }
  }
  // Shared: the stream is copied into what sends it.
  const auto stream = std::make_shared<TraceStream>(std::move(lanes), ask.view.names());
  Response response;
  response.headers.emplace_back("Content-Disposition",
                                "attachment; filename=\"steplens-trace.json\"");
  response.stream = [stream](std::string& out) { return stream->Next(out); };
  return response;
}

}  // namespace steplens::server
