#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// The name of the row that sums up a step's operations of a kind.
inline constexpr std::string_view kTotalOpInfo = "Total Op Info";

// Not a number where the files have no value.
inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

struct PacketFacts {
  double size_mb = 0;  // 10^6 bytes
  double count = 0;
  double total_ms = 0;
};

// Traffic of one operation over one kind of link.
struct TransportFacts {
  std::string transport;  // RDMA, HCCS, PCIE, SDMA, SIO
  double transit_size_mb = 0;
  double transit_ms = 0;
  double bandwidth_gbps = 0;      // no value in totals
  double large_packet_ratio = 0;  // no value in totals
  std::vector<PacketFacts> packets{};
};

struct OperationFacts {
  std::string name;
  std::string group;
  double start_us = kNoValue;  // no value in totals
  double elapse_ms = 0;
  double transit_ms = 0;
  double wait_ms = 0;
  double synchronization_ms = 0;
  double idle_ms = 0;
  double wait_ratio = 0;
  double synchronization_ratio = 0;
  std::vector<TransportFacts> transports;  // all five kinds, in the order above
};

struct LinkFacts {
  int64_t src_rank = 0;
  int64_t dst_rank = 0;
  std::string transport;  // LOCAL, HCCS, PCIE, RDMA, SDMA, SIO
  double transit_size_mb = 0;
  double transit_ms = 0;
  double bandwidth_gbps = 0;
  std::string picked_op;  // empty in 'total'
};

// One entry of the matrix: "allreduce-top1" of a group.
struct MatrixEntry {
  std::string name;
  std::string group;
  std::vector<LinkFacts> links;
};

struct CommunicationClass {
  std::vector<OperationFacts> operations;  // without the total
  OperationFacts total;                    // 'Total Op Info'; meaningful if there are operations
  std::vector<MatrixEntry> matrix;
};

struct CommunicationStep {
  std::string step;  // "step50"; "step" where the run marked none
  CommunicationClass p2p;
  CommunicationClass collective;
};

// The steps with their operations, in order. As comm_times, comm_bandwidths and comm_links hold
// them, with what a db leaves out (ratios, idle link kinds, totals) filled in; a store without
// comm_times gets them from comm_ops and comm_tasks:
//   transfer     Memcpy and Reduce_Inline by SDMA to another chip, and runs of RDMA payload sends
//   times        of the master plane: transit = transfers, wait = Notify_Wait, synchronization =
//                waits before the first transfer, idle = elapse - transit - wait
//   traffic      of all planes, by kind of link
// An operation without tasks (gloo, or a level that records none) is all transit.
std::vector<CommunicationStep> CollectCommunication(const store::TraceStore& store);

// The operations of a store without comm_times, for each step; see above.
std::vector<CommunicationStep> DeriveCommunication(const store::TraceStore& store);

// Name, elapse, transit, wait and synchronization of each row of comm_ops by the tasks of its
// master plane, as above; nothing for rows without tasks.
std::vector<std::optional<OperationFacts>> TimesByTasks(const store::TraceStore& store);

// Sums over operations, with ratios but without start and bandwidth.
OperationFacts SumOperations(const std::vector<OperationFacts>& operations);

// wait / (wait + transit) and the like, 4 decimals; 0 if both are 0.
double CommunicationRatio(double part, double transit);

}  // namespace steplens::analysis
