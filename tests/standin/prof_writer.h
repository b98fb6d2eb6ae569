#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

// Raw device data as CANN's collector writes them: a tree host/ and device_0/ of a PROF_* folder.
// The layouts are those of src/format/prof, which the reader uses, too.
namespace standin {

// Writes what it is told, record by record, so that a process that is killed leaves what was
// written until then. The truth goes to the file $STANDIN_TRUTH, a line a task (README.md). Thread
// safe.
class ProfWriter {
 public:
  explicit ProfWriter(std::string folder);
  ~ProfWriter();
  ProfWriter(const ProfWriter&) = delete;
  ProfWriter& operator=(const ProfWriter&) = delete;

  // The calling thread launches a kernel now; a stream of the device runs it for so many ticks of
  // the device's counter (20 ns) when it has time.
  void Kernel(std::string_view name, std::string_view type, uint16_t stream, uint64_t ticks);
  // The same with a collective: a wait and a transfer of so many bytes, each of so many ticks.
  void Collective(std::string_view name, std::string_view group, uint16_t stream, uint64_t bytes,
                  uint64_t ticks);
  // Ends the capture: end_info and the marks of files that are whole.
  void Finish();

 private:
  struct Output {
    std::FILE* file = nullptr;
    std::string path;
    uint64_t slice = 0;
    uint64_t bytes = 0;
  };
  struct Run {
    uint16_t task;
    uint64_t begin;
    uint64_t end;
  };
  struct Call {
    uint64_t begin;
    uint64_t end;
  };

  Call MakeCall();
  void WriteControls();
  void Append(const std::string& name, const void* data, size_t size);
  void AppendText(const std::string& name, std::string_view line);
  template <typename Record>
  void Append(const std::string& name, const Record& record) {
    Append(name, &record, sizeof(record));
  }
  template <typename Payload>
  void HostRecord(const std::string& tag, size_t size, uint16_t level, uint32_t type, uint64_t time,
                  const Payload& payload);
  void Api(uint16_t level, uint32_t type, uint64_t begin, uint64_t end, uint64_t item);
  uint64_t Hash(std::string_view text);
  void Type(int level, uint32_t type, std::string_view name);
  uint16_t NextTask(uint16_t stream, uint64_t time);
  Run RunTask(uint16_t stream, uint16_t sqe, uint64_t runtime_type, uint64_t kernel, uint64_t time,
              uint64_t not_before, uint64_t ticks);
  void Truth(const char* kind, std::string_view name, std::string_view detail, uint16_t stream,
             const Run& run, const Call& call);
  uint64_t Ticks(uint64_t ns) const;
  int64_t Utc(uint64_t ticks) const;

  std::mutex mutex_;  // guards what follows
  std::string folder_;
  bool is_open_ = true;
  uint64_t start_ns_ = 0;     // monotonic; both counters are read then
  uint64_t start_ticks_ = 0;  // of the device
  uint64_t device_hz_ = 0;
  int64_t utc_offset_ns_ = 0;  // monotonic -> time of day
  uint64_t slice_bytes_;
  uint64_t wrap_at_;
  std::map<std::string, Output> outputs_;
  std::set<uint64_t> hashes_;
  std::set<std::pair<int, uint32_t>> types_;
  std::map<uint16_t, uint32_t> next_task_;  // by stream
  std::map<uint16_t, uint16_t> flips_;
  std::map<uint16_t, uint64_t> free_at_;  // ticks
  uint16_t sequence_ = 0;
};

}  // namespace standin
