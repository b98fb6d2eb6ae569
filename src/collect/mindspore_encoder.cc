#include "collect/mindspore_encoder.h"

#include <algorithm>

#include "format/framework_mindspore.h"

namespace steplens::collect {
namespace {

constexpr size_t kMaxOpenCalls = 1 << 16;  // of a thread

std::string In(const std::string& folder, std::string_view name) {
  return folder + "/" + std::string(name);
}

// "file(line): name" -> "file(line):name"; a module "Class######1234" -> "nn.Cell.Class.__call__".
std::string PythonName(std::string_view text) {
  std::string name(text);
  if (const size_t mark = name.find("######"); mark != std::string::npos) {
    return "nn.Cell." + name.substr(0, mark) + ".__call__";
  }
  if (const size_t place = name.find("): "); place != std::string::npos) name.erase(place + 2, 1);
  return name;
}

void AppendNames(std::string_view name, format::TlvWriter* out) {
  out->Field(format::kMindSporeName, name);
  out->Field(format::kMindSporeFullName, name);
  out->Field(format::kMindSporeModuleGraph, {});
  out->Field(format::kMindSporeEventGraph, {});
}

format::TlvWriter AppendRange(std::vector<uint8_t>& out, const format::MindSporeOpRange& range) {
  format::TlvWriter writer(out, format::kMindSporeOpRangeRecord,
                           format::MindSporeOpRange::kFixedBytes);
  EncodeFixed(range, writer.fixed());
  return writer;
}

}  // namespace

MindSporeEncoder::MindSporeEncoder(const std::string& folder, uint64_t process_id,
                                   std::function<uint64_t(uint64_t)> to_ns)
    : process_id_(process_id),
      to_ns_(std::move(to_ns)),
      files_{AppendFile(In(folder, format::kMindSporeOpRangeFile)),
             AppendFile(In(folder, format::kMindSporeMemoryFile)),
             AppendFile(In(folder, format::kMindSporeShapesFile))} {}

std::vector<uint8_t>& MindSporeEncoder::Buffer(File file) {
  files_[file].FlushIfLarge();
  files_[file].CountRecords(1);
  return files_[file].buffer();
}

void MindSporeEncoder::AddRange(const format::OpRange& range, std::string_view name,
                                std::string_view shapes, std::string_view types) {
  const bool is_user = range.scope == format::kScopeUser;
  format::MindSporeOpRange out;
  out.thread_id = range.start_thread;
  out.start = static_cast<uint64_t>(range.start);
  out.end = static_cast<uint64_t>(range.end);
  out.process_id = static_cast<int32_t>(process_id_);
  out.module = is_user ? format::kMsModulePython : format::kMsModulePynative;
  out.event = is_user ? format::kMsEventPython : format::kMsEventRunOp;
  out.stage = is_user ? format::kMsStagePython : format::kMsStageRunOp;
  format::TlvWriter writer = AppendRange(Buffer(kRanges), out);
  AppendNames(name, &writer);
  if (types.empty()) return;
  format::TlvWriter inputs(Buffer(kShapes), format::kMindSporeShapesRecord,
                           format::MindSporeShapes::kFixedBytes);
  inputs.Field(format::kMindSporeShapesName, name);
  inputs.Field(format::kMindSporeInputShapes, shapes);
  inputs.Field(format::kMindSporeInputTypes, types);
}

void MindSporeEncoder::AddMemory(const sl_memory& event, uint64_t thread_id) {
  if (event.kind == SL_BLOCK_FREE) return;  // MindSpore knows one kind of free
  const auto used = static_cast<uint64_t>(event.total_allocated);
  peak_bytes_ = std::max(peak_bytes_, used);
  format::MindSporeMemory out;
  out.device = event.device_index;
  out.numbers[format::kMsThread] = thread_id;
  out.numbers[format::kMsProcess] = process_id_;
  out.numbers[format::kMsCreatedAtNs] = to_ns_(event.time);
  out.numbers[format::kMsAddress] = static_cast<uint64_t>(event.address);
  out.numbers[format::kMsSize] =
      event.kind == SL_MALLOC ? static_cast<uint64_t>(event.size) : format::MindSporeMemory::kFreed;
  out.numbers[format::kMsUsed] = used;
  out.numbers[format::kMsPeak] = peak_bytes_;
  out.numbers[format::kMsAllocated] = static_cast<uint64_t>(event.total_reserved);
  format::TlvWriter writer(Buffer(kMemory), format::kMindSporeMemoryRecord,
                           format::MindSporeMemory::kFixedBytes);
  EncodeFixed(out, writer.fixed());
  writer.Field(format::kMindSporeOwner, {});
}

void MindSporeEncoder::NamePython(uint64_t key, std::string_view text) {
  python_names_[key] = PythonName(text);
}

void MindSporeEncoder::AddPython(const format::PythonCall& call) {
  std::vector<OpenCall>& open = open_calls_[call.thread_id];
  if (call.tag == format::kPythonCall || call.tag == format::kPythonCCall) {
    if (open.size() < kMaxOpenCalls) open.push_back({call.time, call.key});
    return;
  }
  if (open.empty()) return;
  const OpenCall begun = open.back();
  open.pop_back();
  format::MindSporeOpRange out;
  out.thread_id = call.thread_id;
  out.start = begun.start;
  out.end = call.time;
  out.process_id = static_cast<int32_t>(process_id_);
  out.module = format::kMsModulePython;
  out.stage = format::kMsStagePython;
  out.is_stack = true;
  format::TlvWriter writer = AppendRange(Buffer(kRanges), out);
  AppendNames(python_names_[begun.key], &writer);
}

void MindSporeEncoder::Flush() {
  for (AppendFile& file : files_) file.Flush();
}

uint64_t MindSporeEncoder::lost() const {
  uint64_t sum = 0;
  for (const AppendFile& file : files_) sum += file.lost();
  return sum;
}

uint64_t MindSporeEncoder::bytes() const {
  uint64_t sum = 0;
  for (const AppendFile& file : files_) sum += file.bytes();
  return sum;
}

int MindSporeEncoder::error() const {
  for (const AppendFile& file : files_) {
    if (file.error() != 0) return file.error();
  }
  return 0;
}

}  // namespace steplens::collect
