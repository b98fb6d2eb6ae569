#include "analysis/parallel/rl_fsdp.h"

#include <algorithm>

#include "analysis/any_case.h"
#include "analysis/classify/text_memo.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

bool IsForward(std::string_view name) {
  const bool is_fsdp =
      ContainsInAnyCase(name, "fullyshardeddataparallel") || StartsInAnyCase(name, "fsdp");
  return is_fsdp && ContainsInAnyCase(name, "forward") && !ContainsInAnyCase(name, "pre_forward") &&
         !ContainsInAnyCase(name, "post_forward");
}
bool IsEngine(std::string_view name) { return name.starts_with("autograd::engine"); }
bool IsEventRecord(std::string_view name) {
  return ContainsInAnyCase(name, "record_event") || ContainsInAnyCase(name, "eventrecord");
}

struct Span {
  int64_t begin_ns;
  int64_t end_ns;
};

// By begin; of spans inside one another only the outermost.
std::vector<Span> Outermost(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  int64_t reach_ns = INT64_MIN;
  std::erase_if(spans, [&](const Span& span) {
    if (span.end_ns <= reach_ns) return true;
    reach_ns = span.end_ns;
    return false;
  });
  return spans;
}

}  // namespace

std::vector<FsdpPass> FindFsdpPasses(const TraceStore& store, const std::vector<TrackKind>& kinds) {
  std::vector<Span> forward;
  std::vector<Span> engine;
  std::vector<int64_t> records_ns;
  TextMemo is_forward(store, IsForward);
  TextMemo is_engine(store, IsEngine);
  TextMemo is_record(store, IsEventRecord);
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto track = static_cast<size_t>(store.slices.track[i]);
    if (track >= kinds.size() || kinds[track] != TrackKind::kHost) continue;
    const StringId name = store.slices.name[i];
    const int64_t begin_ns = store.slices.begin_ns[i];
    const int64_t end_ns = EndNs(begin_ns, store.slices.dur_ns[i]);
    if (is_forward(name)) forward.push_back({begin_ns, end_ns});
    if (is_engine(name)) engine.push_back({begin_ns, end_ns});
    if (is_record(name)) records_ns.push_back(begin_ns);
  }
  if (forward.empty()) return {};
  std::vector<FsdpPass> out;
  for (const Span& span : Outermost(std::move(forward)))
    out.push_back({true, span.begin_ns, span.end_ns});
  std::sort(records_ns.begin(), records_ns.end());
  bool is_open = false;
  FsdpPass pass;
  for (const Span& span : Outermost(std::move(engine))) {
    // An event recorded between two ranges ends the pass of the first.
    const auto record = std::lower_bound(records_ns.begin(), records_ns.end(), pass.end_ns);
    if (is_open && record != records_ns.end() && *record < span.begin_ns) {
      out.push_back(pass);
      is_open = false;
    }
    if (!is_open) pass = {false, span.begin_ns, span.end_ns};
    is_open = true;
    pass.end_ns = std::max(pass.end_ns, span.end_ns);
  }
  if (is_open) out.push_back(pass);
  std::stable_sort(out.begin(), out.end(),
                   [](const FsdpPass& a, const FsdpPass& b) { return a.begin_ns < b.begin_ns; });
  return out;
}

}  // namespace steplens::analysis
