#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analysis/operators/host_ops.h"
#include "base/number.h"
#include "server/api/flow_ends.h"
#include "server/api/handlers.h"
#include "server/api/slice_args.h"
#include "server/percentiles.h"

namespace steplens::server {
namespace {

using store::TraceStore;

constexpr size_t kMaxChildren = 100;
constexpr size_t kMaxAt = 20;

std::string WallClock(int64_t ns) {
  const int64_t second = ns / 1'000'000'000 - (ns % 1'000'000'000 < 0 ? 1 : 0);
  std::tm parts{};
  const std::time_t time = second;
  if (gmtime_r(&time, &parts) == nullptr) return "";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:09}", parts, ns - second * 1'000'000'000);
}

void WriteStep(JsonWriter& json, const ShownRank& rank, const Lane& lane, int64_t begin_ns) {
  const bool on_device = (lane.flags & kDeviceLane) != 0;
  json.Key("step");
  for (const analysis::StepRange& step : rank.timeline->steps()) {
    const int64_t from_ns = on_device ? step.begin_ns : step.host_begin_ns;
    const int64_t to_ns = on_device ? step.end_ns : step.host_end_ns;
    if (begin_ns >= from_ns && begin_ns < to_ns) {
      json.Int(step.step);
      return;
    }
  }
  json.Null();
}

// How the duration compares with those of the same name: on the rank, for derived lanes in the
// lane.
void WriteSameName(JsonWriter& json, const ShownRank& rank, const Lane& lane, uint32_t slice) {
  const SliceColumns& columns = lane.rows.columns();
  const StringId name = columns.name[slice];
  std::vector<int64_t> durations;
  if (lane.is_derived()) {
    for (size_t row = 0; row < columns.name.size(); ++row) {
      if (columns.name[row] == name) durations.push_back(columns.dur(row));
    }
  } else {
    for (const uint32_t row : rank.facts.slice_names().Of(name))
      durations.push_back(columns.dur(row));
  }
  const int64_t own = columns.dur(slice);
  const auto longer = std::count_if(durations.begin(), durations.end(),
                                    [&](int64_t dur_ns) { return dur_ns > own; });
  const Percentiles percentiles = PercentilesOf(durations);
  const int64_t median = percentiles.p50;
  json.Key("same_name").BeginObject();
  json.Key("count").Int(static_cast<int64_t>(durations.size()));
  json.Key("p50").Int(median).Key("p90").Int(percentiles.p90);
  json.Key("p99").Int(percentiles.p99).Key("rank_of_duration").Int(longer + 1);
  json.Key("ratio_to_median");
  if (median == 0) {
    json.Null();
  } else {
    json.Double(static_cast<double>(own) / static_cast<double>(median));
  }
  json.EndObject();
}

std::vector<std::string> Frames(std::string_view stack) {
  std::vector<std::string> out;
  while (!stack.empty()) {
    const size_t end = std::min(stack.find(';'), stack.size());
    const std::string_view frame = Trim(stack.substr(0, end));
    if (!frame.empty()) out.emplace_back(frame);
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return out;
}

// The args of the trace, then what the store knows beyond them. Fills `stack` on the way.
void WriteArgs(JsonWriter& json, const Ask& ask, const TraceStore& store, uint32_t slice,
               std::vector<std::string>& stack) {
  json.Key("args").BeginObject();
  const SliceArgs read = ReadArgs(ask.open.args, store, slice);
  if (read.state == SliceArgs::State::kRead) {
    const Result<JsonDocument> args = JsonDocument::Parse(read.json, "args");
    args->root().ForEachMember([&](std::string_view key, JsonValue value) {
      if (key == "Call stack" && value.AsString()) stack = Frames(*value.AsString());
      json.Key(key);
      if (value.IsString()) {
        json.String(*value.AsString());
      } else {
        json.Raw(value.ToText());
      }
    });
  } else if (read.state == SliceArgs::State::kUnreadable) {
    json.Key("(args)").String("cannot be read again from the trace");
  }
  const uint32_t row = analysis::FindHostOpDetail(store, store::SliceId{slice});
  if (row != store::kNoId && store.slices.args_offset[slice] == store::kNone) {
    json.Key("Input Dims").String(store.Text(store.host_ops.input_shapes[row]));
    json.Key("Input type").String(store.Text(store.host_ops.input_types[row]));
    json.Key("Sequence number").Int(store.host_ops.sequence_number[row]);
  }
  json.EndObject();
  if (row != store::kNoId && stack.empty())
    stack = Frames(store.Text(store.host_ops.call_stack[row]));
}

template <typename T>
void WriteCell(JsonWriter& json, const TraceStore& store, T value) {
  if constexpr (std::is_same_v<T, StringId>) {
    json.String(store.Text(value));
  } else if constexpr (std::is_same_v<T, double>) {
    json.Double(value);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    if (value == store::kNone) {
      json.Null();
    } else {
      json.Int(value);
    }
  } else {
    json.Int(static_cast<int64_t>(value));
  }
}

// The row of kernel_details that a device task or a collective is.
void WriteKernel(JsonWriter& json, const ShownRank& rank, uint32_t slice) {
  const TraceStore& store = *rank.store;
  const uint32_t row = rank.facts.kernel_slices().KernelOf(store::SliceId{slice});
  json.Key("kernel");
  if (row == store::kNoId) {
    json.Null();
    return;
  }
  json.BeginObject();
  store.kernels.ForEachColumn([&](std::string_view name, std::string_view, const auto& column) {
    json.Key(name);
    WriteCell(json, store, column[row]);
  });
  for (const store::DynamicColumn& metric : store.kernel_metrics) {
    if (row >= metric.size()) continue;
    json.Key(metric.name);
    if (metric.is_text()) {
      json.String(store.Text(metric.texts[row]));
    } else {
      json.Double(metric.numbers[row]);
    }
  }
  json.EndObject();
}

void WriteRelation(JsonWriter& json, const Ask& ask, const Lane& lane, uint32_t slice) {
  json.BeginObject();
  WriteSlice(json, ask, lane, slice);
  json.EndObject();
}

void WriteFamily(JsonWriter& json, const Ask& ask, const Lane& lane, size_t row, uint32_t slice) {
  const SliceColumns& columns = lane.rows.columns();
  json.Key("parents").BeginArray();
  for (size_t r = row; r-- > 0;) {
    const auto [lo, hi] = lane.rows.Touching(r, columns.begin(slice), columns.begin(slice) + 1);
    for (const uint32_t above : lane.rows.row(r).subspan(lo, hi - lo)) {
      if (columns.begin(above) <= columns.begin(slice) && columns.end(above) >= columns.end(slice))
        WriteRelation(json, ask, lane, above);
    }
  }
  json.EndArray().Key("children").BeginArray();
  if (row + 1 < lane.rows.rows()) {
    const auto [lo, hi] = lane.rows.Inside(row + 1, columns.begin(slice), columns.end(slice));
    for (const uint32_t below : lane.rows.row(row + 1).subspan(lo, std::min(hi - lo, kMaxChildren)))
      WriteRelation(json, ask, lane, below);
  }
  json.EndArray();
}

void WriteFlows(JsonWriter& json, const Ask& ask, const Lane& lane, uint32_t slice) {
  const std::vector<FlowNeighbour> neighbours = FlowNeighbours(ask.view, lane, slice);
  for (const bool incoming : {true, false}) {
    json.Key(incoming ? "flows_in" : "flows_out").BeginArray();
    for (const FlowNeighbour& other : neighbours) {
      if (other.is_incoming != incoming) continue;
      json.BeginObject().Key("kind").String(other.kind);
      WriteSlice(json, ask, *other.lane, other.slice);
      json.Key("lane").String(LaneTitle(ask, *other.lane)).EndObject();
    }
    json.EndArray();
  }
}

}  // namespace

Result<Response> GetSlice(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const SliceRef ref, SliceParam(ask));
  const Lane& lane = *ref.home;
  const ShownRank& rank = ask.view.RankOf(lane);
  const int64_t begin_ns = lane.rows.columns().begin(ref.slice);
  const size_t row = lane.rows.RowOf(ref.slice);
  JsonWriter json;
  json.BeginObject();
  WriteSlice(json, ask, *ref.lane, ref.slice);
  json.Key("category")
      .String(lane.is_derived() ? "" : rank.store->Text(rank.store->slices.category[ref.slice]));
  json.Key("self").Int(lane.rows.SelfNs(row, ref.slice));
  json.Key("row")
      .Int(static_cast<int64_t>(ref.lane->rows.RowOf(ref.slice)))
      .Key("rank")
      .Int(rank.rank);
  json.Key("lane").String(LaneTitle(ask, lane)).Key("path").String(lane.path);
  json.Key("wall").String(WallClock(begin_ns));
  WriteStep(json, rank, lane, begin_ns);
  WriteSameName(json, rank, lane, ref.slice);
  std::vector<std::string> stack;
  if (lane.is_derived()) {
    json.Key("args").BeginObject().EndObject().Key("kernel").Null();
  } else {
    WriteArgs(json, ask, *rank.store, ref.slice, stack);
    WriteKernel(json, rank, ref.slice);
  }
  json.Key("stack").BeginArray();
  for (const std::string& frame : stack) json.String(frame);
  json.EndArray();
  WriteFamily(json, ask, lane, row, ref.slice);
  WriteFlows(json, ask, lane, ref.slice);
  json.EndObject();
  return JsonResponse(std::move(json));
}

Result<Response> GetAt(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const Lane* lane, LaneParam(ask));
  SL_ASSIGN_OR_RETURN(const int64_t row, ask.params.IntOr("row", 0));
  SL_ASSIGN_OR_RETURN(const int64_t t, ask.params.Int("t"));
  SL_ASSIGN_OR_RETURN(const int64_t width, ask.params.IntIn("w", 1, 1, INT64_MAX / 4));
  if (lane->kind != LaneKind::kSlices || row < 0 || static_cast<size_t>(row) >= lane->rows.rows())
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("track {} has no row {} of slices", lane->id, row)};
  const int64_t t0_ns = ask.FromShown(*lane, t);
  const auto r = static_cast<size_t>(row);
  const auto [lo, hi] = lane->rows.Touching(r, t0_ns, AddSaturating(t0_ns, width));
  JsonWriter json;
  json.BeginObject().Key("slices").BeginArray();
  for (const uint32_t slice : lane->rows.row(r).subspan(lo, std::min(hi - lo, kMaxAt))) {
    json.BeginObject();
    WriteSlice(json, ask, *lane, slice);
    json.EndObject();
  }
  json.EndArray().Key("count").Int(static_cast<int64_t>(hi - lo)).EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
