#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace steplens::readers {

// The args the reader looks at. Whoever takes an event apart says which of its args are these;
// whoever uses them asks by name and compares no text.
enum class KnownArg : uint8_t {
  kAccId,
  kAddr,
  kAlgType,
  kBytes,
  kCallStack,
  kCollectiveName,
  kConcreteInputs,
  kCorrelation,  // connection_id, correlation or correlation_id
  kCopyBytes,    // of a copy: bytes
  kCount,
  kDataType,  // of a collective: data_type
  kDevice,
  kDeviceId,
  kDeviceType,
  kDomain,
  kDstRank,
  kDtype,
  kEventType,
  kFwdThreadId,
  kInMsgNelems,
  kInputDims,
  kInputStrides,
  kInputType,
  kLabels,
  kLinkType,
  kMemoryBandwidth,
  kName,
  kNotifyId,
  kProcessGroupName,
  kRdmaType,
  kSequenceNumber,
  kSizeByte,
  kSortIndex,
  kSrcRank,
  kStream,
  kStreamId,
  kTaskDataType,  // of a task of a collective: data type
  kTaskId,
  kTaskType,
  kTotalAllocated,
  kTotalReserved,
  kTransportType,
  kNumberOfThem,
};

// Which args of an event are known ones: 1 + the place of each, 0 if the event does not have it. If
// a key repeats the first counts, of correlations the last.
class ArgIndex {
 public:
  void Clear() { places_ = {}; }
  // `key` is the text behind the opening quote, with kParserPadding readable bytes.
  // Returns what was known of the arg before, as operator[] does.
  size_t Add(const char* key, size_t place);
  size_t operator[](KnownArg arg) const { return places_[static_cast<size_t>(arg)]; }
  // Leaves out the args that are not known: numbers the others anew, in their order, and gives the
  // places they had.
  std::vector<size_t> LeaveOutUnknown();

 private:
  std::array<uint8_t, static_cast<size_t>(KnownArg::kNumberOfThem)> places_{};
};

}  // namespace steplens::readers
