#include "collect/auto_config.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "collect/clock.h"
#include "collect/json_text.h"
#include "steplens/collect.h"

namespace steplens::collect {

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

namespace {

// One text or a list of them.
std::vector<std::string> Texts(std::string_view value) {
  std::vector<std::string> texts;
  if (const std::optional<std::string> one = JsonString(value)) return {*one};
  for (const std::string& element : JsonElements(value).value_or(std::vector<std::string>())) {
    if (const std::optional<std::string> text = JsonString(element)) texts.push_back(*text);
  }
  return texts;
}

// One number or a list of them.
std::vector<int64_t> Integers(std::string_view value) {
  std::vector<int64_t> numbers;
  if (const std::optional<int64_t> one = ParseInteger(value)) return {*one};
  for (const std::string& element : JsonElements(value).value_or(std::vector<std::string>())) {
    if (const std::optional<int64_t> number = ParseInteger(element)) numbers.push_back(*number);
  }
  return numbers;
}

// "level1" -> "Level1", as profiler_info has it.
std::string LevelName(std::string text) {
  if (!text.empty() && text[0] == 'l') text[0] = 'L';
  return text;
}

uint32_t HostSources(const std::vector<std::string>& names) {
  uint32_t bits = 0;
  for (const std::string& name : names) {
    if (name == "cpu") bits |= SL_HOST_CPU;
    if (name == "mem") bits |= SL_HOST_MEMORY;
    if (name == "disk") bits |= SL_HOST_DISK;
    if (name == "network") bits |= SL_HOST_NETWORK;
  }
  return bits;
}

void Set(std::string_view key, std::string_view value, AutoConfig* config) {
  if (key == "profile_step_start" || key == "profile_step_end") {
    const std::optional<int64_t> step = ParseInteger(value);
    if (!step) return;
    config->has_steps = true;
    (key == "profile_step_start" ? config->step_start : config->step_end) = *step;
  } else if (key == "profile_ranks") {
    const std::vector<int64_t> ranks = Integers(value);
    if (!ranks.empty()) config->ranks = ranks;
  } else if (key == "profile_level") {
    if (const auto text = JsonString(value)) config->level = LevelName(*text);
  } else if (key == "profile_export_type") {
    const std::vector<std::string> types = Texts(value);
    if (!types.empty()) config->export_types = types;
  } else if (key == "host_sys") {
    config->host_sources = HostSources(Texts(value));
  } else if (key == "profile_save_path" || key == "save_path") {
    const auto text = JsonString(value);
    if (text && !text->empty()) config->save_path = *text;
  } else if (key == "wait_for_start") {
    config->wait_for_start = value == "true";
  } else if (key == "profile_analyse") {
    config->analyse = JsonString(value).value_or("no");
  } else if (key == "control_dir") {
    config->control_dir = JsonString(value).value_or("");
  }
}

// Now, or a little later: two captures of a process never get the same.
int64_t NewMilliseconds() {
  static std::atomic<int64_t> last_ms{0};
  const int64_t now_ms = ClockNs(CLOCK_REALTIME) / 1'000'000;
  int64_t last = last_ms.load();
  int64_t next = 0;
  do {
    next = now_ms > last || now_ms < last - 1000 ? now_ms : last + 1;  // the clock may be set back
  } while (!last_ms.compare_exchange_weak(last, next));
  return next;
}

}  // namespace

std::optional<AutoConfig> ParseAutoConfig(std::string_view json) {
  const auto members = JsonMembers(json);
  if (!members) return std::nullopt;
  AutoConfig config;
  for (const auto& [key, value] : *members) Set(key, value, &config);
  config.wait_for_start = config.wait_for_start || config.step_start == -1;
  return config;
}

bool IsRankWanted(const AutoConfig& config, int64_t rank) {
  if (config.ranks == std::vector<int64_t>{-1}) return true;
  const int64_t wanted = std::max<int64_t>(rank, 0);
  return std::find(config.ranks.begin(), config.ranks.end(), wanted) != config.ranks.end();
}

std::string ConfigJson(const AutoConfig& config) {
  std::string types;
  for (const std::string& type : config.export_types) {
    types += (types.empty() ? "" : ", ") + QuoteJson(type);
  }
  return R"({"common_config": {"activities": ["ProfilerActivity.CPU"], "schedule": null, )"
         R"("record_shapes": false, "profile_memory": false, "with_stack": false, )"
         R"("with_flops": false, "with_modules": false}, "experimental_config": {)"
         R"("_profiler_level": )" +
         QuoteJson(config.level) +
         R"(, "_aic_metrics": "ACL_AICORE_NONE", "_l2_cache": false, "_msprof_tx": false, )"
         R"("_mstx": true, "_data_simplification": false, "record_op_args": false, )"
         R"("_op_attr": false, "_gc_detect_threshold": null, "_export_type": [)" +
         types + "]}}";
}

int64_t RankFromEnvironment(bool* is_text) {
  *is_text = false;
  for (const char* name :
       {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    const std::optional<int64_t> rank = ParseInteger(text);
    if (!rank || *rank < 0) continue;
    *is_text = std::string_view(name) == "RANK";
    return *rank;
  }
  return -1;
}

std::string CaptureName(std::string_view worker) {
  char host[256] = {};
  if (worker.empty()) {
    gethostname(host, sizeof(host) - 1);
    worker = host;
  }
  const int64_t now_ms = NewMilliseconds();
  const auto seconds = static_cast<time_t>(now_ms / 1000);
  tm local = {};
  localtime_r(&seconds, &local);
  char time[32];
  std::strftime(time, sizeof(time), "%Y%m%d%H%M%S", &local);
  char milliseconds[16];
  std::snprintf(milliseconds, sizeof(milliseconds), "%03d", static_cast<int>(now_ms % 1000));
  return std::string(worker) + "_" + std::to_string(getpid()) + "_" + time + milliseconds +
         "_ascend_pt";
}

}  // namespace steplens::collect
