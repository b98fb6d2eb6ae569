#include "readers/chrome/known_args.h"

#include <algorithm>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace steplens::readers {
namespace {

struct NamedArg {
  std::string_view key;
  KnownArg arg;
};

// By the first letter of the key.
constexpr std::array kNamed = {
    NamedArg{"Addr", KnownArg::kAddr},
    NamedArg{"Bytes", KnownArg::kBytes},
    NamedArg{"Call stack", KnownArg::kCallStack},
    NamedArg{"Collective name", KnownArg::kCollectiveName},
    NamedArg{"Concrete Inputs", KnownArg::kConcreteInputs},
    NamedArg{"Device Id", KnownArg::kDeviceId},
    NamedArg{"Device Type", KnownArg::kDeviceType},
    NamedArg{"Fwd thread id", KnownArg::kFwdThreadId},
    NamedArg{"In msg nelems", KnownArg::kInMsgNelems},
    NamedArg{"Input Dims", KnownArg::kInputDims},
    NamedArg{"Input Strides", KnownArg::kInputStrides},
    NamedArg{"Input strides", KnownArg::kInputStrides},
    NamedArg{"Input type", KnownArg::kInputType},
    NamedArg{"Process Group Name", KnownArg::kProcessGroupName},
    NamedArg{"Sequence number", KnownArg::kSequenceNumber},
    NamedArg{"Task Type", KnownArg::kTaskType},
    NamedArg{"Total Allocated", KnownArg::kTotalAllocated},
    NamedArg{"Total Reserved", KnownArg::kTotalReserved},
    NamedArg{"acc_id", KnownArg::kAccId},
    NamedArg{"alg_type", KnownArg::kAlgType},
    NamedArg{"bytes", KnownArg::kCopyBytes},
    NamedArg{"connection_id", KnownArg::kCorrelation},
    NamedArg{"correlation", KnownArg::kCorrelation},
    NamedArg{"correlation_id", KnownArg::kCorrelation},
    NamedArg{"count", KnownArg::kCount},
    NamedArg{"data type", KnownArg::kTaskDataType},
    NamedArg{"data_type", KnownArg::kDataType},
    NamedArg{"device", KnownArg::kDevice},
    NamedArg{"domain", KnownArg::kDomain},
    NamedArg{"dst rank", KnownArg::kDstRank},
    NamedArg{"dtype", KnownArg::kDtype},
    NamedArg{"event_type", KnownArg::kEventType},
    NamedArg{"labels", KnownArg::kLabels},
    NamedArg{"link type", KnownArg::kLinkType},
    NamedArg{"memory bandwidth (GB/s)", KnownArg::kMemoryBandwidth},
    NamedArg{"name", KnownArg::kName},
    NamedArg{"notify_id", KnownArg::kNotifyId},
    NamedArg{"rdma type", KnownArg::kRdmaType},
    NamedArg{"size(Byte)", KnownArg::kSizeByte},
    NamedArg{"sort_index", KnownArg::kSortIndex},
    NamedArg{"src rank", KnownArg::kSrcRank},
    NamedArg{"stream", KnownArg::kStream},
    NamedArg{"stream id", KnownArg::kStreamId},
    NamedArg{"task id", KnownArg::kTaskId},
    NamedArg{"transport type", KnownArg::kTransportType},
};
static_assert(std::is_sorted(kNamed.begin(), kNamed.end(), [](const auto& a, const auto& b) {
  return a.key.front() < b.key.front();
}));

// Where in kNamed the keys with a first letter begin.
constexpr auto kFirst = [] {
  std::array<uint8_t, 257> first{};
  for (size_t letter = 0; letter < first.size(); ++letter) {
    while (first[letter] < kNamed.size() &&
           static_cast<unsigned char>(kNamed[first[letter]].key.front()) < letter) {
      ++first[letter];
    }
  }
  return first;
}();

}  // namespace

size_t ArgIndex::Add(const char* key, size_t place) {
  const auto letter = static_cast<unsigned char>(*key);
  for (size_t i = kFirst[letter]; i < kFirst[letter + 1]; ++i) {
    const auto& [name, arg] = kNamed[i];
    if (key[name.size()] != '"' || std::memcmp(key, name.data(), name.size()) != 0) continue;
    uint8_t& to = places_[static_cast<size_t>(arg)];
    const size_t before = to;
    if (to == 0 || arg == KnownArg::kCorrelation) to = static_cast<uint8_t>(place + 1);
    return before;
  }
  return 0;
}

std::vector<size_t> ArgIndex::LeaveOutUnknown() {
  std::vector<size_t> kept;
  for (const size_t place : places_) {
    if (place != 0) kept.push_back(place - 1);
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (uint8_t& place : places_) {
    if (place == 0) continue;
    const auto found = std::lower_bound(kept.begin(), kept.end(), place - size_t{1});
    place = static_cast<uint8_t>(found - kept.begin() + 1);
  }
  return kept;
}

}  // namespace steplens::readers
