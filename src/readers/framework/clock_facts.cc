#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "base/saturate.h"
#include "readers/file_names.h"
#include "readers/framework/raw_clock.h"

namespace steplens::readers {
namespace {

namespace fs = std::filesystem;
using Sample = ClockFacts::Sample;

// Files and folders of `folder` whose name begins so, in order.
std::vector<std::string> Matching(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(prefix)) out.push_back(it->path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<int64_t> HertzOf(JsonValue mhz) {
  const std::optional<double> value = mhz.AsDouble();
  if (!value || !(*value > 0) || *value > 1e6) return std::nullopt;
  return std::llround(*value * 1e6);
}

void TakeSamples(JsonValue list, ClockFacts& facts) {
  list.ForEachElement([&](JsonValue item) {
    std::vector<int64_t> numbers;
    item.ForEachElement([&](JsonValue number) {
      if (const auto value = number.AsInt()) numbers.push_back(*value);
    });
    if (numbers.size() == 3) facts.samples.push_back({numbers[0], numbers[1], numbers[2]});
  });
}

void TakeProfilerInfo(JsonValue root, ClockFacts& facts) {
  // MindSpore puts the same members one level deeper.
  const JsonValue nested = root["ms_profiler_info"];
  const auto member = [&](std::string_view key) {
    return root[key].exists() ? root[key] : nested[key];
  };
  const JsonValue start = member("start_info");
  // MindSpore itself says nothing of a clock: its times are ticks of the counter.
  facts.is_counter = start["syscnt_enable"].AsBool().value_or(nested.exists() && !start.exists());
  facts.frequency_hz = HertzOf(start["freq"]).value_or(facts.frequency_hz);
  facts.start_counter = start["start_cnt"].AsInt().value_or(0);
  facts.start_monotonic_ns = start["start_monotonic"].AsInt().value_or(0);
  TakeSamples(member("steplens_clock"), facts);
  const JsonValue end = member("end_info");
  const auto wall = end["collectionTimeEnd"].AsInt();
  const auto monotonic = end["MonotonicTimeEnd"].AsInt();
  facts.knows_wall = (wall && monotonic) || !facts.samples.empty();
  if (wall && monotonic) facts.wall_minus_monotonic_ns = SubtractSaturating(*wall, *monotonic);
  if (facts.samples.empty()) return;
  // Of a job that was killed, or whose clock was set meanwhile: what it was at the start.
  constexpr int64_t kJumpNs = 50'000'000;
  const Sample& first = facts.samples.front();
  const int64_t at_start_ns = SubtractSaturating(first.wall_ns, first.monotonic_ns);
  const int64_t jump_ns = SubtractSaturating(facts.wall_minus_monotonic_ns, at_start_ns);
  const bool has_end = wall && monotonic;
  if (!has_end || jump_ns > kJumpNs || jump_ns < -kJumpNs) {
    facts.wall_minus_monotonic_ns = at_start_ns;
  }
}

int64_t TicksToNs(int64_t ticks, int64_t hz) {
  constexpr __int128 kNsPerSecond = 1'000'000'000;
  constexpr __int128 kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(ticks * kNsPerSecond / hz, -kMost, kMost));
}

// [Host] cntvct: 123 / clock_monotonic_raw: 456 / cntvct_diff: 7, with ':' or '='. The counter was
// read `cntvct_diff` ticks before the clock: what the device's data is read by, so that a call of
// the framework and what it called in CANN are on one clock.
void TakeHostStart(std::string_view text, bool knows_frequency, ClockFacts& facts) {
  std::optional<int64_t> counter;
  std::optional<int64_t> monotonic;
  int64_t counter_diff = 0;
  bool is_host = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('[')) is_host = line == "[Host]";
    const size_t separator = line.find_first_of(":=");
    if (!is_host || separator == std::string_view::npos) continue;
    const std::string_view key = Trim(line.substr(0, separator));
    const auto value = ParseInt64(line.substr(separator + 1));
    if (key == "cntvct") counter = value;
    if (key == "clock_monotonic_raw") monotonic = value;
    if (key == "cntvct_diff") counter_diff = value.value_or(0);
  }
  if (!counter || !monotonic) return;
  if (!knows_frequency && !facts.samples.empty()) return;  // then the counter is no CPU's, either
  facts.start_counter = *counter;
  facts.start_monotonic_ns = AddSaturating(*monotonic, TicksToNs(counter_diff, facts.frequency_hz));
  // Our own samples would put the framework on a line of its own, beside that of the device's data.
  if (knows_frequency) facts.samples.clear();
}

// collectionTimeBegin is in microseconds, perhaps with decimals.
bool TakeStartInfo(const std::string& path, ClockFacts& facts) {
  const Result<JsonDocument> document = JsonDocument::ReadFile(path);
  if (!document.ok()) return false;
  const JsonValue root = document->root();
  const auto begin_ns = ParseUsToNs(root["collectionTimeBegin"].ToText());
  const auto monotonic_ns = root["clockMonotonicRaw"].AsInt();
  if (!begin_ns || !monotonic_ns || *begin_ns == *monotonic_ns) return false;
  facts.wall_minus_monotonic_ns = SubtractSaturating(*begin_ns, *monotonic_ns);
  facts.knows_wall = true;
  return true;
}

// The device's own data knows the clocks better than the framework does.
void TakeProf(const std::string& prof, ClockFacts& facts) {
  const std::string host = prof + "/host";
  bool knows_frequency = false;
  if (const Result<JsonDocument> info = JsonDocument::ReadFile(host + "/info.json"); info.ok()) {
    bool is_first = true;
    info->root()["CPU"].ForEachElement([&](JsonValue cpu) {
      constexpr int64_t kCountsNs = 1'000'000'000;  // no counter of the CPU's
      const auto hertz = is_first ? HertzOf(cpu["Frequency"]) : std::nullopt;
      is_first = false;
      if (!hertz || *hertz == kCountsNs) return;
      facts.frequency_hz = *hertz;
      knows_frequency = true;
    });
  }
  if (const Result<std::string> text = ReadFile(host + "/host_start.log"); text.ok()) {
    TakeHostStart(*text, knows_frequency, facts);
  }
  if (TakeStartInfo(host + "/start_info", facts)) return;
  for (const std::string& device : Matching(prof, "device_")) {
    for (const std::string& path : Matching(device, "start_info")) {
      if (TakeStartInfo(path, facts)) return;
    }
  }
}

}  // namespace

ClockFacts ReadClockFacts(const std::string& folder, store::IssueLog& issues) {
  ClockFacts facts;
  for (const std::string& path : Matching(folder, "profiler_info")) {
    const Result<JsonDocument> document = JsonDocument::ReadFile(path);
    if (!document.ok()) continue;  // its own reader says so
    TakeProfilerInfo(document->root(), facts);
    break;
  }
  for (const std::string& path : Matching(folder, "PROF_")) TakeProf(path, facts);
  if (!facts.knows_wall) {
    issues.Add(store::IssueKind::kClockUnknown, folder);
  }
  return facts;
}

}  // namespace steplens::readers
