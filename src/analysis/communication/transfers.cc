#include "analysis/communication/transfers.h"

#include <algorithm>
#include <map>

#include "analysis/communication/lower_case.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::TraceStore;

bool IsPayload(const TraceStore& store, uint32_t task) {
  return store.Text(store.comm_tasks.rdma_type[task]) == "RDMA_SEND_PAYLOAD";
}

bool IsSdmaTransfer(const TraceStore& store, uint32_t task) {
  const std::string_view name = store.Text(store.comm_tasks.name[task]);
  return (name == "Memcpy" || name == "Reduce_Inline") &&
         store.Text(store.comm_tasks.transport[task]) == "SDMA";
}

std::string_view TransportOfLink(std::string_view link) {
  if (link == "ON_CHIP") return "LOCAL";
  if (link == "HCCS" || link == "HCCS_SW") return "HCCS";
  if (link == "PCIE" || link == "SIO") return link;
  return "SDMA";
}

Transfer MakeTransfer(const TraceStore& store, uint32_t task, std::string_view transport) {
  const store::CommTaskTable& tasks = store.comm_tasks;
  return {.transport = std::string(transport),
          .src_rank = tasks.src_rank[task],
          .dst_rank = tasks.dst_rank[task],
          .begin_ns = tasks.begin_ns[task],
          .dur_ns = tasks.dur_ns[task],
          .size_bytes = std::max<int64_t>(0, tasks.size_bytes[task])};
}

// `plane`: the tasks of one plane by start.
void AppendRdma(const TraceStore& store, const std::vector<uint32_t>& plane, size_t closing_tasks,
                std::vector<Transfer>& out) {
  for (size_t i = 0; i < plane.size(); ++i) {
    if (!IsPayload(store, plane[i])) continue;
    Transfer transfer = MakeTransfer(store, plane[i], "RDMA");
    transfer.size_bytes = 0;
    size_t last = i;
    for (; last < plane.size() && IsPayload(store, plane[last]); ++last)
      transfer.size_bytes = AddNs(transfer.size_bytes,
                                  std::max<int64_t>(0, store.comm_tasks.size_bytes[plane[last]]));
    const size_t closing = last - 1 + closing_tasks;
    if (closing < plane.size()) {
      const uint32_t task = plane[closing];
      transfer.dur_ns =
          EndNs(store.comm_tasks.begin_ns[task], store.comm_tasks.dur_ns[task]) - transfer.begin_ns;
      out.push_back(transfer);
    }
    i = last - 1;
  }
}

}  // namespace

std::vector<std::vector<uint32_t>> AssignCommTasks(const TraceStore& store) {
  // Clocks of group and plane tracks may differ by a ns or two.
  constexpr int64_t kSlackNs = 1000;
  using Key = std::pair<StringId, StringId>;                            // group, name
  std::map<Key, std::vector<std::pair<int64_t, uint32_t>>> operations;  // (begin, row)
  for (uint32_t row = 0; row < store.comm_ops.size(); ++row) {
    const StringId group = store.comm_ops.group_name[row];
    const std::pair entry(store.comm_ops.begin_ns[row], row);
    operations[{group, store.comm_ops.name[row]}].push_back(entry);
    operations[{group, StringId::kEmpty}].push_back(entry);
  }
  for (auto& [key, list] : operations) std::sort(list.begin(), list.end());
  std::vector<std::vector<uint32_t>> tasks(store.comm_ops.size());
  for (uint32_t row = 0; row < store.comm_tasks.size(); ++row) {
    const auto list =
        operations.find({store.comm_tasks.group_name[row], store.comm_tasks.op_name[row]});
    if (list == operations.end()) continue;
    const std::pair latest(AddNs(store.comm_tasks.begin_ns[row], kSlackNs), store::kNoId);
    auto owner = std::upper_bound(list->second.begin(), list->second.end(), latest);
    if (owner == list->second.begin()) continue;
    tasks[(--owner)->second].push_back(row);
  }
  for (std::vector<uint32_t>& rows : tasks) {
    std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      return store.comm_tasks.begin_ns[a] < store.comm_tasks.begin_ns[b];
    });
  }
  return tasks;
}

std::vector<Transfer> FindTransfers(const TraceStore& store, const std::vector<uint32_t>& tasks,
                                    std::string_view op_name) {
  std::vector<Transfer> transfers;
  std::map<int64_t, std::vector<uint32_t>> planes;
  bool has_payload = false;
  for (const uint32_t task : tasks) {
    if (IsSdmaTransfer(store, task)) {
      const std::string_view link = store.Text(store.comm_tasks.link[task]);
      transfers.push_back(MakeTransfer(store, task, TransportOfLink(link)));
    }
    planes[store.comm_tasks.plane[task]].push_back(task);
    has_payload = has_payload || IsPayload(store, task);
  }
  if (!has_payload) return transfers;
  // A send is followed by a notify and its acknowledgement; a collective exchanges two more.
  const std::string name = LowerCase(op_name);
  const bool is_send = name.find("send") != name.npos || name.find("receive") != name.npos;
  for (const auto& [plane, list] : planes) AppendRdma(store, list, is_send ? 2 : 4, transfers);
  return transfers;
}

bool IsPointToPoint(std::string_view op_name, bool is_mindspore) {
  if (is_mindspore)
    return op_name.find("Send") != op_name.npos || op_name.find("Receive") != op_name.npos;
  const std::string name = LowerCase(op_name);
  if (name.starts_with("hcom_"))
    return name.starts_with("hcom_send") || name.starts_with("hcom_receive") ||
           name.starts_with("hcom_batchsendrecv");
  return name.find("send") != name.npos || name.find("recv") != name.npos;
}

}  // namespace steplens::analysis
