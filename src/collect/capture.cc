#include "collect/capture.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

#include "collect/folder.h"
#include "collect/host_identity.h"
#include "collect/host_sampler.h"
#include "collect/info_file.h"
#include "collect/json_text.h"
#include "collect/library.h"
#include "collect/record_encoder.h"
#include "collect/thread_state.h"
#include "collect/writer.h"
#include "format/framework.h"

volatile uint32_t sl_recording_ = 0;

namespace steplens::collect {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

// A running capture. Pass() is the writer thread's; the rest is used under the control lock, before
// the writer starts or after it ended.
class Capture {
 public:
  Capture(CaptureInfo info, CaptureFolderState folder, const sl_options& options)
      : info_(std::move(info)),
        folder_(std::move(folder)),
        is_mindspore_(options.mindspore != 0),
        host_period_ns_(int64_t{options.host_period_ms != 0 ? options.host_period_ms : 100} *
                        1'000'000),
        writer_(options.flush_period_ms != 0 ? options.flush_period_ms : 10, [this] { Pass(); }) {
    if (options.host_sources != 0) host_.emplace(options.host_sources);
  }

  // 0 or errno.
  int Begin() {
    clock_.Start(TheLibrary().loaded);
    encoder_.emplace(folder_.path + "/" + std::string(format::kFrameworkFolder),
                     TheLibrary().strings, clock_.samples().front().counter);
    if (is_mindspore_) {
      encoder_->AlsoForMindSpore([this, start = clock_.samples().front()](uint64_t raw) {
        if (!megahertz_) megahertz_ = clock_.frequency_mhz();
        const double elapsed_ns = static_cast<double>(raw - start.counter) * 1000 / *megahertz_;
        return static_cast<uint64_t>(start.wall_ns + static_cast<int64_t>(elapsed_ns));
      });
    }
    return WriteInfo(false);
  }

  bool StartWriter() { return writer_.Start(); }
  void WaitForPass() { writer_.WaitForPass(); }

  // Everything into the files. 0 or errno of what could not be written.
  int End(const Members& metadata) {
    writer_.Stop();
    const timespec late_threads = {
        0, 100'000};  // those that were inside a record when recording ended
    nanosleep(&late_threads, nullptr);
    clock_.WaitUntilCertain();
    Drain();
    clock_.Stop();
    encoder_->Finish(clock_.samples().back().counter);
    encoder_->Flush();
    // MindSpore has the file only if there is something in it.
    const bool has_file = !is_mindspore_ || !metadata.empty();
    const int metadata_error =
        has_file ? ReplaceFile(folder_.path + "/profiler_metadata.json", MetadataText(metadata))
                 : 0;
    const int info_error = WriteInfo(true);
    return info_error != 0 ? info_error : metadata_error;
  }

  void Remove() {
    writer_.Stop();
    RemoveCaptureFolder(folder_);
  }

  sl_statistics statistics() const {
    const DropCounts counts = Counts();
    return {counts.recorded, counts.dropped, counts.lost_on_write, encoder_->bytes()};
  }
  const CaptureFolderState& folder() const { return folder_; }
  int write_error() const { return encoder_->error(); }

 private:
  void Pass() {
    try {
      const uint64_t begun = Now();
      // Times of MindSpore's files are in nanoseconds: they need the frequency.
      if (is_mindspore_ && clock_.WaitUntilCertain()) WriteInfo(false);
      Drain();
      SampleHost();
      if (clock_.Tick()) WriteInfo(false);
      encoder_->EndOfPass(begun);
      encoder_->Flush();
    } catch (const std::bad_alloc&) {
      // No memory now: what could not be encoded is gone; the next pass tries again.
    }
  }

  void Drain() {
    TheLibrary().rings.ForEach([this](ThreadRing& ring) {
      ring.ring.Drain(
          [&](const RecordHead* record) { encoder_->Add(record, &ring.reader_thread_id); });
      RingPool::TouchAhead(ring);
    });
    for (const SideQueue::Item& item : TheLibrary().side.Take()) {
      if (item.is_device) {
        encoder_->AddDeviceRecords(item.bytes, item.records);
      } else {
        encoder_->AddParameters(item.key, item.tag, item.text, item.words);
      }
    }
  }

  void SampleHost() {
    if (!host_ || !IsRecording()) return;
    const int64_t now_ns = ClockNs(CLOCK_MONOTONIC);
    if (now_ns < next_host_ns_) return;
    next_host_ns_ = std::max(next_host_ns_ + host_period_ns_, now_ns - host_period_ns_);
    const uint64_t time = Now();
    host_->Sample(now_ns, [&](std::string_view series, double value) {
      CounterRecord record = {};
      record.head =
          RecordHead::Of(kRingCounter, sizeof(record), TheLibrary().strings.Intern(series));
      record.time = time;
      record.value = value;
      uint64_t no_thread = 0;
      encoder_->Add(&record.head, &no_thread);
    });
  }

  DropCounts Counts() const {
    const uint64_t dropped =
        TheLibrary().rings.dropped() + TheLibrary().side.dropped() + encoder_->left_out();
    return {encoder_->records(), dropped, encoder_->lost(), TheLibrary().strings.left_out()};
  }

  int WriteInfo(bool is_finished) {
    return ReplaceFile(folder_.path + "/" + InfoFileName(info_),
                       InfoText(info_, clock_, Counts(), is_finished));
  }

  const CaptureInfo info_;
  const CaptureFolderState folder_;
  const bool is_mindspore_;
  ClockLog clock_;
  std::optional<double> megahertz_;  // of all times of MindSpore's files
  std::optional<RecordEncoder> encoder_;
  std::optional<HostSampler> host_;
  const int64_t host_period_ns_;
  int64_t next_host_ns_ = 0;
  Writer writer_;
};

// Who starts and stops. On the heap and replaced in the child of a fork, whose copy may be locked
// by a thread that does not exist there.
struct Control {
  std::mutex mutex;  // guards what follows
  std::unique_ptr<Capture> capture;
  Members metadata;  // of the running capture or, before it starts, of the next
  uint32_t last_generation = 0;
  Control* of_parent = nullptr;  // in the child of a fork; never touched
};

Control*& ControlPointer() {
  static Control* control = new Control;
  return control;
}
Control& TheControl() { return *ControlPointer(); }

void StopAtExit() { StopCapture(nullptr); }

// Reads what the caller's version of the struct has.
sl_options Complete(const sl_options& options) {
  sl_options all = {};
  std::memcpy(&all, &options, std::min(options.struct_size, sizeof(all)));
  return all;
}

int BadArgument(const char* what) {
  SetError("%s", what);
  return SL_BAD_ARGUMENT;
}

// SL_OK and `*info`, or what is wrong with the options.
int ReadInfo(const sl_options& options, CaptureInfo* info) {
  if (options.directory == nullptr || options.directory[0] == '\0') {
    return BadArgument("no folder for the capture was given");
  }
  info->config_json = options.config_json != nullptr ? options.config_json : "{}";
  if (!IsJson(info->config_json)) return BadArgument("config_json is not JSON");
  if (options.info_json != nullptr) {
    std::optional<Members> members = JsonMembers(options.info_json);
    if (!members) return BadArgument("info_json is not a JSON object");
    info->members = *std::move(members);
  }
  constexpr std::string_view kHost = "steplens_host";
  const auto host = std::find_if(info->members.begin(), info->members.end(),
                                 [&](const auto& member) { return member.first == kHost; });
  if (host != info->members.end()) {
    host->second = HostJson(host->second);
  } else {
    info->members.emplace_back(kHost, HostJson(""));
  }
  info->rank = options.rank;
  info->rank_is_text = options.rank_is_text != 0;
  return SL_OK;
}

uint32_t NextGeneration(Control& control) {
  do {
    ++control.last_generation;
  } while (control.last_generation == 0 || control.last_generation == kAutoPending);
  return control.last_generation;
}

// From here on no thread records, and none begins to.
std::unique_ptr<Capture> TakeRunning(Control& control) {
  SetRecordedGeneration(0);
  hot_state.current_generation.store(0, std::memory_order_release);
  return std::move(control.capture);
}

}  // namespace

void SetError(const char* format, ...) {
  ThreadState* state = StateOfThisThread();
  if (state == nullptr) return;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(state->error, sizeof(state->error), format, arguments);
  va_end(arguments);
}

int StartCapture(const sl_options& given) {
  const sl_options options = Complete(given);
  Control& control = TheControl();
  const std::lock_guard lock(control.mutex);
  if (control.capture != nullptr) {
    SetError("a capture is running already, in %s", control.capture->folder().path.c_str());
    return SL_RUNNING;
  }
  CaptureInfo info;
  if (const int problem = ReadInfo(options, &info); problem != SL_OK) return problem;
  CaptureFolderState folder;
  if (const std::string problem = MakeCaptureFolder(options.directory, &folder); !problem.empty()) {
    SetError("%s", problem.c_str());
    return SL_IO;
  }
  auto capture = std::make_unique<Capture>(std::move(info), folder, options);
  if (const int error = capture->Begin(); error != 0) {
    SetError("%s: cannot write into this folder: %s", folder.path.c_str(), std::strerror(error));
    RemoveCaptureFolder(folder);
    return SL_IO;
  }
  TheLibrary().side.Clear();
  TheLibrary().rings.Prepare(
      options.thread_buffer_bytes != 0 ? options.thread_buffer_bytes : 1 << 20,
      options.total_buffer_bytes != 0 ? options.total_buffer_bytes : 256 << 20);
  if (!capture->StartWriter()) {
    SetError("the system gave no thread to write the capture");
    RemoveCaptureFolder(folder);
    return SL_NO_MEMORY;
  }
  static const int registered = std::atexit(StopAtExit);
  static_cast<void>(registered);
  control.capture = std::move(capture);
  hot_state.current_generation.store(NextGeneration(control), std::memory_order_release);
  SetRecordedGeneration(options.start_paused == 0 ? control.last_generation : 0);
  return SL_OK;
}

int StopCapture(sl_statistics* out) {
  Control& control = TheControl();
  const std::lock_guard lock(control.mutex);
  if (control.capture == nullptr) {
    SetError("no capture is running");
    return SL_NOT_RUNNING;
  }
  const std::unique_ptr<Capture> capture = TakeRunning(control);
  const int error = capture->End(control.metadata);
  const sl_statistics statistics = capture->statistics();
  if (out != nullptr) *out = statistics;
  control.metadata.clear();
  TheLibrary().rings.Trim();
  if (error == 0) return SL_OK;
  const uint64_t lost = statistics.dropped + statistics.lost_on_write;
  SetError("%s: the capture is not complete: %s; %llu of %llu records were lost",
           capture->folder().path.c_str(), std::strerror(error),
           static_cast<unsigned long long>(lost),
           static_cast<unsigned long long>(lost + statistics.recorded));
  return SL_IO;
}

int DiscardCapture() {
  Control& control = TheControl();
  const std::lock_guard lock(control.mutex);
  if (control.capture == nullptr) {
    SetError("no capture is running");
    return SL_NOT_RUNNING;
  }
  TakeRunning(control)->Remove();
  control.metadata.clear();
  TheLibrary().rings.Trim();
  return SL_OK;
}

int FlushCapture() {
  Control& control = TheControl();
  const std::lock_guard lock(control.mutex);
  if (control.capture == nullptr) {
    SetError("no capture is running");
    return SL_NOT_RUNNING;
  }
  control.capture->WaitForPass();
  return SL_OK;
}

void PauseCapture(bool paused) {
  Control& control = TheControl();
  const std::lock_guard lock(control.mutex);
  if (control.capture != nullptr) SetRecordedGeneration(paused ? 0 : control.last_generation);
}

int AddMetadata(std::string_view key, std::string_view json) {
  if (key.empty()) return BadArgument("metadata needs a key");
  if (!IsJson(json)) return BadArgument("the value of metadata is not JSON");
  Control& control = TheControl();
  const std::lock_guard lock(control.mutex);
  const auto found = std::find_if(control.metadata.begin(), control.metadata.end(),
                                  [&](const auto& member) { return member.first == key; });
  if (found != control.metadata.end()) {
    found->second = json;
  } else {
    control.metadata.emplace_back(key, json);
  }
  return SL_OK;
}

std::string CaptureFolder() {
  Control& control = TheControl();
  const std::lock_guard lock(control.mutex);
  return control.capture != nullptr ? control.capture->folder().path : "";
}

void ForgetCaptureInChild() {
  auto* control = new Control;
  control->of_parent = ControlPointer();
  control->last_generation = control->of_parent->last_generation;
  ControlPointer() = control;
}

}  // namespace steplens::collect
