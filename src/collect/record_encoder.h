#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "collect/append_file.h"
#include "collect/memory_ledger.h"
#include "collect/mindspore_encoder.h"
#include "collect/op_inputs.h"
#include "collect/ring_records.h"
#include "collect/strings.h"
#include "format/tlv.h"

namespace steplens::collect {

// Turns the records of the rings into the files of FRAMEWORK/. Used by one thread, the writer.
class RecordEncoder {
 public:
  // `folder` is the FRAMEWORK folder. Records that ended before `start` belong to an earlier
  // capture and are left out.
  RecordEncoder(const std::string& folder, const StringTable& strings, uint64_t start);

  // From now on the files of MindSpore's own profiler are written as well; `to_ns` as there.
  void AlsoForMindSpore(std::function<uint64_t(uint64_t)> to_ns);

  // A record of the ring whose thread is `*thread_id`; a thread record changes it.
  void Add(const RecordHead* record, uint64_t* thread_id);
  // A record of torch.param_tensor_info; these are too long for rings. Each byte 1 of the text
  // stands for the next tensor of `tensors`.
  void AddParameters(uint64_t key, uint16_t tag, std::string_view text,
                     std::span<const uint64_t> tensors);
  // A framed record of steplens.device, as it will stand in the file.
  void AddDeviceRecords(const std::vector<uint8_t>& bytes, uint64_t records);

  // After every ring was drained once, from `begun` on: blocks of memory that came before it are
  // written, ends of ranges whose beginning did not come are forgotten.
  void EndOfPass(uint64_t begun);
  // The last records: ranges that are still open get `end` as theirs.
  void Finish(uint64_t end);
  // Hands everything to the operating system.
  void Flush();

  uint64_t records() const;
  uint64_t lost() const;
  // Ranges that began when too many were open already.
  uint64_t left_out() const { return left_out_; }
  uint64_t bytes() const;
  int error() const;  // errno of a failure to write; 0: none

 private:
  enum File {
    kOps,
    kOpMarks,
    kMemory,
    kPython,
    kPythonNames,
    kParams,
    kGc,
    kMarks,
    kCounters,
    kThreads,
    kDevice,
    kFileCount
  };
  struct OpenMark {
    uint64_t start;
    uint64_t thread_id;
    uint32_t message;
    uint32_t domain;
  };
  struct EarlyEnd {
    uint64_t end;
    uint64_t thread_id;
    uint32_t domain;
    bool domain_matters;
    uint32_t passes;
  };

  void AddRange(const RangeRecord& record, uint64_t thread_id);
  // With what follows it in the ring.
  void AddOp(const OpRecord& record, uint64_t thread_id);
  void AddPlainOp(const sl_plain_op& record, uint64_t thread_id);
  void AddShapes(std::span<const uint64_t> words, sl_string dtypes, format::TlvWriter* out);
  void AddInputs(std::span<const uint64_t> words, bool with_tensors, format::TlvWriter* out);
  void AddMemory(const sl_memory& record, uint64_t thread_id);
  void AddBlock(const BlockRecord& record, uint64_t thread_id);
  void SettleMemory(uint64_t until);
  void AddPython(const PythonRecord& record, uint64_t thread_id);
  void AddCounter(const CounterRecord& record);
  void AddMark(const MarkRecord& record, uint64_t thread_id);
  void AddOpMark(const OpMarkRecord& record, uint64_t thread_id);
  void AddThread(const ThreadRecord& record);
  void EndMark(uint64_t id, const OpenMark& mark, uint64_t end, uint64_t end_thread, uint8_t kind);
  // Ends the range if it is open and the domain is right. False: it is not open (yet).
  bool TryEndMark(uint64_t id, const EarlyEnd& end);
  std::string_view Text(uint32_t id) const { return strings_.View(id); }
  AppendFile& Counted(File file);

  const std::string folder_;
  const StringTable& strings_;
  const uint64_t start_;
  const uint64_t process_id_;
  std::array<AppendFile, kFileCount> files_;
  std::unordered_map<uint64_t, OpenMark> open_marks_;
  std::unordered_map<uint64_t, EarlyEnd> early_ends_;
  std::unordered_set<uint32_t> series_;  // named in the file
  uint64_t counters_lost_ = 0;           // losses of the counter file that series_ knows of
  std::unordered_map<uint64_t, std::string> threads_;  // named in the file
  uint64_t left_out_ = 0;
  MemoryLedger ledger_;
  std::unique_ptr<MindSporeEncoder> mindspore_;  // nullptr: not wanted
  InputTexts inputs_;                            // of the operator at hand; kept for its memory
};

}  // namespace steplens::collect
