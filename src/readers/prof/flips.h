#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "readers/prof/host_records.h"

// Ids of a stream's tasks have 16 bits and begin again; each time a flip is recorded.
namespace steplens::readers::prof {

struct Flip {
  uint64_t time = 0;
  uint32_t task = 0;  // id of the first task after it; 0 or all ones: not known
};
using FlipsByStream = std::map<uint32_t, std::vector<Flip>>;

// Takes the flips out of the host's tasks and numbers the others with them; tasks of no interest
// (maintenance, other kinds of devices) go as well. `keep_reported`: the numbers that the driver
// reported stay. The tasks are in the order of their times afterwards.
void NumberHostTasks(std::vector<LaunchedTask>& tasks, bool keep_reported);

// Sets `batch` of one stream's records on the device. `rows` are in the order of their times.
template <typename Row>
void NumberDeviceRows(std::span<Row*> rows, std::vector<Flip> flips) {
  std::sort(flips.begin(), flips.end(),
            [](const Flip& a, const Flip& b) { return a.time < b.time; });
  size_t seen = 0;      // rows up to the flip
  size_t numbered = 0;  // rows that have their number
  uint32_t batch = 0;
  for (const Flip& flip : flips) {
    const size_t begin = seen;
    while (seen < rows.size() && rows[seen]->time <= flip.time) ++seen;
    size_t last = seen;
    // Records of tasks behind the flip may be older than that of the flip itself.
    if (seen > begin && flip.task != 0 && flip.task != 0xFFFF) {
      while (last > 1 && rows[last - 1]->task <= flip.task) --last;
    }
    while (numbered < last) rows[numbered++]->batch = batch;
    ++batch;
  }
  while (numbered < rows.size()) rows[numbered++]->batch = batch;
}

// The same for the records of all streams.
template <typename Row>
void NumberDeviceRows(std::vector<Row>& rows, const FlipsByStream& flips) {
  if (flips.empty()) return;
  std::map<uint32_t, std::vector<Row*>> streams;
  for (Row& row : rows) {
    if (flips.contains(row.stream)) streams[row.stream].push_back(&row);
  }
  for (auto& [stream, list] : streams) {
    std::stable_sort(list.begin(), list.end(),
                     [](const Row* a, const Row* b) { return a->time < b->time; });
    NumberDeviceRows<Row>(std::span<Row*>(list), flips.at(stream));
  }
}

}  // namespace steplens::readers::prof
