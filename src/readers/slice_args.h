#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/gzip.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::readers {

// Where the args of a slice are in the files of its rank.
struct ArgsPlace {
  std::string path;  // empty: the slice has none
  uint64_t offset = 0;
  size_t size = 0;
};
ArgsPlace PlaceOfArgs(const store::TraceStore& store, store::SliceId slice);

// What slices.args_offset holds for slices of a trace that is not the first one of its rank:
// `file` is its place in info.files.
int64_t ArgsOffsetInFile(size_t file, int64_t offset);

// Reads the args of slices again from the traces, and remembers what makes that fast in compressed
// ones. Thread safe.
class SliceArgsReader {
 public:
  // As JSON text; empty if the slice has none.
  Result<std::string> Read(const store::TraceStore& store, store::SliceId slice);

 private:
  std::mutex packed_mutex_;
  std::map<std::string, std::unique_ptr<GzipText>> packed_;  // by path
};

// One that analyses can be given, which open no file themselves. Args that cannot be read are
// empty. Thread safe.
std::function<std::string(const store::TraceStore&, store::SliceId)> MakeArgsReader();

}  // namespace steplens::readers
