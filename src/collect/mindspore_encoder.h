#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collect/append_file.h"
#include "format/framework.h"
#include "steplens/collect.h"

namespace steplens::collect {

// The same capture once more in the files of MindSpore's own profiler (mindspore.*), beside those
// of RecordEncoder, which hold more. Used by one thread, the writer.
class MindSporeEncoder {
 public:
  // `to_ns` turns a raw time into nanoseconds since the epoch.
  MindSporeEncoder(const std::string& folder, uint64_t process_id,
                   std::function<uint64_t(uint64_t)> to_ns);

  // An operator or a range of the program. Shapes and types as in torch.op_range;
  // empty: not recorded.
  void AddRange(const format::OpRange& range, std::string_view name, std::string_view shapes,
                std::string_view types);
  void AddMemory(const sl_memory& event, uint64_t thread_id);
  void NamePython(uint64_t key, std::string_view text);
  // A return becomes a range of the function that was called.
  void AddPython(const format::PythonCall& call);
  void Flush();

  uint64_t lost() const;
  uint64_t bytes() const;
  int error() const;  // errno of a failure to write; 0: none

 private:
  enum File { kRanges, kMemory, kShapes, kFileCount };
  struct OpenCall {
    uint64_t start;
    uint64_t key;
  };

  std::vector<uint8_t>& Buffer(File file);

  const uint64_t process_id_;
  const std::function<uint64_t(uint64_t)> to_ns_;
  std::array<AppendFile, kFileCount> files_;
  std::unordered_map<uint64_t, std::string> python_names_;
  std::unordered_map<uint64_t, std::vector<OpenCall>> open_calls_;  // by thread
  uint64_t peak_bytes_ = 0;
};

}  // namespace steplens::collect
