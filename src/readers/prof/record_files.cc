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

}  // namespace

std::vector<Piece> CutIntoPieces(const std::vector<Slice>& slices, size_t record_bytes, Cut cut,
                                 store::IssueLog& issues) {
  std::vector<Piece> pieces;
  const uint64_t piece_bytes = std::max<uint64_t>(1, kPieceBytes / record_bytes) * record_bytes;
  for (const Run& run : FindRuns(slices, cut)) {
    const uint64_t surplus = run.bytes % record_bytes;
    const bool is_front = cut == Cut::kAnywhere && slices[run.first].number > 0;
    if (surplus > 0) {
      issues.Add(store::IssueKind::kRecordsTruncated,
                 fmt::format("{}: {} bytes too many for records of {} bytes",
                             NameOf(slices[is_front ? run.first : run.last - 1].path), surplus,
                             record_bytes));
    }
    uint64_t offset = is_front ? surplus : 0;  // in the slice
    uint64_t left = run.bytes - surplus;
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
