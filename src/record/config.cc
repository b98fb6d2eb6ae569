#include "record/config.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/json_writer.h"

namespace steplens::record {
namespace {

Error Refused(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message)};
}

bool IsKnown(const std::vector<std::string>& values, std::initializer_list<const char*> known,
             std::string* unknown) {
  for (const std::string& value : values) {
    if (std::find(known.begin(), known.end(), value) != known.end()) continue;
    *unknown = value;
    return false;
  }
  return true;
}

template <typename T>
void RemoveRepeated(std::vector<T>& values) {
  std::vector<T> once;
  for (const T& value : values) {
    if (std::find(once.begin(), once.end(), value) == once.end()) once.push_back(value);
  }
  values = std::move(once);
}

Status CheckSteps(const Config& config) {
  if (config.step_start < 1) {
    return Refused(
        fmt::format("--profile-step-start is {}; the first training step is 1", config.step_start));
  }
  if (config.step_end != -1 && config.step_end <= config.step_start) {
    return Refused(fmt::format(
        "--profile-step-end is {} but recording starts at step {}; give the first step that is no "
        "longer recorded ({} or more), or -1 for all steps to the end",
        config.step_end, config.step_start, config.step_start + 1));
  }
  return {};
}

Status CheckRepetition(const Config& config) {
  const auto is_negative = [](int64_t value, const char* option) -> Status {
    if (value >= 0) return {};
    return Refused(fmt::format("{} is {}; 0 or more was expected", option, value));
  };
  SL_RETURN_IF_ERROR(is_negative(config.warmup, "--profile-warmup"));
  SL_RETURN_IF_ERROR(is_negative(config.repeat, "--profile-repeat"));
  SL_RETURN_IF_ERROR(is_negative(config.wait, "--profile-wait"));
  if (config.repeat != 1 && config.step_end == -1) {
    return Refused("--profile-repeat: a recording to the end cannot be repeated");
  }
  return {};
}

Status CheckRanks(const Config& config) {
  for (const int64_t rank : config.ranks) {
    if (rank == -1 && config.ranks.size() == 1) continue;
    if (rank == -1) return Refused("--profile-ranks: -1 means all ranks and stands alone");
    if (rank < 0) return Refused(fmt::format("--profile-ranks: there is no rank {}", rank));
  }
  return {};
}

Status CheckNames(const Config& config) {
  std::string unknown;
  if (!IsKnown(config.export_types, {"text", "db"}, &unknown)) {
    return Refused(fmt::format("--profile-export-type: '{}' is neither text nor db", unknown));
  }
  if (!IsKnown(config.host_sys, {"cpu", "mem", "disk", "network", "osrt", "numa"}, &unknown)) {
    return Refused(
        fmt::format("--host-sys: '{}' is none of cpu, mem, disk, network, osrt, numa", unknown));
  }
  if (config.worker_name.find('/') != std::string::npos || config.worker_name.size() >= 226) {
    return Refused(
        fmt::format("--worker-name: '{}' is not a name of less than 226 letters without a slash",
                    config.worker_name));
  }
  return {};
}

std::string Joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

Machine Machine::Here() {
  Machine machine;
  std::error_code ignored;
  machine.has_npu = std::filesystem::exists("/dev/davinci_manager", ignored);
  for (const char* variable : {"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"}) {
    const char* home = std::getenv(variable);
    if (home == nullptr) continue;
    machine.has_npu |=
        std::filesystem::exists(std::string(home) + "/lib64/libascendcl.so", ignored);
  }
  return machine;
}

namespace {

bool HasMetrics(const Config& config) {
  return !config.aic_metrics.empty() && config.aic_metrics != "AiCoreNone";
}

// What the level and the other switches leave of the switches of the device and of marks.
void SettleDetails(Config& config) {
  const auto note = [&config](const char* option, const char* reason) {
    config.changes.push_back({option, reason});
  };
  if (HasMetrics(config) && (config.level == "level0" || config.level == "level_none")) {
    config.aic_metrics = "AiCoreNone";
    note("--aic-metrics", "none: it needs level1 or level2");
  }
  const auto& types = config.export_types;
  if (config.op_attr && std::find(types.begin(), types.end(), "db") == types.end()) {
    config.op_attr = false;
    note("--op-attr", "off: it needs --profile-export-type db");
  }
  const auto needs_mstx = [&](std::vector<std::string>& domains, const char* option) {
    if (config.mstx || domains.empty()) return;
    domains.clear();
    note(option, "none: domains are those of --mstx");
  };
  needs_mstx(config.mstx_include, "--mstx-domain-include");
  needs_mstx(config.mstx_exclude, "--mstx-domain-exclude");
  if (!config.mstx_include.empty() && !config.mstx_exclude.empty()) {
    config.mstx_exclude.clear();
    note("--mstx-domain-exclude", "none: --mstx-domain-include says which are kept");
  }
  if (config.with_flops && !config.mstx) {
    config.with_flops = false;
    note("--profile-with-flops", "off: FLOPs are marks, which need --mstx");
  }
}

// Says what is asked for and not recorded. The values stay: the program may find a device that is
// not seen from here.
void NoteWithoutEffect(Config& config, const Machine& machine) {
  const auto note = [&config](bool is_asked, const char* option, std::string reason) {
    if (is_asked) config.changes.push_back({option, std::move(reason)});
  };
  note(config.record_op_args, "--record-op-args",
       "no effect: arguments of the device's operators are not dumped");
  if (machine.has_npu) return;
  const char* const no_npu = "no effect: there is no NPU here";
  note(HasMetrics(config), "--aic-metrics", no_npu);
  note(config.l2_cache, "--l2-cache", no_npu);
  note(config.op_attr, "--op-attr", no_npu);
  note(config.sys_io, "--sys-io", no_npu);
  note(config.sys_interconnection, "--sys-interconnection", no_npu);
  std::vector<std::string> of_vendor = config.host_sys;
  std::erase_if(of_vendor,
                [](const std::string& source) { return source != "osrt" && source != "numa"; });
  note(!of_vendor.empty(), "--host-sys",
       fmt::format("no effect of {}: there is no NPU here, whose tools sample it",
                   fmt::join(of_vendor, ", ")));
}

}  // namespace

void ApplyMindSpeedRules(const GivenSettings& given, Config& config) {
  const auto note = [&config](const char* option, std::string reason) {
    config.changes.push_back({option, std::move(reason)});
  };
  if (!given.step_start) config.step_start = 0;
  if (!given.step_end) config.step_end = -1;
  if (!given.ranks) config.ranks = {0};
  if (!given.level) config.level = "level0";
  if (!given.save_path) config.save_path = "./profile";
  if (config.step_start < 0) {
    note("--profile-step-start",
         fmt::format("{} is negative: the first step is used", config.step_start));
  }
  config.step_start = std::max<int64_t>(1, config.step_start);  // steps count from 1
  if (config.step_end != -1 && config.step_end <= config.step_start) {
    note("--profile-step-end", fmt::format("{} is not after step {}: one step is recorded",
                                           config.step_end, config.step_start));
    config.step_end = config.step_start + 1;
  }
  if (std::find(config.ranks.begin(), config.ranks.end(), -1) != config.ranks.end()) {
    config.ranks = {-1};
  }
}

Status Settle(Config& config, const Machine& machine) {
  SL_RETURN_IF_ERROR(CheckSteps(config));
  SL_RETURN_IF_ERROR(CheckRepetition(config));
  SL_RETURN_IF_ERROR(CheckRanks(config));
  SL_RETURN_IF_ERROR(CheckNames(config));
  if (config.gc_threshold_ms && *config.gc_threshold_ms < 0) {
    return Refused("--gc-detect-threshold: milliseconds, not negative");
  }
  RemoveRepeated(config.ranks);
  RemoveRepeated(config.export_types);
  RemoveRepeated(config.host_sys);
  if (!machine.has_npu && !config.with_cpu) {
    config.with_cpu = true;
    config.changes.push_back(
        {"--profile-with-cpu", "on: there is no NPU here, so the CPU is the device"});
  }
  const auto needs_cpu = [&config](bool& setting, const char* option) {
    if (!setting || config.with_cpu) return;
    setting = false;
    config.changes.push_back({option, "off: it needs --profile-with-cpu"});
  };
  needs_cpu(config.with_stack, "--profile-with-stack");
  needs_cpu(config.with_modules, "--profile-with-modules");
  needs_cpu(config.record_shapes, "--profile-record-shapes");
  if (config.level == "level_none" && !config.mstx) {
    config.mstx = true;
    config.changes.push_back({"--mstx", "on: of the device level_none records marks alone"});
  }
  SettleDetails(config);
  NoteWithoutEffect(config, machine);
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(config.save_path, ignored);
  if (!absolute.empty()) config.save_path = absolute.lexically_normal().string();
  return {};
}

std::string ToJson(const Config& config) {
  JsonWriter json;
  json.BeginObject();
  const auto texts = [&json](std::string_view key, const std::vector<std::string>& values) {
    json.Key(key).BeginArray();
    for (const std::string& value : values) json.String(value);
    json.EndArray();
  };
  json.Key("profile_step_start").Int(config.wait_for_start ? -1 : config.step_start);
  json.Key("profile_step_end").Int(config.step_end);
  json.Key("profile_ranks").BeginArray();
  for (const int64_t rank : config.ranks) json.Int(rank);
  json.EndArray();
  json.Key("profile_level").String(config.level);
  texts("profile_export_type", config.export_types);
  json.Key("profile_data_simplification").Bool(config.data_simplification);
  json.Key("profile_with_cpu").Bool(config.with_cpu);
  json.Key("profile_with_stack").Bool(config.with_stack);
  json.Key("profile_with_modules").Bool(config.with_modules);
  json.Key("profile_with_memory").Bool(config.with_memory);
  json.Key("profile_record_shapes").Bool(config.record_shapes);
  json.Key("profile_warmup").Int(config.warmup);
  json.Key("profile_repeat").Int(config.repeat);
  json.Key("profile_wait").Int(config.wait);
  json.Key("profile_with_flops").Bool(config.with_flops);
  if (!config.aic_metrics.empty()) json.Key("aic_metrics").String(config.aic_metrics);
  json.Key("l2_cache").Bool(config.l2_cache);
  json.Key("op_attr").Bool(config.op_attr);
  json.Key("record_op_args").Bool(config.record_op_args);
  json.Key("mstx").Bool(config.mstx);
  texts("mstx_domain_include", config.mstx_include);
  texts("mstx_domain_exclude", config.mstx_exclude);
  json.Key("sys_io").Bool(config.sys_io);
  json.Key("sys_interconnection").Bool(config.sys_interconnection);
  texts("host_sys", config.host_sys);
  json.Key("worker_name").String(config.worker_name);
  json.Key("gc_threshold_ms");
  config.gc_threshold_ms ? json.Double(*config.gc_threshold_ms) : json.Null();
  json.Key("profile_save_path").String(config.save_path);
  json.Key("profile_analyse").String(config.analyse);
  json.Key("job").String(config.job);
  json.Key("control_dir").String(config.control_dir);
  return json.EndObject().Take();
}

table::Table ToTable(const Config& config) {
  table::Table table("recording");
  const size_t option = table.AddColumn("Option", table::CellType::kText);
  const size_t value = table.AddColumn("Value", table::CellType::kText);
  const size_t reason = table.AddColumn("Changed, because", table::CellType::kText);
  const auto add = [&](std::string_view name, std::string_view text) {
    table.AppendText(option, name);
    table.AppendText(value, text);
    std::string why;
    for (const Change& change : config.changes) {
      if (change.option == name) why += (why.empty() ? "" : "; ") + change.reason;
    }
    table.AppendText(reason, why);
  };
  const auto flag = [&](std::string_view name, bool is_set) { add(name, is_set ? "on" : "off"); };
  add("--profile-step-start", std::to_string(config.step_start));
  add("--profile-step-end",
      config.step_end == -1 ? "-1 (to the end)" : std::to_string(config.step_end));
  add("--profile-warmup", std::to_string(config.warmup));
  add("--profile-repeat", config.repeat == 0 ? "0 (without end)" : std::to_string(config.repeat));
  add("--profile-wait", std::to_string(config.wait));
  add("--profile-ranks", config.ranks == std::vector<int64_t>{-1}
                             ? "-1 (all)"
                             : fmt::format("{}", fmt::join(config.ranks, " ")));
  add("--profile-level", config.level);
  add("--profile-export-type", Joined(config.export_types));
  flag("--profile-data-simplification", config.data_simplification);
  flag("--profile-with-cpu", config.with_cpu);
  flag("--profile-with-stack", config.with_stack);
  flag("--profile-with-modules", config.with_modules);
  flag("--profile-with-memory", config.with_memory);
  flag("--profile-record-shapes", config.record_shapes);
  const auto list = [&](std::string_view name, const std::vector<std::string>& values) {
    add(name, values.empty() ? "none" : Joined(values));
  };
  flag("--profile-with-flops", config.with_flops);
  add("--aic-metrics", config.aic_metrics.empty() ? "default" : config.aic_metrics);
  flag("--l2-cache", config.l2_cache);
  flag("--op-attr", config.op_attr);
  flag("--record-op-args", config.record_op_args);
  flag("--mstx", config.mstx);
  list("--mstx-domain-include", config.mstx_include);
  list("--mstx-domain-exclude", config.mstx_exclude);
  flag("--sys-io", config.sys_io);
  flag("--sys-interconnection", config.sys_interconnection);
  list("--host-sys", config.host_sys);
  add("--gc-detect-threshold",
      config.gc_threshold_ms ? fmt::format("{} ms", *config.gc_threshold_ms) : "off");
  add("--profile-save-path", config.save_path);
  add("--worker-name", config.worker_name.empty() ? "the host's" : config.worker_name);
  add("--analyse", config.analyse);
  flag("--wait-for-start", config.wait_for_start);
  add("--job", config.job.empty() ? "none" : config.job);
  return table;
}

}  // namespace steplens::record
