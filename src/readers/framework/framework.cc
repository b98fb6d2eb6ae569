#include "readers/framework/framework.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "base/number.h"
#include "base/roots.h"
#include "format/framework_mindspore.h"
#include "readers/file_names.h"
#include "readers/framework/context.h"
#include "readers/framework/device_activities.h"
#include "readers/framework/memory_events.h"
#include "readers/framework/mindspore_files.h"
#include "readers/framework/op_ranges.h"
#include "readers/framework/python_calls.h"
#include "readers/framework/queue_items.h"
#include "readers/framework/record_reader.h"
#include "readers/framework/small_files.h"

namespace steplens::readers {
namespace {

namespace fs = std::filesystem;

// Raw files are plain bytes, never decompressed, whatever their first two bytes are. Opened at the
// first read, so that a capture of many files holds few of them open.
class PlainSource : public ByteSource {
 public:
  explicit PlainSource(std::string path) : path_(std::move(path)) {}
  ~PlainSource() override {
    if (fd_ >= 0) ::close(fd_);
  }
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;

  Result<size_t> Read(char* buffer, size_t size) override {
    if (fd_ < 0) fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ < 0) return Failure("open");
    struct stat info{};
    if (position_ == 0 && (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)))
      return Error{ErrorCode::kCorruptData, path_ + ": is not a file, a file was expected"};
    if (position_ == 0 && LeavesRoots(path_, fd_))
      return Error{ErrorCode::kIo, fmt::format("{}: {}", path_, kLeavesRoots)};
    while (true) {
      const ssize_t got = ::read(fd_, buffer, size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Failure("read");
      position_ += static_cast<uint64_t>(got);
      return static_cast<size_t>(got);
    }
  }
  uint64_t file_position() const override { return position_; }

 private:
  Error Failure(std::string_view action) const {
    return {ErrorCode::kIo, fmt::format("{}: cannot {}: {}", path_, action, std::strerror(errno))};
  }

  std::string path_;
  int fd_ = -1;
  uint64_t position_ = 0;
};

// Records are read in this order: operators first, for everything else refers to them.
constexpr FrameworkFile kOrder[] = {FrameworkFile::kOpRange,
                                    FrameworkFile::kOpMark,
                                    FrameworkFile::kPythonNames,
                                    FrameworkFile::kPythonCalls,
                                    FrameworkFile::kOldPythonCalls,
                                    FrameworkFile::kOldModuleCalls,
                                    FrameworkFile::kParamTensors,
                                    FrameworkFile::kGarbage,
                                    FrameworkFile::kMarks,
                                    FrameworkFile::kCounters,
                                    FrameworkFile::kThreads,
                                    FrameworkFile::kDevice,
                                    FrameworkFile::kMemoryUsage,
                                    FrameworkFile::kMindSporeRanges,
                                    FrameworkFile::kMindSporeShapes,
                                    FrameworkFile::kMindSporeCpuOps,
                                    FrameworkFile::kMindSporeMemoryText,
                                    FrameworkFile::kMindSporeMemory};

class FrameworkReader {
 public:
  FrameworkReader(const RawClock& clock, std::optional<int64_t> only_device,
                  const ReadOptions& options, store::TraceStore& out)
      : options_(options), ctx_(out, clock), python_(ctx_), only_device_(only_device) {
    ctx_.wants_tensors = options.wanted.tensors;
    ctx_.wants_args = options.wanted.args;
  }

  Status Read(std::vector<FrameworkInput>& inputs) {
    Status first_error;
    const bool has_operators = std::any_of(
        inputs.begin(), inputs.end(),
        [](const FrameworkInput& input) { return input.kind == FrameworkFile::kOpRange; });
    if (has_operators)
      std::erase_if(inputs,
                    [](const FrameworkInput& input) { return IsMindSporeFile(input.kind); });
    for (const FrameworkFile kind : kOrder) {
      const auto input = std::find_if(inputs.begin(), inputs.end(), [&](const FrameworkInput& one) {
        return one.kind == kind && one.source != nullptr;
      });
      if (input != inputs.end()) {
        const uint64_t block_bytes =
            std::clamp<uint64_t>(input->size_bytes, 4096, RecordReader::kBlockBytes);
        RecordReader reader(std::move(input->source), input->name, ctx_.out.issues,
                            static_cast<size_t>(block_bytes));
        Status status = ReadOne(kind, reader, input->size_bytes);
        if (options_.progress != nullptr) options_.progress->Add(input->size_bytes);
        if (!status.ok() && status.error().code == ErrorCode::kCancelled) return status;
        if (!status.ok()) {
          ctx_.out.issues.Add(store::IssueKind::kFileUnreadable, status.error().message);
          if (first_error.ok()) first_error = std::move(status);
        }
      }
      if (kind == FrameworkFile::kOpRange) AppendForwardBackwardFlows(ctx_.out);
      if (kind == FrameworkFile::kParamTensors) python_.Finish();
    }
    return ctx_.out.slices.size() == 0 ? first_error : Status();
  }

 private:
  Status ReadOne(FrameworkFile kind, RecordReader& reader, uint64_t size_bytes) {
    switch (kind) {
      case FrameworkFile::kOpRange:
        return ReadOpRanges(reader, ctx_, size_bytes);
      case FrameworkFile::kOpMark:
        return ReadQueueItems(reader, ctx_);
      case FrameworkFile::kPythonNames:
        return python_.ReadNames(reader);
      case FrameworkFile::kPythonCalls:
        return python_.ReadCalls(reader);
      case FrameworkFile::kOldPythonCalls:
        return python_.ReadOldCalls(reader);
      case FrameworkFile::kOldModuleCalls:
        return python_.ReadOldModules(reader);
      case FrameworkFile::kParamTensors:
        return ctx_.wants_tensors ? python_.ReadParameters(reader) : Status();
      case FrameworkFile::kGarbage:
        return ReadGarbage(reader, ctx_);
      case FrameworkFile::kMarks:
        return ReadMarks(reader, ctx_);
      case FrameworkFile::kCounters:
        return ReadCounters(reader, ctx_);
      case FrameworkFile::kThreads:
        return ReadThreadNames(reader, ctx_);
      case FrameworkFile::kDevice:
        return ReadDeviceActivities(reader, ctx_);
      case FrameworkFile::kMemoryUsage: {
        SL_ASSIGN_OR_RETURN(std::vector<MemoryEvent> events, ReadMemoryEvents(reader, ctx_));
        AppendMemory(std::move(events), only_device_, ctx_.out);
        return {};
      }
      case FrameworkFile::kMindSporeRanges:
        return ReadMindSporeRanges(reader, ctx_);
      case FrameworkFile::kMindSporeShapes:
        return ReadMindSporeShapes(reader, ctx_);
      case FrameworkFile::kMindSporeCpuOps:
        return ReadMindSporeCpuOps(reader, ctx_);
      case FrameworkFile::kMindSporeMemoryText:
        return ReadMindSporeMemoryText(reader, ctx_);
      case FrameworkFile::kMindSporeMemory:
        return ReadMindSporeMemory(reader, ctx_, only_device_);
      case FrameworkFile::kUnknown:
        break;
    }
    return {};
  }

  const ReadOptions& options_;
  FrameworkContext ctx_;
  PythonCalls python_;
  std::optional<int64_t> only_device_;
};

Status ReadInputs(std::vector<FrameworkInput> inputs, const RawClock& clock,
                  std::optional<int64_t> only_device, const ReadOptions& options,
                  store::TraceStore& out) {
  return FrameworkReader(clock, only_device, options, out).Read(inputs);
}

// With exactly one PROF_*/device_<n> the device's number is n.
std::optional<int64_t> OnlyDevice(const std::string& folder) {
  std::optional<int64_t> device;
  size_t found = 0;
  std::error_code error;
  for (const auto& prof : fs::directory_iterator(folder, error)) {
    if (!prof.path().filename().string().starts_with("PROF_")) continue;
    for (const auto& sub : fs::directory_iterator(prof.path(), error)) {
      const std::string name = sub.path().filename().string();
      const auto digits = MiddleOf(name, "device_", "");
      if (!digits) continue;
      device = ParseInt64(*digits);
      ++found;
    }
  }
  return found == 1 ? device : std::nullopt;
}

}  // namespace

FrameworkFile ClassifyFrameworkFile(std::string_view base_name) {
  constexpr std::pair<std::string_view, FrameworkFile> kPrefixes[] = {
      {format::kOpRangeFile, FrameworkFile::kOpRange},
      {format::kOpMarkFile, FrameworkFile::kOpMark},
      {format::kMemoryFile, FrameworkFile::kMemoryUsage},
      {format::kPythonCallFile, FrameworkFile::kPythonCalls},
      {format::kPythonNameFile, FrameworkFile::kPythonNames},
      {format::kParamFile, FrameworkFile::kParamTensors},
      {format::kGcFile, FrameworkFile::kGarbage},
      {"torch.python_func_call", FrameworkFile::kOldPythonCalls},
      {"torch.python_module_call", FrameworkFile::kOldModuleCalls},
      {format::kMarkFile, FrameworkFile::kMarks},
      {format::kCounterFile, FrameworkFile::kCounters},
      {format::kThreadFile, FrameworkFile::kThreads},
      {format::kDeviceFile, FrameworkFile::kDevice},
      {format::kMindSporeOpRangeFile, FrameworkFile::kMindSporeRanges},
      {format::kMindSporeShapesFile, FrameworkFile::kMindSporeShapes},
      {format::kMindSporeMemoryFile, FrameworkFile::kMindSporeMemory},
      {"cpu_op_execute_timestamp_", FrameworkFile::kMindSporeCpuOps},
      {"cpu_ms_memory_record_", FrameworkFile::kMindSporeMemoryText},
  };
  for (const auto& [prefix, kind] : kPrefixes) {
    if (base_name.starts_with(prefix)) return kind;
  }
  return FrameworkFile::kUnknown;
}

Status ReadFrameworkInputs(std::vector<FrameworkInput> inputs, const RawClock& clock,
                           const ReadOptions& options, store::TraceStore& out) {
  return ReadInputs(std::move(inputs), clock, std::nullopt, options, out);
}

Status ReadFramework(const std::string& folder, const ReadOptions& options,
                     store::TraceStore& out) {
  const fs::path framework = fs::path(folder) / format::kFrameworkFolder;
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(framework, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) {
    return Error{ErrorCode::kIo, fmt::format("{}: cannot list the folder: {}", framework.string(),
                                             error.message())};
  }
  std::sort(names.begin(), names.end());
  std::vector<FrameworkInput> inputs;
  for (const std::string& name : names) {
    const FrameworkFile kind = ClassifyFrameworkFile(name);
    if (kind == FrameworkFile::kUnknown) continue;
    const std::string path = (framework / name).string();
    const Result<FileStamp> stamp = StatFile(path);
    inputs.push_back(
        {kind, name, std::make_unique<PlainSource>(path), stamp.ok() ? stamp->size_bytes : 0});
  }
  const RawClock clock(ReadClockFacts(folder, out.issues));
  return ReadInputs(std::move(inputs), clock, OnlyDevice(folder), options, out);
}

}  // namespace steplens::readers
