#include "analysis/advice/rules/chip_cores.h"

#include "base/json.h"

namespace steplens::analysis {

ChipCores ChipOf(const RankEvidence& rank) {
  if (const auto info = rank.store().FindMeta("DeviceInfo")) {
    const Result<JsonDocument> document = JsonDocument::Parse(*info, "DeviceInfo");
    if (document.ok()) {
      const JsonValue root = document->root();
      return {root["ai_core_num"].AsInt().value_or(0), root["aiv_num"].AsInt().value_or(0),
              root["aic_frequency"].AsDouble().value_or(0)};
    }
  }
  if (const auto name = rank.store().FindMeta("npuName")) {
    const auto known = rank.settings().chips.find(*name);
    if (known != rank.settings().chips.end()) return known->second;
  }
  return {};
}

}  // namespace steplens::analysis
