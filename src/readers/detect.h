#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::readers {

// What a file of a rank is to us.
// kFramework: raw host data; the files of FRAMEWORK/ are read together. kProf: raw device data; the
// files of a PROF_* folder are read together.
enum class FileRole : uint8_t {
  kFramework,
  kProf,
  kTrace,
  kTextFile,
  kProfilerDb,
  kAnalysisDb,
  kNsysDb
};

// Why a folder PROF_* of a raw capture is left out.
inline constexpr std::string_view kNoDeviceData =
    "neither host/ nor device_<n>/ with data of the collector is in it";

struct SourceFile {
  FileRole role;
  std::string path;
  uint64_t size_bytes = 0;
};

// One rank as found on disk, before anything but names, info files and first bytes was read.
struct RankSource {
  int64_t rank = store::kNone;  // as its names and files say; kNone if they do not
  store::Source source = store::Source::kUnknown;  // stays that of a lone trace until it is read
  store::Format format = store::Format::kUnknown;
  std::string level;
  std::string path;
  size_t given = 0;                       // which of the paths looked at it lies below
  bool has_device_folder = false;         // raw captures: PROF_* lies beside FRAMEWORK
  std::vector<SourceFile> files;          // in reading order
  std::vector<store::InputFile> ignored;  // beside them, with the reason
};

struct Detected {
  std::vector<RankSource> ranks;          // in order of path
  std::vector<store::InputFile> ignored;  // files that belong to no rank
};

// Finds the ranks in files and folders, at any depth: by the layout of torch_npu, MindSpore and
// msprof results, and otherwise by the content of each file. A path that does not exist is an
// error, and so is one with nothing in it that can be read.
Result<Detected> DetectRanks(const std::vector<std::string>& paths);

// Finds the raw captures instead, at any depth: folders with FRAMEWORK/, or with
// profiler_info*.json and PROF_*, analysed or not. Their ranks are of format raw; of device data
// that was exported (PROF_*/mindstudio_profiler_output) the results are taken. Nothing found is an
// error.
Result<Detected> DetectRawRanks(const std::string& path);

}  // namespace steplens::readers
