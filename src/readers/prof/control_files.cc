#include "readers/prof/control_files.h"

#include <fmt/format.h>

#include <charconv>

#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "readers/folder_listing.h"

namespace steplens::readers::prof {
namespace {

using store::IssueKind;

constexpr int kMhzDigits = 6;  // MHz -> Hz

std::string TextOf(JsonValue value) {
  const auto text = value.AsString();
  return text ? std::string(*text) : value.exists() ? value.ToText() : std::string();
}

// "49.999001" -> 49999001; 0 if it is no frequency.
int64_t HzOf(JsonValue mhz) {
  const int64_t hz = ParseScaled(TextOf(mhz), kMhzDigits).value_or(0);
  return hz > 0 ? hz : 0;
}

std::vector<std::string> SplitList(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (const std::string_view part = Trim(text.substr(0, end)); !part.empty())
      parts.emplace_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// "0x8,0xa" -> {8, 10}; an event that is no number keeps its place as 0.
std::vector<uint32_t> ParseEvents(std::string_view text) {
  std::vector<uint32_t> events;
  for (const std::string& part : SplitList(text, ',')) {
    std::string_view digits = part;
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
    uint32_t event = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), event, 16);
    events.push_back(event);
  }
  return events;
}

class ControlReader {
 public:
  ControlReader(const Side& side, store::IssueLog& issues) : side_(side), issues_(issues) {}

  Control Read() {
    WithJson("info.json", [&](JsonValue info) { ReadInfo(info); });
    WithJson("sample.json", [&](JsonValue sample) { ReadSample(sample); });
    bool has_begin = false;
    WithJson("start_info", [&](JsonValue start) {
      const auto begin_us = start["collectionTimeBegin"].AsInt();
      const auto monotonic_ns = start["clockMonotonicRaw"].AsInt();
      has_begin = begin_us && monotonic_ns;
      out_.clock.begin_us = begin_us.value_or(0);
      out_.clock.begin_monotonic_ns = monotonic_ns.value_or(0);
    });
    if (!has_begin) {
      issues_.Add(IssueKind::kClockUnknown,
                  fmt::format("{}: start_info does not say when the capture began", Name()));
    }
    WithJson("end_info",
             [&](JsonValue end) { out_.clock.end_us = end["collectionTimeEnd"].AsInt(); });
    ReadHostLog();
    if (side_.device != store::kNone) ReadDeviceLog();
    return std::move(out_);
  }

 private:
  std::string Name() const { return NameOf(side_.folder); }

  template <typename Use>
  void WithJson(std::string_view prefix, const Use& use) {
    const std::string path = side_.ControlFile(prefix);
    if (path.empty()) return;
    const Result<JsonDocument> document = JsonDocument::ReadFile(path);
    if (!document.ok()) {
      issues_.Add(IssueKind::kFileUnreadable, document.error().message);
      return;
    }
    use(document->root());
  }

  void ReadInfo(JsonValue info) {
    out_.chip = info["platform_version"].AsInt().value_or(kChip910B);
    out_.pid = info["pid"].AsInt().value_or(0);
    out_.driver_version = info["drvVersion"].AsInt().value_or(0);
    out_.rank = info["rank_id"].AsInt().value_or(store::kNone);
    out_.process_name = TextOf(info["pid_name"]);
    out_.host_name = TextOf(info["hostname"]);
    out_.host_uid = TextOf(info["hostUid"]);
    out_.cann_version = TextOf(info["cannVersion"]);
    out_.version = TextOf(info["version"]);
    out_.memory_kb = info["memoryTotal"].AsDouble().value_or(0);
    out_.cpu_count = info["cpuNums"].AsInt().value_or(0);
    info["CPU"].ForEachElement([&](JsonValue cpu) { out_.clock.host_hz = HzOf(cpu["Frequency"]); });
    info["netCard"].ForEachElement([&](JsonValue card) {
      out_.card_names.push_back(TextOf(card["netCardName"]));
      out_.card_speed_mbps += card["speed"].AsDouble().value_or(0);
    });
    info["DeviceInfo"].ForEachElement([&](JsonValue device) {
      out_.clock.device_hz = HzOf(device["hwts_frequency"]);
      out_.aic_mhz = HzOf(device["aic_frequency"]) / kHzPerMhz;
      out_.aic_cores = device["ai_core_num"].AsInt().value_or(0);
      out_.aiv_cores = device["aiv_num"].AsInt().value_or(0);
    });
  }

  void ReadSample(JsonValue sample) {
    out_.level = TextOf(sample["profLevel"]);
    if (out_.level.empty()) out_.level = TextOf(sample["prof_level"]);
    out_.aic = {TextOf(sample["ai_core_metrics"]),
                ParseEvents(TextOf(sample["ai_core_profiling_events"]))};
    out_.aiv = {TextOf(sample["aiv_metrics"]), ParseEvents(TextOf(sample["aiv_profiling_events"]))};
    out_.is_sample_based = TextOf(sample["ai_core_profiling_mode"]) == "sample-based";
    out_.llc_mode = TextOf(sample["llc_profiling"]);
    out_.l2_events = ParseEvents(TextOf(sample["l2CacheTaskProfilingEvents"]));
    // SMMU:0x2,0x8a,...;<other units>
    for (const std::string& unit : SplitList(TextOf(sample["npuEvents"]), ';')) {
      if (unit.starts_with("SMMU:")) out_.smmu_events = ParseEvents(unit.substr(5));
    }
    out_.qos_events = SplitList(TextOf(sample["qosEvents"]), ',');
    out_.hbm_events = TextOf(sample["hbm_profiling_events"]);
    out_.is_dynamic = TextOf(sample["dynamic"]) == "on";
  }

  // visit(key, value) for the lines "key: value".
  template <typename Visit>
  bool ForEachLine(std::string_view prefix, const Visit& visit) {
    const std::string path = side_.ControlFile(prefix);
    if (path.empty()) return false;
    const Result<std::string> text = ReadFile(path);
    if (!text.ok()) {
      issues_.Add(IssueKind::kFileUnreadable, text.error().message);
      return false;
    }
    std::string_view rest = *text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const size_t colon = line.find(':');
      if (colon == line.npos) continue;
      if (const auto value = ParseInt64(line.substr(colon + 1)))
        visit(Trim(line.substr(0, colon)), *value);
    }
    return true;
  }

  void ReadHostLog() {
    bool has_clock = false;
    ForEachLine("host_start.log", [&](std::string_view key, int64_t value) {
      if (key == "clock_monotonic_raw") {
        out_.clock.host_monotonic_ns = value;
        has_clock = true;
      }
      if (key == "cntvct") out_.clock.host_count = static_cast<uint64_t>(value);
      if (key == "cntvct_diff") out_.clock.host_count_diff = value;
    });
    if (has_clock || out_.clock.host_hz == 0) return;
    issues_.Add(
        IssueKind::kClockUnknown,
        fmt::format("{}: host_start.log does not say where the host's counter stood", Name()));
  }

  void ReadDeviceLog() {
    ForEachLine("dev_start.log", [&](std::string_view key, int64_t value) {
      if (key == "clock_monotonic_raw") out_.clock.device_monotonic_ns = value;
      if (key == "cntvct") out_.clock.device_count = static_cast<uint64_t>(value);
    });
    if (out_.clock.device_count && out_.clock.device_hz > 0) return;
    issues_.Add(IssueKind::kClockUnknown,
                fmt::format("{}: {} does not say {}", Name(),
                            out_.clock.device_count ? "info.json" : "dev_start.log",
                            out_.clock.device_count ? "how fast the device's counter runs"
                                                    : "where the device's counter stood"));
  }

  const Side& side_;
  store::IssueLog& issues_;
  Control out_;
};

}  // namespace

Control ReadControl(const Side& side, store::IssueLog& issues) {
  return ControlReader(side, issues).Read();
}

bool HasUniqueTasks(const Control& control) {
  constexpr int64_t kUniqueTaskDriver = 0x072211;
  return control.driver_version >= kUniqueTaskDriver && control.chip != kChip310 &&
         control.chip != kChipMdc && control.chip != 11;
}

bool IsKnownChip(int64_t chip) {
  return chip >= kChip910A && chip != kChipNano && chip <= kChip950 + 1;
}

bool Is950(int64_t chip) { return chip == kChip950 || chip == kChip950 + 1; }

bool HasStars(int64_t chip) {
  return chip != kChip310 && chip != kChip910A && chip != kChipMdc && chip != kChip610 &&
         chip != kChip310P;
}

std::string ChipName(int64_t chip) {
  switch (chip) {
    case kChip310:
      return "Ascend310";
    case kChip910A:
      return "Ascend910A";
    case kChip310P:
      return "Ascend310P";
    case kChip910B:
      return "Ascend910B";
    case kChip310B:
      return "Ascend310B";
    case kChip950:
      return "Ascend950";
    default:
      return fmt::to_string(chip);
  }
}

bool IsLevel0(const Control& control) { return control.level == "l0" || control.level == "level0"; }

}  // namespace steplens::readers::prof
