#include "analysis/explain/sync_args.h"

#include <string>

#include "base/json.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::kNoSlice;
using store::SliceId;
using store::TraceStore;

bool IsGpuSync(const RankView& rank, size_t slice) {
  return rank.slice_kinds()[rank.store().slices.category[slice]] == store::SliceKind::kDeviceSync;
}

// The synchronisation beside a call: it has the call's correlation.
SliceId SyncOfCall(const RankView& rank, size_t call) {
  const TraceStore& store = rank.store();
  const int64_t correlation = store.slices.correlation[call];
  if (correlation == kNone) return kNoSlice;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (store.slices.correlation[i] == correlation && IsGpuSync(rank, i))
      return static_cast<SliceId>(i);
  }
  return kNoSlice;
}

int64_t KnownOr(const std::optional<int64_t>& value, int64_t otherwise) {
  return value && *value >= 0 ? *value : otherwise;
}

}  // namespace

std::optional<SyncArgs> ReadSyncArgs(const RankView& rank, SliceId slice,
                                     const ArgsReader& read_args) {
  const TraceStore& store = rank.store();
  const auto row = static_cast<size_t>(slice);
  const SliceId sync = IsGpuSync(rank, row) ? slice : SyncOfCall(rank, row);
  if (!read_args || sync == kNoSlice) return std::nullopt;
  const std::string text = read_args(store, sync);
  const Result<JsonDocument> document = JsonDocument::Parse(text, "args");
  if (text.empty() || !document.ok()) return std::nullopt;
  const JsonValue root = document->root();
  SyncArgs args;
  args.record_call = KnownOr(root["wait_on_cuda_event_record_corr_id"].AsInt(), kNone);
  // A wait for an event names the stream of the event; other waits are on their own stream.
  args.stream = KnownOr(root["wait_on_stream"].AsInt(), KnownOr(root["stream"].AsInt(), kNone));
  return args;
}

bool IsOnStream(const TraceStore& store, size_t slice, int64_t stream) {
  const auto track = static_cast<size_t>(store.slices.track[slice]);
  return track < store.tracks.size() &&
         store.Text(store.tracks.tid[track]) == std::to_string(stream);
}

SliceId TaskBeforeRecord(const RankView& rank, const SyncArgs& args) {
  const TraceStore& store = rank.store();
  if (args.record_call == kNone || args.stream == kNone) return kNoSlice;
  int64_t recorded_ns = kNone;
  for (size_t i = 0; i < store.slices.size() && recorded_ns == kNone; ++i) {
    const bool is_call = store.slices.correlation[i] == args.record_call &&
                         store.Text(store.slices.name[i]).find("Record") != std::string_view::npos;
    if (is_call) recorded_ns = store.slices.begin_ns[i];
  }
  if (recorded_ns == kNone) return kNoSlice;
  const std::vector<SliceId>& calls = rank.launch_calls();
  SliceId found = kNoSlice;
  int64_t launched_ns = kNone;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == kNoSlice || !IsOnStream(store, i, args.stream)) continue;
    const int64_t call_ns = store.slices.begin_ns[static_cast<size_t>(calls[i])];
    if (call_ns > recorded_ns || (found != kNoSlice && call_ns <= launched_ns)) continue;
    found = static_cast<SliceId>(i);
    launched_ns = call_ns;
  }
  return found;
}

}  // namespace steplens::analysis
