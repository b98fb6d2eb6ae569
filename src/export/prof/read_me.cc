#include "export/prof/read_me.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "export/text/file_out.h"

namespace steplens::exporting {
namespace {

struct KnownFile {
  std::string_view type;
  std::string_view meaning;
};
constexpr KnownFile kKnownFiles[] = {
    {"msprof", "Timeline of host and device; open it in steplens view or chrome://tracing."},
    {"msprof_tx", "The user's marks and ranges, with their device side."},
    {"step_trace", "Iterations of graphs: forward and backward pass, collectives."},
    {"op_summary",
     "Every operator that ran on the device: time, shapes and counters of its cores."},
    {"op_statistic", "Time of operators by type and core."},
    {"task_time", "Every task of the device's streams."},
    {"api_statistic", "Time of the calls of CANN by layer and name."},
    {"communication_statistic", "Time of collectives by type."},
    {"fusion_op", "Operators that the compiler fused, and the memory of the result."},
    {"static_op_mem", "Memory that graphs set aside for their operators."},
    {"soc_pmu", "How often the address of an access was known, for each task."},
    {"dvpp", "Use of the engines for pictures and videos."},
    {"ai_core_utilization", "Metrics of each AI core over the whole capture."},
    {"ai_vector_core_utilization", "Metrics of each vector core over the whole capture."},
    {"l2_cache", "Hits and victims of the L2 cache for each task."},
    {"npu_mem", "Memory of the device over time."},
    {"npu_module_mem", "Memory that each component of CANN has reserved, over time."},
    {"memory_record", "Memory of the graph engine over time."},
    {"operator_memory", "Blocks of the graph engine from allocation to release."},
    {"aicpu", "Operators on AI CPU, with the parts of their time."},
    {"dp", "Actions of the data queue."},
    {"aicpu_mi", "Waits for the data queue."},
    {"hbm", "Bandwidth of the device's memory."},
    {"ddr", "Bandwidth of the device's DDR."},
    {"llc_read_write", "Hit rate and throughput of the last level cache."},
    {"hccs", "Bandwidth of the links between devices."},
    {"pcie", "Bandwidth and latency of PCIe."},
    {"nic", "Traffic of the network card."},
    {"roce", "Traffic of the RoCE card."},
    {"host_cpu_usage", "Processors of the host that the process used."},
    {"host_mem_usage", "Memory of the host that the process used."},
    {"host_network_usage", "Network of the host."},
    {"host_disk_usage", "Disks of the host."},
    {"os_runtime_statistic", "System and pthread calls of the process."},
};

}  // namespace

Status WriteReadMe(const ProfTarget& target) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(target.dir, error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::string text = "Files of this export (_<time of the export> is left out):\n";
  const std::string end = "_" + target.stamp;
  for (const KnownFile& known : kKnownFiles) {
    for (const std::string& name : names) {
      const size_t at = name.find(end);
      const std::string type = name.substr(0, std::min(at, name.find("_slice_")));
      const std::string kind = at == name.npos ? "" : name.substr(at + end.size());
      if (at == name.npos || type != known.type) continue;
      text += type + kind + ": " + std::string(known.meaning) + "\n";
      if (name.find("_slice_") != name.npos) break;
    }
  }
  return WriteWholeFile(target.dir + "/README.txt", text);
}

}  // namespace steplens::exporting
