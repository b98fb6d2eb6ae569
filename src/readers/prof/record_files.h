#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "format/bytes.h"
#include "readers/prof/prof_files.h"
#include "readers/read_options.h"
#include "store/issues.h"

namespace steplens::readers::prof {

// How the slices of a family hold its records.
enum class Cut : uint8_t {
  kAtRecords,  // host: each slice is a whole number of records
  kAnywhere,   // device: the slices are one stream, which was cut without regard to records
};

// Some records of a family that lie behind each other.
struct Piece {
  size_t first_slice = 0;
  uint64_t offset = 0;  // in that slice
  uint64_t bytes = 0;   // a whole number of records; may reach into the following slices
};

// What all records of a family have at the same place.
struct Marker {
  size_t offset;
  uint16_t value;
};

// Cuts a family into pieces of some megabytes. A slice that is no whole number of records, or the
// ends of a stream, are counted.
//
// The part of a record that a stream has too much stands at its front if slices before it are gone,
// at its end otherwise; if both may be, the marker says where records begin. Where slices are
// missing in the middle a new stream begins.
std::vector<Piece> CutIntoPieces(const std::vector<Slice>& slices, size_t record_bytes, Cut cut,
                                 store::IssueLog& issues, const Marker* marker = nullptr);

// The bytes of a piece; shorter if the files shrank. A file that cannot be read is counted.
std::string ReadPiece(const std::vector<Slice>& slices, const Piece& piece,
                      store::IssueLog& issues);

void CountDamaged(const Slice& slice, uint64_t offset, std::string_view what,
                  store::IssueLog& issues);

// Reads all records of a family on all threads. decode(record, slice, part) -> bool fills the part
// of its piece; false if the record is damaged. Parts come in the order of the records.
template <typename Part, typename Decode>
std::vector<Part> ReadParts(const std::vector<Slice>& slices, size_t record_bytes, Cut cut,
                            const ReadOptions& options, store::IssueLog& issues,
                            const Decode& decode, const Marker* marker = nullptr) {
  const std::vector<Piece> pieces = CutIntoPieces(slices, record_bytes, cut, issues, marker);
  std::vector<Part> parts(pieces.size());
  std::vector<store::IssueLog> logs(pieces.size());
  options.pool->ParallelFor(pieces.size(), [&](size_t i) {
    const std::string bytes = ReadPiece(slices, pieces[i], logs[i]);
    const format::Bytes view = format::AsBytes(bytes);
    const Slice& slice = slices[pieces[i].first_slice];
    for (size_t at = 0; at + record_bytes <= view.size(); at += record_bytes) {
      if (!decode(view.subspan(at, record_bytes), slice, parts[i]))
        CountDamaged(slice, pieces[i].offset + at, "unknown marker", logs[i]);
    }
    if (options.progress != nullptr) options.progress->Add(bytes.size());
  });
  for (const store::IssueLog& log : logs) issues.Merge(log);
  return parts;
}

// The same where a record gives rows: decode(record, slice, rows).
template <typename Row, typename Decode>
std::vector<Row> ReadRows(const std::vector<Slice>& slices, size_t record_bytes, Cut cut,
                          const ReadOptions& options, store::IssueLog& issues, const Decode& decode,
                          const Marker* marker = nullptr) {
  std::vector<std::vector<Row>> parts =
      ReadParts<std::vector<Row>>(slices, record_bytes, cut, options, issues, decode, marker);
  if (parts.size() == 1) return std::move(parts.front());
  size_t total = 0;
  for (const auto& part : parts) total += part.size();
  std::vector<Row> rows;
  rows.reserve(total);
  for (auto& part : parts) {
    rows.insert(rows.end(), part.begin(), part.end());
    part = {};
  }
  return rows;
}

// How many elements an array of a packed record has; no reference to the array is made, which may
// lie at any address.
template <typename Array>
inline constexpr size_t kLengthOf = std::extent_v<std::remove_cvref_t<Array>>;

// A record, or its part at `offset`, as the struct of its layout.
template <typename Layout>
Layout As(format::Bytes record, size_t offset = 0) {
  return format::Load<Layout>(record, offset);
}

}  // namespace steplens::readers::prof
