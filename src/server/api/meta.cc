#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "analysis/classify/cpu_words.h"
#include "analysis/cluster/host_name.h"
#include "server/api/handlers.h"

namespace steplens::server {
namespace {

using store::TraceStore;

constexpr int64_t kMaxRows = 1000;

std::string NameOf(const std::vector<std::string>& paths) {
  if (paths.empty()) return "memory";
  const std::string name = std::filesystem::path(paths.front()).filename().string();
  return paths.size() == 1 ? name : fmt::format("{} and {} more", name, paths.size() - 1);
}

void WriteDatasetHead(JsonWriter& json, const Dataset& dataset) {
  json.Key("ds").String(dataset.id());
  json.Key("name").String(NameOf(dataset.paths()));
  json.Key("path").String(dataset.paths().empty() ? "" : dataset.paths().front());
  json.Key("ready").Bool(dataset.is_ready());
}

void WriteFile(JsonWriter& json, const store::InputFile& file) {
  json.BeginObject().Key("path").String(file.path);
  json.Key("size").Int(static_cast<int64_t>(file.size_bytes));
  json.Key("used").Bool(file.used).Key("note").String(file.note);
  if (file.read_ns > 0) json.Key("read_ms").Double(static_cast<double>(file.read_ns) / 1e6);
  json.EndObject();
}

void WriteIssues(JsonWriter& json, const store::IssueLog& issues) {
  json.Key("issues").BeginArray();
  for (size_t i = 0; i < static_cast<size_t>(store::IssueKind::kCount); ++i) {
    const auto kind = static_cast<store::IssueKind>(i);
    const store::IssueLog::Entry& entry = issues.entry(kind);
    if (entry.count == 0) continue;
    const store::IssueInfo& info = store::GetIssueInfo(kind);
    json.BeginObject().Key("name").String(info.name);
    json.Key("severity").String(store::SeverityName(info.severity));
    json.Key("count").Int(static_cast<int64_t>(entry.count));
    json.Key("example").String(entry.example).Key("text").String(info.text).EndObject();
  }
  json.EndArray();
}

// The steps of a rank without a timeline: step_trace_time names them, but not when they were.
void WriteStepsOfResults(JsonWriter& json, const TraceStore& store) {
  std::set<int64_t> steps;
  for (size_t i = 0; i < store.step_traces.size(); ++i) {
    if (const int64_t step = store.step_traces.step[i]; step >= 0) steps.insert(step);
  }
  for (const int64_t step : steps)
    json.BeginObject().Key("step").Int(step).Key("begin").Int(0).Key("end").Int(0).EndObject();
}

void WriteRank(JsonWriter& json, const Ask& ask, size_t slot) {
  const ShownRank& rank = *ask.view.ranks()[slot];
  const TraceStore& store = *rank.store;
  const int64_t base_ns = ask.BaseNs(slot);
  json.BeginObject().Key("rank").Int(rank.rank).Key("alias").String("");
  json.Key("source").String(store::SourceName(store.info.source));
  json.Key("format").String(store::FormatName(store.info.format));
  json.Key("level").String(store.info.level);
  json.Key("host").String(analysis::cluster::HostName(store));
  json.Key("device");
  if (store.info.device == store::kNone) {
    json.Null();
  } else {
    json.Int(store.info.device);
  }
  json.Key("path").String(store.info.path).Key("ready").Bool(true);
  json.Key("read_ms").Double(static_cast<double>(rank.read_ns) / 1e6);
  json.Key("cached").Bool(rank.is_from_cache).Key("guessed").Bool(rank.is_number_ours);
  json.Key("offset_ns").Int(SubtractSaturating(base_ns, ask.view.origin_ns()));
  json.Key("is_cpu").Bool(analysis::IsCpuCapture(store));
  json.Key("steps").BeginArray();
  for (const analysis::StepRange& step : rank.timeline->steps()) {
    json.BeginObject().Key("step").Int(step.step);
    json.Key("begin").Int(SubtractSaturating(step.host_begin_ns, base_ns));
    json.Key("end").Int(SubtractSaturating(step.host_end_ns, base_ns));
    json.Key("device").BeginArray().Int(SubtractSaturating(step.begin_ns, base_ns));
    json.Int(SubtractSaturating(step.end_ns, base_ns)).EndArray().EndObject();
  }
  if (rank.timeline->steps().empty()) WriteStepsOfResults(json, store);
  json.EndArray().Key("counts").BeginObject();
  store.ForEachTable([&](const auto& table) {
    if (table.size() > 0) json.Key(table.kName).Int(static_cast<int64_t>(table.size()));
  });
  json.EndObject().Key("files").BeginArray();
  for (const store::InputFile& file : store.info.files) WriteFile(json, file);
  json.EndArray();
  WriteIssues(json, store.issues);
  json.EndObject();
}

// What a page needs and, where that is missing, how to collect it.
struct Need {
  std::string_view what;
  std::string_view flag;
  bool is_there;
};

void WritePage(JsonWriter& json, std::string_view name, const std::vector<Need>& needs) {
  bool available = true;
  for (const Need& need : needs) available = available && need.is_there;
  json.Key(name).BeginObject().Key("available").Bool(available).Key("missing").BeginArray();
  for (const Need& need : needs) {
    if (need.is_there) continue;
    json.BeginObject().Key("what").String(need.what).Key("flag").String(need.flag).EndObject();
  }
  json.EndArray().EndObject();
}

void WritePages(JsonWriter& json, const Ask& ask) {
  bool slices = false;
  bool kernels = false;
  bool memory = false;
  bool communication = false;
  bool passes = false;
  bool pipeline = false;
  bool step_times = false;
  bool rl_tasks = false;
  bool is_ascend = false;
  for (const auto& rank : ask.view.ranks()) {
    const TraceStore& store = *rank->store;
    slices = slices || store.slices.size() > 0;
    passes = passes || rank->has_passes;
    pipeline = pipeline || rank->has_pipeline;
    step_times = step_times || store.step_traces.size() > 0;
    rl_tasks = rl_tasks || rank->has_rl_tasks;
    is_ascend = is_ascend || store::IsAscend(store.info.source);
    kernels = kernels || store.kernels.size() > 0 || store.op_statistics.size() > 0 ||
              (rank->timeline->lanes().front()->flags & kDeviceLane) != 0;
    memory = memory || store.memory_samples.size() > 0 || store.allocations.size() > 0 ||
             store.module_memory.size() > 0;
    communication = communication || store.comm_ops.size() > 0 || store.comm_times.size() > 0 ||
                    store.comm_links.size() > 0;
  }
  json.Key("views").BeginObject();
  WritePage(json, "timeline", {{"a timeline", "activities=[CPU, NPU or CUDA]", slices}});
  WritePage(json, "overview",
            {{"device work, host operators or step_trace_time", "activities=[CPU, NPU or CUDA]",
              slices || kernels || step_times}});
  WritePage(json, "operator", {{"kernels of a device", "activities=[..., NPU or CUDA]", kernels}});
  WritePage(json, "memory", {{"memory records", "profile_memory=True", memory}});
  WritePage(json, "communication",
            {{"collectives",
              is_ascend ? "profiler_level=Level1 on a job of several ranks"
                        : "a job of several ranks (torch.distributed)",
              communication}});
  WritePage(
      json, "pipeline",
      {{"forward and backward passes", "training with operators of the host, or mstx=True", passes},
       {"pipeline parallelism: sends and receives between stages",
        "a job with more than one pipeline stage", pipeline}});
  WritePage(
      json, "rl",
      {{"tasks of a reinforcement learning loop", "mstx=True in verl or MindSpeed-RL", rl_tasks}});
  WritePage(
      json, "cluster",
      {{"two ranks or more", "open the folder that holds all ranks", ask.view.ranks().size() > 1}});
  json.EndObject();
}

}  // namespace

Result<Response> GetInfo(Workspace& workspace) {
  JsonWriter json;
  json.BeginObject().Key("version").String(workspace.options().version);
  json.Key("datasets").BeginArray();
  for (const OpenDataset* open : workspace.All()) {
    json.BeginObject();
    WriteDatasetHead(json, *open->dataset);
    json.EndObject();
  }
  json.EndArray().Key("roots").BeginArray();
  for (const std::string& root : workspace.roots()) json.String(root);
  json.EndArray().Key("limits").BeginObject().Key("tiles").Int(int64_t{kMaxTiles});
  json.Key("rows").Int(kMaxRows).EndObject().EndObject();
  return JsonResponse(std::move(json));
}

Result<Response> GetDataset(const Ask& ask) {
  JsonWriter json;
  json.BeginObject();
  WriteDatasetHead(json, *ask.open.dataset);
  json.Key("origin_ns").String(std::to_string(ask.view.origin_ns()));
  json.Key("generation").Int(ask.view.generation());
  json.Key("tile_set").String(TileSet(ask));
  json.Key("extent").BeginArray().Int(0).Int(ask.view.end_ns()).EndArray();
  json.Key("work")
      .BeginArray()
      .Int(ask.view.work().begin_ns)
      .Int(ask.view.work().end_ns)
      .EndArray();
  json.Key("expected_ranks").Int(static_cast<int64_t>(ask.view.expected_ranks()));
  json.Key("pending").BeginArray();
  for (const int64_t rank : ask.view.PendingRanks()) json.Int(rank);
  json.EndArray().Key("error").String(ask.view.failure());
  json.Key("ranks").BeginArray();
  for (const size_t slot : ask.view.SlotsByRank()) WriteRank(json, ask, slot);
  json.EndArray().Key("ignored").BeginArray();
  for (const store::InputFile& file : ask.view.ignored()) WriteFile(json, file);
  json.EndArray();
  WritePages(json, ask);
  json.EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
