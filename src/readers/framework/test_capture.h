#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/framework.h"
#include "readers/framework/framework.h"

namespace steplens::readers::framework_test {

// The raw files of a capture in memory; times are nanoseconds unless a clock is given.
class TestCapture {
 public:
  std::vector<uint8_t>& File(FrameworkFile kind) {
    for (auto& [known, bytes] : files_) {
      if (known == kind) return bytes;
    }
    return files_.emplace_back(kind, std::vector<uint8_t>()).second;
  }

  void Op(std::string_view name, int64_t start, int64_t end, uint64_t thread = 1,
          int64_t sequence = -1, uint64_t forward_thread = 0, uint8_t scope = 0) {
    format::OpRange op;
    op.start = start;
    op.end = end;
    op.sequence = sequence;
    op.process_id = 5;
    op.start_thread = op.end_thread = thread;
    op.forward_thread = forward_thread;
    op.scope = scope;
    AppendRecord(File(FrameworkFile::kOpRange), format::kOpRangeRecord, op)
        .Field(format::kOpName, name);
  }
  // Any framed record with texts by tag.
  template <typename T>
  void Add(FrameworkFile kind, format::RecordType type, const T& record,
           std::initializer_list<std::pair<uint16_t, std::string_view>> fields) {
    format::TlvWriter writer = AppendRecord(File(kind), type, record);
    for (const auto& [tag, text] : fields) writer.Field(tag, text);
  }
  void Queue(std::string_view name, int64_t time, uint64_t category, uint64_t correlation,
             uint64_t thread) {
    const format::OpMark mark{time, category, correlation, thread, 5};
    AppendRecord(File(FrameworkFile::kOpMark), format::kOpMarkRecord, mark)
        .Field(format::kOpMarkName, name);
  }
  void Python(uint64_t time, uint64_t key, uint8_t tag, uint64_t thread = 1) {
    AppendBare(File(FrameworkFile::kPythonCalls), format::PythonCall{time, thread, 5, key, tag});
  }
  void PythonName(uint64_t key, std::string_view text) {
    AppendRecord(File(FrameworkFile::kPythonNames), format::kPythonNameRecord, format::Keyed{key})
        .Field(format::kKeyText, text);
  }
  void Memory(int64_t address, int64_t time, int64_t size, uint8_t kind, uint64_t thread = 1,
              int64_t allocated = 0) {
    format::MemoryUsage event;
    event.address = address;
    event.time = time;
    event.size = size;
    event.total_allocated = allocated;
    event.device_type = 20;
    event.kind = kind;
    event.thread_id = thread;
    event.process_id = 5;
    AppendRecord(File(FrameworkFile::kMemoryUsage), format::kMemoryRecord, event);
  }

  store::TraceStore Read(const RawClock& clock = RawClock(),
                         const ReadOptions& options = {}) const {
    std::vector<FrameworkInput> inputs;
    for (const auto& [kind, bytes] : files_) {
      inputs.push_back({kind, "test", MakeMemorySource(format::AsText(bytes)), bytes.size()});
    }
    store::TraceStore out;
    const Status status = ReadFrameworkInputs(std::move(inputs), clock, options, out);
    EXPECT_TRUE(status.ok()) << status.error().message;
    return out;
  }

 private:
  std::vector<std::pair<FrameworkFile, std::vector<uint8_t>>> files_;
};

inline uint64_t Issues(const store::TraceStore& store, store::IssueKind kind) {
  return store.issues.entry(kind).count;
}

}  // namespace steplens::readers::framework_test
