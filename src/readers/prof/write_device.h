#pragma once

#include <cstdint>
#include <vector>

#include "readers/ascend_db/group_tracks.h"
#include "readers/ascend_db/tracks.h"
#include "readers/prof/aicpu_records.h"
#include "readers/prof/ascend_tasks.h"
#include "readers/prof/collectives.h"
#include "readers/prof/kernel_metrics.h"
#include "readers/prof/write_host.h"

namespace steplens::readers::prof {

// All that is known of one device when its rows are written.
struct DeviceView {
  int64_t device = 0;
  const Control& control;
  const SideClock& clock;
  const SideClock& host_clock;
  const HostRecords& records;
  const HostTasks& host;
  const HostPlaces& places;
  const ApiTree& tree;
  const std::vector<AscendTask>& tasks;
  const Collectives& collectives;
};

class DeviceWriter {
 public:
  DeviceWriter(const DeviceView& view, Dictionary& names, TrackBuilder& tracks, GroupTracks& groups,
               store::TraceStore& out);

  // Collectives and their tasks: rows, and slices of their group and planes.
  void WriteCollectives();
  // Slices of streams. A task that has sub-tasks shows as these.
  void WriteTasks();
  // The device's side of marks.
  void WriteMarks(const std::vector<StepMark>& marks);
  // Parts of the turns of fused collectives, on the streams of their kernels; prof_turns has what a
  // slice cannot say.
  void WriteTurns(const std::vector<AicpuTurn>& turns);
  // Kernels by their begin, collectives among them. Returns which run each row is.
  std::vector<KernelRun> WriteKernels();

 private:
  StringId TaskType(const AscendTask& task);
  StringId DeviceType(const AscendTask& task);
  void AddDeviceTask(const AscendTask& task, StringId type, store::SliceId slice);
  void AddFlow(uint32_t connection, store::TrackId track, int64_t begin_ns);
  void AddSlice(store::TrackId track, int64_t begin_ns, int64_t end_ns, StringId name,
                StringId category, int64_t correlation);
  store::KernelTable::Row KernelRow(const AscendTask& task, const ComputeOp& op);
  store::KernelTable::Row KernelRow(const Collective& collective);
  // Collectives that only AI CPU knows have rows of their own.
  StringId GroupName(bool has_group, uint64_t group, bool is_aicpu);
  const TensorTexts& Tensors(uint32_t set);

  uint32_t ShownTask(TaskKey key) const { return ShownTaskOf(key, Is950(view_.control.chip)); }

  const DeviceView& view_;
  Dictionary& names_;
  TrackBuilder& tracks_;
  GroupTracks& groups_;
  store::TraceStore& out_;
  StringId host_to_device_;
  int64_t first_task_;                     // row of device_tasks of the first of view_.tasks
  std::vector<bool> is_comm_task_;         // by row of tasks
  std::vector<StringId> device_types_[2];  // of tasks and of sub-tasks, by number
  std::vector<TensorTexts> tensor_texts_;
  std::vector<bool> has_tensor_texts_;
};

}  // namespace steplens::readers::prof
