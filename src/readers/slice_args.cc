#include "readers/slice_args.h"

#include "base/file.h"

namespace steplens::readers {
namespace {

// args_offset: | 1 + place in info.files, 0 for the first trace | byte in its text |
//              | 22 bits                                        | 41 bits          |
constexpr int64_t kTextRange = int64_t{1} << 41;

constexpr size_t kMaxPacked = 16;  // traces that are remembered, unpackers of at most 10 MB

}  // namespace

int64_t ArgsOffsetInFile(size_t file, int64_t offset) {
  if (offset < 0 || offset >= kTextRange) return store::kNone;
  return (static_cast<int64_t>(file) + 1) * kTextRange + offset;
}

ArgsPlace PlaceOfArgs(const store::TraceStore& store, store::SliceId slice) {
  const auto row = static_cast<size_t>(slice);
  const int64_t offset = store.slices.args_offset[row];
  if (offset < 0) return {};
  const auto file = static_cast<size_t>(offset / kTextRange);
  if (file > store.info.files.size()) return {};
  return {file == 0 ? store.info.trace_path : store.info.files[file - 1].path,
          static_cast<uint64_t>(offset % kTextRange), store.slices.args_size[row]};
}

Result<std::string> SliceArgsReader::Read(const store::TraceStore& store, store::SliceId slice) {
  const ArgsPlace place = PlaceOfArgs(store, slice);
  if (place.path.empty()) return std::string();
  std::unique_lock lock(packed_mutex_);
  if (packed_.size() >= kMaxPacked && !packed_.contains(place.path)) packed_.clear();
  const auto [file, is_new] = packed_.try_emplace(place.path);  // null: it is not packed
  if (is_new && IsGzipFile(place.path)) file->second = std::make_unique<GzipText>(place.path);
  if (file->second) return file->second->Read(place.offset, place.size);
  lock.unlock();
  return ReadFileRange(place.path, place.offset, place.size);
}

std::function<std::string(const store::TraceStore&, store::SliceId)> MakeArgsReader() {
  // Shared: a std::function is copied with what it holds.
  return [reader = std::make_shared<SliceArgsReader>()](const store::TraceStore& store,
                                                        store::SliceId slice) {
    Result<std::string> args = reader->Read(store, slice);
    return args.ok() ? *std::move(args) : std::string();
  };
}

}  // namespace steplens::readers
