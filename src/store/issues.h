#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

// Problems with single records of the input: counted, with the first one kept as an example; the
// rest of the input is used. `steplens info` lists them, --strict turns them into errors.
#define SL_IMPORT_ISSUES(X)                                                                        \
  X(kTraceTruncated, kDataLoss,                                                                    \
    "The trace text ends in the middle; events before the end are used.")                          \
  X(kEventDamaged, kDataLoss, "A trace event is not valid JSON and was skipped.")                  \
  X(kEventWithoutTs, kDataLoss, "A trace event has no usable 'ts' and was skipped.")               \
  X(kEventWithoutDur, kDataLoss, "A complete event has no usable 'dur'; 0 is used.")               \
  X(kNegativeDuration, kDataLoss, "A duration is negative; 0 is used.")                            \
  X(kJsonKeyRepeated, kDataLoss, "A JSON object has a key twice; only one of the values is used.") \
  X(kTextBehindEnd, kDataLoss, "Something follows the end of the trace; it is not used.")          \
  X(kEventKindIgnored, kInfo, "An event of a kind that steplens does not use was skipped.")        \
  X(kBeginWithoutEnd, kDataLoss, "A 'B' event has no matching 'E' (or the other way round).")      \
  X(kFlowWithoutStart, kInfo, "A flow end has no start; the arrow is dropped.")                    \
  X(kFlowWithoutEnd, kInfo, "A flow start has no end; the arrow is dropped.")                      \
  X(kFlowIdInvalid, kDataLoss, "The id of a flow contradicts what it connects.")                   \
  X(kDeviceUnknown, kDataLoss,                                                                     \
    "An event of a device has a category that steplens does not know; its time is not counted.")   \
  X(kInvalidUtf8, kInfo, "A text is not valid UTF-8; the bad bytes are shown as '?' or U+FFFD.")   \
  X(kCsvColumnMissing, kDataLoss, "A column that is expected in this file is missing.")            \
  X(kCsvCellNotANumber, kDataLoss,                                                                 \
    "A cell that should be a number is not; it counts as not known.")                              \
  X(kCsvRowTooShort, kDataLoss, "A row has fewer cells than the header; it was skipped.")          \
  X(kCsvRowTooLong, kInfo, "A row has more cells than the header; the extra ones are ignored.")    \
  X(kCsvTruncated, kDataLoss, "The file ends inside a row; the unfinished row was skipped.")       \
  X(kCsvLastRowOpen, kInfo, "The last row has no line end; it is used, but may have been cut.")    \
  X(kStepValueInvalid, kDataLoss, "A part of a step is negative or longer than a step can be.")    \
  X(kJsonFieldInvalid, kDataLoss, "A field of a result file does not have the expected form.")     \
  X(kDbTableUnreadable, kDataLoss, "A table of the database could not be read completely.")        \
  X(kDbColumnMissing, kDataLoss, "A table of the database lacks a column that is expected.")       \
  X(kDbRowInvalid, kDataLoss, "A row of the database has unusable values and was skipped.")        \
  X(kRecordDamaged, kDataLoss, "A raw record is damaged and was skipped.")                         \
  X(kRecordsTruncated, kDataLoss,                                                                  \
    "A raw file ends in the middle of a record; the records before it are used.")                  \
  X(kRecordsDropped, kDataLoss,                                                                    \
    "The recorder lost records: its buffers were full, or they could not be written.")             \
  X(kCaptureUnfinished, kDataLoss,                                                                 \
    "The recording was not ended, as when its process is killed; what was written is used.")       \
  X(kClockUnknown, kDataLoss,                                                                      \
    "The capture does not say how its clock relates to the time of day; times begin at 0.")        \
  X(kCallWithoutReturn, kInfo,                                                                     \
    "A start has no end (or the other way round) at the edge of the capture.")                     \
  X(kFileUnreadable, kDataLoss, "A file of the profile could not be read and was left out.")       \
  X(kDuplicateRank, kInfo,                                                                         \
    "Another path has the same rank; this capture is shown under a number of its own.")            \
  X(kRankUnknown, kInfo, "The input does not say which rank it is; a number was chosen.")

namespace steplens::store {

enum class Severity : uint8_t { kInfo, kDataLoss };

enum class IssueKind : uint8_t {
#define SL_ISSUE_ENUM_(kind, severity, text) kind,
  SL_IMPORT_ISSUES(SL_ISSUE_ENUM_)
#undef SL_ISSUE_ENUM_
      kCount
};

struct IssueInfo {
  std::string_view name;  // "EventWithoutTs"
  Severity severity;
  std::string_view text;
};
const IssueInfo& GetIssueInfo(IssueKind kind);
std::string_view SeverityName(Severity severity);  // "info", "data_loss"

// Counters per kind. A reader task fills its own and they are merged in order.
class IssueLog {
 public:
  struct Entry {
    uint64_t count = 0;
    std::string example;  // "trace_view.json: byte 1234: ..."; where and what was found
  };
  void Add(IssueKind kind, std::string_view example, uint64_t count = 1);
  // Cheaper when a million rows share a problem: counts only, unless it is the first.
  bool IsFirst(IssueKind kind) const { return entry(kind).count == 0; }
  void Merge(const IssueLog& other);
  void Forget(IssueKind kind) { entries_[static_cast<size_t>(kind)] = {}; }
  const Entry& entry(IssueKind kind) const { return entries_[static_cast<size_t>(kind)]; }
  bool empty() const;

 private:
  std::array<Entry, static_cast<size_t>(IssueKind::kCount)> entries_;
};

}  // namespace steplens::store
