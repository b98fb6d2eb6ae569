#include "analysis/kernels/kernel_places.h"

#include "analysis/cells.h"
#include "analysis/viewer/metrics.h"

// Kernels with the module and the line of the program that launched them.

namespace steplens::analysis::viewer {

using store::TraceStore;

Result<MetricAnswer> KernelPlaces(const MetricCall& call) {
  TableRows rows("kernel_places",
                 {IntColumn("rank"), IntColumn("step"), IntColumn("device"), IntColumn("stream"),
                  TextColumn("name"), TextColumn("type"), TextColumn("core"), IntColumn("begin_ns"),
                  IntColumn("dur_ns"), IntColumn("wait_ns"), IntColumn("block_dim"),
                  TextColumn("input_shapes"), TextColumn("input_types"), TextColumn("module"),
                  TextColumn("python")});
  bool has_modules = false;
  bool has_frames = false;
  for (const TraceStore& store : call.job.ranks) {
    SL_RETURN_IF_ERROR(StillWanted());
    const store::KernelTable& k = store.kernels;
    const std::vector<KernelPlace> places = FindKernelPlaces(store);
    for (size_t i = 0; i < k.size(); ++i) {
      has_modules = has_modules || !places[i].module.empty();
      has_frames = has_frames || !places[i].python.empty();
      rows.Add(store.info.rank, k.step[i], k.device[i], k.stream[i], store.Text(k.name[i]),
               store.Text(k.type[i]), store.Text(k.core[i]), k.begin_ns[i], k.dur_ns[i],
               k.wait_ns[i], k.block_dim[i], store.Text(k.input_shapes[i]),
               store.Text(k.input_types[i]), places[i].module, places[i].python);
    }
  }
  MetricAnswer answer;
  answer.definition = "steplens.kernel_places";
  answer.query = "SELECT * FROM kernels";
  if (!has_modules) answer.warnings.push_back(Message{"warning.no_modules"});
  if (!has_frames) answer.warnings.push_back(Message{"warning.no_stacks"});
  answer.tables.push_back(rows.Take());
  return answer;
}

}  // namespace steplens::analysis::viewer
