#include "collect/record_encoder.h"

#include <unistd.h>

#include <iterator>
#include <limits>

#include "format/framework.h"

namespace steplens::collect {
namespace {

constexpr size_t kMaxOpenMarks =
    1 << 20;  // a program that never ends its ranges must not fill the memory

std::string In(const std::string& folder, std::string_view name) {
  return folder + "/" + std::string(name);
}

template <typename Record>
const Record& As(const RecordHead* head) {
  return *reinterpret_cast<const Record*>(head);
}

int64_t Signed(uint64_t value) { return static_cast<int64_t>(value); }

}  // namespace

RecordEncoder::RecordEncoder(const std::string& folder, const StringTable& strings, uint64_t start)
    : folder_(folder),
      strings_(strings),
      start_(start),
      process_id_(static_cast<uint64_t>(getpid())),
      files_{AppendFile(In(folder, format::kOpRangeFile)),
             AppendFile(In(folder, format::kOpMarkFile)),
             AppendFile(In(folder, format::kMemoryFile)),
             AppendFile(In(folder, format::kPythonCallFile)),
             AppendFile(In(folder, format::kPythonNameFile)),
             AppendFile(In(folder, format::kParamFile)),
             AppendFile(In(folder, format::kGcFile)),
             AppendFile(In(folder, format::kMarkFile)),
             AppendFile(In(folder, format::kCounterFile)),
             AppendFile(In(folder, format::kThreadFile)),
             AppendFile(In(folder, format::kDeviceFile))} {}

void RecordEncoder::AlsoForMindSpore(std::function<uint64_t(uint64_t)> to_ns) {
  mindspore_ = std::make_unique<MindSporeEncoder>(folder_, process_id_, std::move(to_ns));
}

AppendFile& RecordEncoder::Counted(File file) {
  AppendFile& target = files_[file];
  target.FlushIfLarge();
  target.CountRecords(1);
  return target;
}

void RecordEncoder::Add(const RecordHead* record, uint64_t* thread_id) {
  switch (record->type()) {
    case kRingThread: {
      const ThreadRecord& thread = As<ThreadRecord>(record);
      *thread_id = thread.thread_id;
      return AddThread(thread);
    }
    case kRingRange:
      return AddRange(As<RangeRecord>(record), *thread_id);
    case kRingOp:
      return AddOp(As<OpRecord>(record), *thread_id);
    case kRingPlainOp:
      return AddPlainOp(As<PlainOpRecord>(record).op, *thread_id);
    case kRingMemory:
      return AddMemory(As<MemoryRecord>(record).event, *thread_id);
    case kRingBlock:
      return AddBlock(As<BlockRecord>(record), *thread_id);
    case kRingPython:
      return AddPython(As<PythonRecord>(record), *thread_id);
    case kRingPythonName: {
      const PythonNameRecord& name = As<PythonNameRecord>(record);
      if (mindspore_) mindspore_->NamePython(name.key, Text(name.head.text));
      format::AppendRecord(Counted(kPythonNames).buffer(), format::kPythonNameRecord,
                           format::Keyed{name.key})
          .Field(format::kKeyText, Text(name.head.text));
      return;
    }
    case kRingGc: {
      const GcRecord& gc = As<GcRecord>(record);
      if (gc.end < start_) return;
      format::AppendBare(Counted(kGc).buffer(), format::GcPause{process_id_, gc.start, gc.end});
      return;
    }
    case kRingCounter:
      return AddCounter(As<CounterRecord>(record));
    case kRingMark:
      return AddMark(As<MarkRecord>(record), *thread_id);
    case kRingOpMark:
      return AddOpMark(As<OpMarkRecord>(record), *thread_id);
    default:
      return;
  }
}

void RecordEncoder::AddThread(const ThreadRecord& record) {
  const std::string_view name(record.name);
  if (name.empty()) return;  // from the shared ring: only whose, not who
  std::string& known = threads_[record.thread_id];
  if (known == name) return;
  known = name;
  AppendFile& file = files_[kThreads];  // about the records, not one of them: not counted
  format::AppendRecord(file.buffer(), format::kThreadRecord,
                       format::Thread{record.thread_id, process_id_})
      .Field(format::kThreadName, name);
}

void RecordEncoder::AddRange(const RangeRecord& record, uint64_t thread_id) {
  if (record.end < start_) return;
  format::OpRange op;
  op.start = Signed(record.start);
  op.end = Signed(record.end);
  op.process_id = process_id_;
  op.start_thread = thread_id;
  op.end_thread = thread_id;
  op.scope = format::kScopeUser;
  format::AppendRecord(Counted(kOps).buffer(), format::kOpRangeRecord, op)
      .Field(format::kOpName, Text(record.head.text));
  if (mindspore_) mindspore_->AddRange(op, Text(record.head.text), {}, {});
}

void RecordEncoder::AddOp(const OpRecord& record, uint64_t thread_id) {
  if (record.end < start_) return;
  const auto* words = reinterpret_cast<const uint64_t*>(&record + 1);
  format::OpRange op;
  op.start = Signed(record.start);
  op.end = Signed(record.end);
  op.sequence = record.sequence;
  op.process_id = process_id_;
  op.start_thread = op.end_thread = thread_id;
  if (record.has_threads != 0) {
    if (words[0] != 0) op.start_thread = words[0];
    if (words[1] != 0) op.end_thread = words[1];
    words += 2;
  }
  op.forward_thread = record.forward_thread;
  op.scope = record.scope;
  op.is_async = record.is_async != 0;
  format::TlvWriter out = format::AppendRecord(Counted(kOps).buffer(), format::kOpRangeRecord, op);
  out.Field(format::kOpName, Text(record.head.text));
  if (record.input_words != 0) {
    AddInputs({words + record.shape_words, record.input_words}, record.with_tensors != 0, &out);
  } else {
    AddShapes({words, record.shape_words}, record.dtypes, &out);
  }
  out.FieldIfAny(format::kOpCallStack, Text(record.call_stack));
  out.FieldIfAny(format::kOpModules, Text(record.modules));
  const auto* fields =
      reinterpret_cast<const sl_field*>(words + record.shape_words + record.input_words);
  for (uint32_t i = 0; i < record.field_count; ++i) {
    out.Field(fields[i].tag, Text(fields[i].text));
  }
  if (mindspore_) mindspore_->AddRange(op, Text(record.head.text), inputs_.shapes, inputs_.types);
}

void RecordEncoder::AddPlainOp(const sl_plain_op& record, uint64_t thread_id) {
  if (record.end < start_) return;
  format::OpRange op;
  op.start = Signed(record.start);
  op.end = Signed(record.end);
  op.sequence = record.sequence;
  op.process_id = process_id_;
  op.start_thread = op.end_thread = thread_id;
  op.forward_thread = record.forward_thread;
  op.scope = record.scope;
  op.is_async = record.is_async != 0;
  format::TlvWriter out = format::AppendRecord(Counted(kOps).buffer(), format::kOpRangeRecord, op);
  out.Field(format::kOpName, Text(record.name));
  const auto* words = reinterpret_cast<const uint64_t*>(&record + 1);
  AddInputs({words, record.input_words}, record.with_tensors != 0, &out);
  out.FieldIfAny(format::kOpCallStack, Text(record.call_stack));
  out.FieldIfAny(format::kOpModules, Text(record.modules));
  if (mindspore_) mindspore_->AddRange(op, Text(record.name), inputs_.shapes, inputs_.types);
}

void RecordEncoder::AddShapes(std::span<const uint64_t> words, sl_string dtypes,
                              format::TlvWriter* out) {
  inputs_.types = Text(dtypes);
  inputs_.shapes.clear();
  out->FieldIfAny(format::kOpDtypes, inputs_.types);
  if (words.empty()) return;
  AppendShapes(words, &inputs_.shapes);
  out->Field(format::kOpShapes, inputs_.shapes);
}

void RecordEncoder::AddInputs(std::span<const uint64_t> words, bool with_tensors,
                              format::TlvWriter* out) {
  DescribeInputs(words, with_tensors, strings_, &inputs_);
  if (words.empty()) return;
  out->Field(format::kOpDtypes, inputs_.types);
  out->Field(format::kOpShapes, inputs_.shapes);
  out->FieldIfAny(format::kOpTensors, inputs_.tensors);
  out->FieldIfAny(format::kOpTensorLists, inputs_.lists);
  if (with_tensors) out->FieldIfAny(format::kOpScalars, inputs_.scalars);
}

void RecordEncoder::AddOpMark(const OpMarkRecord& record, uint64_t thread_id) {
  if (record.time < start_) return;
  format::OpMark mark;
  mark.time = Signed(record.time);
  mark.category = record.category;
  mark.correlation_id = record.correlation_id;
  mark.thread_id = thread_id;
  mark.process_id = process_id_;
  format::AppendRecord(Counted(kOpMarks).buffer(), format::kOpMarkRecord, mark)
      .Field(format::kOpMarkName, Text(record.head.text));
}

void RecordEncoder::AddMemory(const sl_memory& record, uint64_t thread_id) {
  if (record.time < start_) return;
  format::MemoryUsage event;
  event.address = record.address;
  event.time = Signed(record.time);
  event.size = record.size;
  event.total_allocated = record.total_allocated;
  event.total_reserved = record.total_reserved;
  event.total_active = record.total_active;
  event.stream = record.stream;
  event.device_type = record.device_type;
  event.device_index = record.device_index;
  event.component = record.component;
  event.kind = record.kind;
  event.allocator = record.allocator;
  event.thread_id = thread_id;
  event.process_id = process_id_;
  format::AppendRecord(Counted(kMemory).buffer(), format::kMemoryRecord, event);
  if (mindspore_) mindspore_->AddMemory(record, thread_id);
}

void RecordEncoder::AddBlock(const BlockRecord& record, uint64_t thread_id) {
  if (record.time < start_) return;
  ledger_.Add({record.time, record.address, record.size, thread_id, record.device_type(),
               record.device_index()});
}

void RecordEncoder::SettleMemory(uint64_t until) {
  ledger_.Settle(
      until, [this](const sl_memory& event, uint64_t thread_id) { AddMemory(event, thread_id); });
}

void RecordEncoder::AddPython(const PythonRecord& record, uint64_t thread_id) {
  if (record.time < start_) return;
  format::PythonCall call;
  call.time = record.time;
  call.thread_id = thread_id;
  call.process_id = process_id_;
  call.key = record.key;
  call.tag = static_cast<uint8_t>(record.head.text);
  format::AppendBare(Counted(kPython).buffer(), call);
  if (mindspore_) mindspore_->AddPython(call);
}

void RecordEncoder::AddCounter(const CounterRecord& record) {
  if (record.time < start_) return;
  AppendFile& file = Counted(kCounters);
  if (file.lost() != counters_lost_) {  // names may be among what was lost
    counters_lost_ = file.lost();
    series_.clear();
  }
  if (series_.insert(record.head.text).second) {
    format::AppendRecord(file.buffer(), format::kCounterSeriesRecord,
                         format::Keyed{record.head.text})
        .Field(format::kKeyText, Text(record.head.text));
  }
  format::AppendRecord(file.buffer(), format::kCounterSampleRecord,
                       format::CounterSample{record.head.text, Signed(record.time), record.value});
}

void RecordEncoder::AddMark(const MarkRecord& record, uint64_t thread_id) {
  if (record.time < start_) return;
  const OpenMark mark{record.time, thread_id, record.head.text, record.domain};
  if (record.kind == kMarkNow) {
    return EndMark(record.id, mark, record.time, thread_id, format::kMarkInstant);
  }
  if (record.kind == kMarkStart) {
    if (open_marks_.size() >= kMaxOpenMarks) {
      ++left_out_;
      return;
    }
    open_marks_[record.id] = mark;
    const auto early = early_ends_.find(record.id);
    if (early == early_ends_.end()) return;
    const EarlyEnd end = early->second;
    early_ends_.erase(early);
    TryEndMark(record.id, end);
    return;
  }
  const EarlyEnd end{record.time, thread_id, record.domain, record.kind == kMarkEndInDomain, 0};
  if (!TryEndMark(record.id, end)) early_ends_[record.id] = end;
}

bool RecordEncoder::TryEndMark(uint64_t id, const EarlyEnd& end) {
  const auto found = open_marks_.find(id);
  if (found == open_marks_.end()) return false;
  if (end.domain_matters && end.domain != found->second.domain) return true;  // not its end
  EndMark(id, found->second, end.end, end.thread_id, format::kMarkRange);
  open_marks_.erase(found);
  return true;
}

void RecordEncoder::EndMark(uint64_t id, const OpenMark& mark, uint64_t end, uint64_t end_thread,
                            uint8_t kind) {
  format::Mark out;
  out.id = id;
  out.start = Signed(mark.start);
  out.end = Signed(end);
  out.start_thread = mark.thread_id;
  out.end_thread = end_thread;
  out.process_id = process_id_;
  out.kind = kind;
  format::TlvWriter writer =
      format::AppendRecord(Counted(kMarks).buffer(), format::kMarkRecord, out);
  writer.Field(format::kMarkMessage, Text(mark.message));
  writer.FieldIfAny(format::kMarkDomain, Text(mark.domain));
}

void RecordEncoder::AddParameters(uint64_t key, uint16_t tag, std::string_view text,
                                  std::span<const uint64_t> tensors) {
  inputs_.tensors.clear();
  FillInTensors(text, tensors, strings_, &inputs_.tensors);
  format::AppendRecord(Counted(kParams).buffer(), format::kParamRecord, format::Keyed{key})
      .Field(tag, inputs_.tensors);
}

void RecordEncoder::AddDeviceRecords(const std::vector<uint8_t>& bytes, uint64_t records) {
  AppendFile& file = files_[kDevice];
  file.FlushIfLarge();
  file.CountRecords(records);
  std::vector<uint8_t>& out = file.buffer();
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// A range begins before it ends, so its beginning is in a ring when its end is: it comes in the
// same pass or the next.
void RecordEncoder::EndOfPass(uint64_t begun) {
  SettleMemory(begun);
  for (auto it = early_ends_.begin(); it != early_ends_.end();) {
    it = ++it->second.passes > 2 ? early_ends_.erase(it) : std::next(it);
  }
}

void RecordEncoder::Finish(uint64_t end) {
  SettleMemory(std::numeric_limits<uint64_t>::max());
  for (const auto& [id, mark] : open_marks_) {
    EndMark(id, mark, end, mark.thread_id, format::kMarkOpenRange);
  }
  open_marks_.clear();
}

void RecordEncoder::Flush() {
  for (AppendFile& file : files_) file.Flush();
  if (mindspore_) mindspore_->Flush();
}

uint64_t RecordEncoder::records() const {
  uint64_t sum = 0;
  for (const AppendFile& file : files_) sum += file.records();
  return sum;
}

uint64_t RecordEncoder::lost() const {
  uint64_t sum = 0;
  for (const AppendFile& file : files_) sum += file.lost();
  if (mindspore_) sum += mindspore_->lost();
  return sum;
}

uint64_t RecordEncoder::bytes() const {
  uint64_t sum = 0;
  for (const AppendFile& file : files_) sum += file.bytes();
  if (mindspore_) sum += mindspore_->bytes();
  return sum;
}

int RecordEncoder::error() const {
  for (const AppendFile& file : files_) {
    if (file.error() != 0) return file.error();
  }
  return mindspore_ ? mindspore_->error() : 0;
}

}  // namespace steplens::collect
