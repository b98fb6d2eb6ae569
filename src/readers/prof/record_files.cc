#include "readers/prof/record_files.h"

#include <fmt/format.h>

#include "base/file.h"
#include "readers/folder_listing.h"

namespace steplens::readers::prof {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{2} << 20;

// Slices [first, last) that are read as one stream.
struct Run {
  size_t first;
  size_t last;
  uint64_t bytes;
};

std::vector<Run> FindRuns(const std::vector<Slice>& slices, Cut cut) {
  std::vector<Run> runs;
  for (size_t i = 0; i < slices.size(); ++i) {
    const bool goes_on =
        cut == Cut::kAnywhere && i > 0 && slices[i].number == slices[i - 1].number + 1;
    if (!goes_on) runs.push_back({i, i, 0});
    runs.back().last = i + 1;
    runs.back().bytes += slices[i].size_bytes;
  }
  return runs;
}

// Where the first whole record of a stream begins whose front is gone: where most of its first
// records have the marker, else `surplus`.
uint64_t FindFirstRecord(const std::vector<Slice>& slices, const Run& run, size_t record_bytes,
                         const Marker& marker, uint64_t surplus) {
  constexpr size_t kRecords = 32;
  store::IssueLog ignored;  // what cannot be read is counted when it is read
  const std::string bytes = ReadPiece(
      slices, {run.first, 0, std::min<uint64_t>(run.bytes, kRecords * record_bytes)}, ignored);
  const format::Bytes view = format::AsBytes(bytes);
  const auto count_markers = [&](size_t first) {
    size_t count = 0;
    for (size_t at = first + marker.offset; at + sizeof(marker.value) <= view.size();
         at += record_bytes) {
      if (format::Load<uint16_t>(view, at) == marker.value) ++count;
    }
    return count;
  };
  uint64_t best = surplus;
  size_t most = count_markers(surplus);
  for (size_t first = 0; first < record_bytes; ++first) {
    const size_t count = count_markers(first);
    if (count <= most) continue;
    best = first;
    most = count;
  }
  return best;
}

}  // namespace

std::vector<Piece> CutIntoPieces(const std::vector<Slice>& slices, size_t record_bytes, Cut cut,
                                 store::IssueLog& issues, const Marker* marker) {
  std::vector<Piece> pieces;
  const uint64_t piece_bytes = std::max<uint64_t>(1, kPieceBytes / record_bytes) * record_bytes;
  for (const Run& run : FindRuns(slices, cut)) {
    const uint64_t surplus = run.bytes % record_bytes;
    const bool is_front = cut == Cut::kAnywhere && slices[run.first].number > 0;
    uint64_t offset = is_front ? surplus : 0;  // in the slice
    if (is_front && marker != nullptr)
      offset = FindFirstRecord(slices, run, record_bytes, *marker, surplus);
    offset = std::min(offset, run.bytes);
    uint64_t left = (run.bytes - offset) / record_bytes * record_bytes;
    if (left < run.bytes) {
      issues.Add(store::IssueKind::kRecordsTruncated,
                 fmt::format("{}: {} bytes too many for records of {} bytes",
                             NameOf(slices[offset > 0 ? run.first : run.last - 1].path),
                             run.bytes - left, record_bytes));
    }
    size_t slice = run.first;
    while (left > 0) {
      while (offset >= slices[slice].size_bytes) offset -= slices[slice++].size_bytes;
      const uint64_t bytes = std::min(left, piece_bytes);
      pieces.push_back({slice, offset, bytes});
      offset += bytes;
      left -= bytes;
    }
  }
  return pieces;
}

std::string ReadPiece(const std::vector<Slice>& slices, const Piece& piece,
                      store::IssueLog& issues) {
  std::string bytes;
  uint64_t offset = piece.offset;
  for (size_t i = piece.first_slice; i < slices.size() && bytes.size() < piece.bytes; ++i) {
    const uint64_t wanted = std::min(piece.bytes - bytes.size(),
                                     slices[i].size_bytes - std::min(offset, slices[i].size_bytes));
    Result<std::string> part = ReadFileRange(slices[i].path, offset, wanted);
    if (!part.ok()) {
      issues.Add(store::IssueKind::kFileUnreadable, part.error().message);
      return bytes;
    }
    const bool is_short = part->size() < wanted;
    if (bytes.empty()) {
      bytes = std::move(*part);
    } else {
      bytes += *part;
    }
    if (is_short) {
      issues.Add(store::IssueKind::kRecordsTruncated,
                 fmt::format("{}: became shorter while it was read", NameOf(slices[i].path)));
      return bytes;
    }
    offset = 0;
  }
  return bytes;
}

void CountDamaged(const Slice& slice, uint64_t offset, std::string_view what,
                  store::IssueLog& issues) {
  issues.Add(store::IssueKind::kRecordDamaged,
             issues.IsFirst(store::IssueKind::kRecordDamaged)
                 ? fmt::format("{}: byte {}: {}", NameOf(slice.path), offset, what)
                 : std::string());
}

}  // namespace steplens::readers::prof
