#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::readers {

// What a file of a rank is to us.
enum class FileRole : uint8_t { kTrace, kTextFile, kProfilerDb, kAnalysisDb, kNsysDb };

struct SourceFile {
  FileRole role;
  std::string path;
  uint64_t size_bytes = 0;
};

// One rank as found on disk, before anything but names, info files and first bytes was read.
struct RankSource {
  int64_t rank = store::kNone;  // kNone: nothing says so yet; the trace itself may
  std::string
      source;  // ascend_pt, ascend_ms, msprof, kineto; of a lone trace: empty until it is read
  std::string format;  // text, db, json
  std::string level;
  std::string path;
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

}  // namespace steplens::readers
