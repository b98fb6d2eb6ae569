#include "analysis/advice/rules/slice_lists.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "analysis/classify/text_memo.h"

namespace steplens::analysis {

std::vector<size_t> ListCompilations(const store::TraceStore& store,
                                     const std::vector<TrackKind>& tracks) {
  TextMemo compiles(store,
                    [](std::string_view name) { return name.ends_with("aclopCompileAndExecute"); });
  std::vector<size_t> rows;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto t = static_cast<size_t>(store.slices.track[i]);
    if (t < tracks.size() && tracks[t] == TrackKind::kCann && compiles(store.slices.name[i]))
      rows.push_back(i);
  }
  if (rows.size() < kOften) rows.clear();
  return rows;
}

std::vector<SlowOptimizer> ListSlowOptimizers(const store::TraceStore& store) {
  constexpr std::array<std::string_view, 9> kFused{
      "SGD", "Adadelta", "Lamb", "Adam", "AdamW", "AdamP", "BertAdam", "RMSprop", "RMSpropTF"};
  std::map<StringId, std::string> replaced;  // name -> what replaces it
  for (const std::string_view optimizer : kFused) {
    const auto name = store.strings.Find(fmt::format("Optimizer.step#{}.step", optimizer));
    if (name) replaced.emplace(*name, fmt::format("torch_npu.optim.NpuFused{}", optimizer));
  }
  std::vector<SlowOptimizer> out;
  for (size_t i = 0; i < store.slices.size() && !replaced.empty(); ++i) {
    const auto found = replaced.find(store.slices.name[i]);
    if (found != replaced.end()) out.push_back({i, found->second});
  }
  return out;
}

}  // namespace steplens::analysis
