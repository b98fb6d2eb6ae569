#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/classify/classify.h"
#include "analysis/overlap/overlap.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// A task that carries out a collective on the device: its time is in the collective already.
bool IsDeviceSideOfCollective(std::string_view name);

// The device whose work a track shows: the number in the label of its process ("NPU 3"), of a GPU
// the pid of its process. None where the input does not say it.
int64_t DeviceOfTrack(const store::TraceStore& store, store::TrackId track, Platform platform);

// What one device of a rank did, as intervals sorted by (begin, end). Intervals may overlap
// (streams).
struct DeviceWork {
  int64_t device = store::kNone;  // none where the input does not say
  std::vector<Interval> compute;
  std::vector<Interval> communication;
  std::vector<Interval> memory;   // GPU copies and memsets; the Ascend breakdown does not know them
  std::vector<Interval> receive;  // the hcom_receive operations among `communication`
  // The delivered Overlap Analysis track; empty if there is none.
  std::vector<Interval> delivered_compute;
  std::vector<Interval> delivered_communication;
  Interval reference_range;  // hull of all its slices
};

// The work of a rank, one entry per device, by device id.
//
// Ascend
//   compute: compute rows of kernels (without AicpuKernel and AivKernel, the device side of
//     collectives), else the Computing slices of Overlap Analysis, else the tasks on hardware
//     streams that carry an operator name and are no marks (mstx)
//   communication: comm_ops, else the slices on group tracks, else collective rows of kernels, else
//     Overlap Analysis
// GPU and other back ends of Kineto
//   kernels of communication libraries (NCCL, HCCL, ...) are communication, as are collectives that
//   have a category of their own; copies and memsets are memory, all other kernels compute
// Host only
//   the host is the device: its operators on all threads are compute, comm_ops (gloo) communication
// A device whose events nobody knows has no work here: the host's time is not its.
//
// Work whose device is not known counts for the rank's first device. Empty if nothing ran.
std::vector<DeviceWork> CollectDeviceWork(const store::TraceStore& store);

}  // namespace steplens::analysis
