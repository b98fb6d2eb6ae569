#include "store/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"
#include "base/private_folder.h"
#include "store/sound.h"

// The cache file, little endian as the machine is:
//
//   0   8  magic "SLENS\0c2"
//   8  16  key (CacheKey)
//  24   8  hash of the schema: table and column names and types
//  32   8  size of the file
//  40   8  checksum of everything from byte 48 on: XXH3 of the XXH3 of each block of 8 MB, so that
//          blocks can be checked side by side
//  48      fields: each a u64 count of elements, then the elements, padded to 8 bytes:
//          rank info, issues, string offsets, string bytes, every column of every table, metric
//          columns, sheets. A column that knows nothing is its count alone, marked by the highest
//          bit
//
// Elements are stored as they are in memory, so a column of a mapped file is used in place.

namespace steplens::store {
namespace {

constexpr char kMagic[8] = {'S', 'L', 'E', 'N', 'S', '\0', 'c', '2'};
constexpr uint64_t kFormatVersion = 5;
constexpr uint64_t kUnknown = uint64_t{1} << 63;
constexpr size_t kHeaderBytes = 48;
constexpr size_t kSmallPiece = 256 << 10;
constexpr size_t kBlockBytes = 1 << 20;
constexpr size_t kFirstReserve = 32 << 10;
constexpr size_t kChecksumBlock = 8 << 20;

struct Header {
  char magic[8];
  CacheKey key;
  uint64_t schema;
  uint64_t file_bytes;
  uint64_t checksum;
};
static_assert(sizeof(Header) == kHeaderBytes);

template <typename T>
constexpr char TypeCode() {
  if constexpr (std::is_same_v<T, int64_t>) return 'l';
  if constexpr (std::is_same_v<T, uint32_t>) return 'u';
  if constexpr (std::is_same_v<T, double>) return 'd';
  if constexpr (std::is_same_v<T, StringId>) return 's';
  if constexpr (std::is_same_v<T, TrackId>) return 't';
  if constexpr (std::is_same_v<T, SliceId>) return 'c';
}

uint64_t HashSchema() {
  std::string text =
      std::to_string(kFormatVersion) + ' ' + std::to_string(static_cast<int>(IssueKind::kCount));
  TraceStore empty;
  empty.ForEachTable([&](auto& table) {
    text += table.kName;
    table.ForEachColumn([&](std::string_view name, std::string_view, auto& column) {
      using T = typename std::remove_reference_t<decltype(column)>::Value;
      text += ' ';
      text += TypeCode<T>();
      text += name;
    });
  });
  return Hash64(text);
}

uint64_t SchemaHash() {
  static const uint64_t hash = HashSchema();  // the same for every file, and not cheap
  return hash;
}

uint64_t HashOfHashes(const std::vector<uint64_t>& hashes) {
  return XXH3_64bits(hashes.data(), hashes.size() * sizeof(uint64_t));
}

// The checksum of bytes that come in pieces.
class Checksum {
 public:
  Checksum() { XXH3_64bits_reset(&state_); }
  void Add(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t part = std::min(bytes.size(), kChecksumBlock - in_block_);
      XXH3_64bits_update(&state_, bytes.data(), part);
      bytes.remove_prefix(part);
      in_block_ += part;
      if (in_block_ == kChecksumBlock) EndBlock();
    }
  }
  uint64_t Finish() {
    if (in_block_ > 0) EndBlock();
    return HashOfHashes(hashes_);
  }

 private:
  void EndBlock() {
    hashes_.push_back(XXH3_64bits_digest(&state_));
    XXH3_64bits_reset(&state_);
    in_block_ = 0;
  }

  XXH3_state_t state_;
  size_t in_block_ = 0;
  std::vector<uint64_t> hashes_;
};

uint64_t ChecksumOf(std::span<const std::byte> bytes, ThreadPool& pool) {
  std::vector<uint64_t> hashes((bytes.size() + kChecksumBlock - 1) / kChecksumBlock);
  pool.ParallelFor(hashes.size(), [&](size_t i) {
    const auto block = bytes.subspan(i * kChecksumBlock,
                                     std::min(kChecksumBlock, bytes.size() - i * kChecksumBlock));
    hashes[i] = XXH3_64bits(block.data(), block.size());
  });
  return HashOfHashes(hashes);
}

// Collects fields: small ones joined in blocks, large columns as views, so that they are written
// without a copy. A small store is one block and one write.
class FieldWriter {
 public:
  FieldWriter() { Tail(kHeaderBytes).append(kHeaderBytes, '\0'); }

  template <typename T>
  void Put(std::span<const T> values) {
    PutCount(values.size());
    PutValues(values);
    Pad(values.size_bytes());
  }
  template <typename T>
  void PutColumn(const Column<T>& column) {
    if (column.is_unknown()) return PutCount(kUnknown | column.size());
    PutCount(column.size());
    if (column.same_rows() > 0) PutRepeated(column[0], column.same_rows());
    PutValues(column.stored());
    Pad(column.size() * sizeof(T));
  }
  void PutText(std::string_view text) { Put(std::span<const char>(text.data(), text.size())); }
  void PutCount(uint64_t value) {
    PutBytes({reinterpret_cast<const char*>(&value), sizeof(value)});
  }

  // Returns the size of the file.
  Result<uint64_t> WriteTo(AtomicFile& file, const CacheKey& key) {
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof(kMagic));
    header.key = key;
    header.schema = SchemaHash();
    Checksum checksum;
    for (const Piece& piece : pieces_) {
      const size_t skipped = &piece == &pieces_.front() ? kHeaderBytes : 0;
      header.file_bytes += piece.bytes().size();
      checksum.Add(piece.bytes().substr(skipped));
    }
    header.checksum = checksum.Finish();
    std::memcpy(pieces_.front().block.data(), &header, sizeof(header));
    for (const Piece& piece : pieces_)
      SL_RETURN_IF_ERROR(file.Write(piece.bytes().data(), piece.bytes().size()));
    return header.file_bytes;
  }

 private:
  // Bytes of our own, or else a view of a column.
  struct Piece {
    std::string block;
    std::string_view view;
    std::string_view bytes() const { return block.empty() ? view : block; }
  };

  // The block at the end, which has room for so many bytes more.
  std::string& Tail(size_t size) {
    if (pieces_.empty() || pieces_.back().block.empty() ||
        pieces_.back().block.size() + size > kBlockBytes)
      pieces_.emplace_back().block.reserve(kFirstReserve);
    return pieces_.back().block;
  }
  void PutBytes(std::string_view bytes) {
    if (bytes.size() > kSmallPiece) {
      pieces_.emplace_back().view = bytes;
    } else if (!bytes.empty()) {
      Tail(bytes.size()).append(bytes);
    }
  }
  template <typename T>
  void PutValues(std::span<const T> values) {
    PutBytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  // The same block again and again, in memory once.
  template <typename T>
  void PutRepeated(T value, size_t rows) {
    constexpr size_t kRows = kSmallPiece / sizeof(T);
    if (rows <= kRows) return PutValues(std::span<const T>(std::vector<T>(rows, value)));
    std::string& block = repeated_.emplace_back(kRows * sizeof(T), '\0');
    for (size_t at = 0; at < block.size(); at += sizeof(T))
      std::memcpy(block.data() + at, &value, sizeof(T));
    for (; rows > 0; rows -= std::min(rows, kRows))
      pieces_.emplace_back().view = {block.data(), std::min(rows, kRows) * sizeof(T)};
  }
  void Pad(size_t bytes) {
    static constexpr char kZeros[8] = {};
    PutBytes({kZeros, (8 - bytes % 8) % 8});
  }

  std::deque<Piece> pieces_;
  std::deque<std::string> repeated_;  // blocks of values that repeat
};

// Walks the fields of a mapped file; every access is checked against its end.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  std::span<const T> Take() {
    const uint64_t count = TakeCount();
    if (!ok_ || count > (bytes_.size() - position_) / sizeof(T)) {
      ok_ = false;
      return {};
    }
    const auto* data = reinterpret_cast<const T*>(bytes_.data() + position_);
    position_ += (count * sizeof(T) + 7) / 8 * 8;
    return {data, static_cast<size_t>(count)};
  }
  // Columns of unknown values share one array; no table has more rows than its file has bytes.
  template <typename T>
  void TakeColumn(Column<T>& column) {
    const size_t before = position_;
    const uint64_t count = TakeCount();
    if ((count & kUnknown) == 0) {
      position_ = before;
      return column.Attach(Take<T>());
    }
    ok_ = ok_ && (count & ~kUnknown) <= bytes_.size();
    if (ok_) column.AppendUnknown(count & ~kUnknown);
  }
  std::string TakeText() {
    const auto text = Take<char>();
    return std::string(text.data(), text.size());
  }
  // A text that stands for a value; one that stands for none is damage.
  template <typename Value>
  Value TakeKnown(std::optional<Value> (*of_name)(std::string_view)) {
    const std::optional<Value> value = of_name(TakeText());
    ok_ = ok_ && value.has_value();
    return value.value_or(Value());
  }
  uint64_t TakeCount() {
    if (position_ > bytes_.size() || bytes_.size() - position_ < sizeof(uint64_t)) ok_ = false;
    if (!ok_) return 0;
    uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + position_, sizeof(value));
    position_ += sizeof(value);
    return value;
  }
  bool ok() const { return ok_; }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = kHeaderBytes;
  bool ok_ = true;
};

void PutInfo(FieldWriter& out, const TraceStore& store) {
  const RankInfo& info = store.info;
  out.PutCount(static_cast<uint64_t>(info.rank));
  out.PutCount(static_cast<uint64_t>(info.device));
  out.PutText(SourceName(info.source));
  out.PutText(FormatName(info.format));
  for (const std::string* text : {&info.level, &info.path, &info.trace_path}) out.PutText(*text);
  out.PutCount(info.files.size());
  for (const InputFile& file : info.files) {
    out.PutText(file.path);
    out.PutCount(file.size_bytes);
    out.PutCount(file.used ? 1 : 0);
    out.PutText(file.note);
  }
  for (size_t kind = 0; kind < static_cast<size_t>(IssueKind::kCount); ++kind) {
    const IssueLog::Entry& entry = store.issues.entry(static_cast<IssueKind>(kind));
    out.PutCount(entry.count);
    out.PutText(entry.example);
  }
}

void TakeInfo(FieldReader& in, TraceStore& store) {
  RankInfo& info = store.info;
  info.rank = static_cast<int64_t>(in.TakeCount());
  info.device = static_cast<int64_t>(in.TakeCount());
  info.source = in.TakeKnown(SourceOfName);
  info.format = in.TakeKnown(FormatOfName);
  for (std::string* text : {&info.level, &info.path, &info.trace_path}) *text = in.TakeText();
  const uint64_t files = in.TakeCount();
  for (uint64_t i = 0; i < files && in.ok(); ++i) {
    InputFile& file = info.files.emplace_back();
    file.path = in.TakeText();
    file.size_bytes = in.TakeCount();
    file.used = in.TakeCount() != 0;
    file.note = in.TakeText();
  }
  for (size_t kind = 0; kind < static_cast<size_t>(IssueKind::kCount); ++kind) {
    const uint64_t count = in.TakeCount();
    const std::string example = in.TakeText();
    if (count > 0) store.issues.Add(static_cast<IssueKind>(kind), example, count);
  }
}

void PutColumns(FieldWriter& out, const std::vector<DynamicColumn>& columns) {
  out.PutCount(columns.size());
  for (const DynamicColumn& column : columns) {
    out.PutText(column.name);
    out.PutColumn(column.numbers);
    out.PutColumn(column.texts);
  }
}

void TakeColumns(FieldReader& in, std::vector<DynamicColumn>& columns) {
  const uint64_t count = in.TakeCount();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    DynamicColumn& column = columns.emplace_back();
    column.name = in.TakeText();
    in.TakeColumn(column.numbers);
    in.TakeColumn(column.texts);
  }
}

std::string CachePath(const std::string& directory, const CacheKey& key) {
  return fmt::format("{}/{}.slc", directory, key.ToHex());
}

Error Damaged(const std::string& path, std::string_view what) {
  return {ErrorCode::kCorruptData, fmt::format("{}: cache file {}", path, what)};
}

Status CheckHeader(const std::string& path, std::span<const std::byte> bytes, const CacheKey& key,
                   ThreadPool& pool) {
  Header header{};
  if (bytes.size() < kHeaderBytes) return Damaged(path, "is too short");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    return Damaged(path, "has another format");
  if (!(header.key == key)) return Damaged(path, "belongs to other input");
  if (header.schema != SchemaHash()) return Damaged(path, "was written by another version");
  if (header.file_bytes != bytes.size()) return Damaged(path, "is cut off");
  if (ChecksumOf(bytes.subspan(kHeaderBytes), pool) != header.checksum)
    return Damaged(path, "fails its checksum");
  return {};
}

}  // namespace

std::string CacheKey::ToHex() const { return fmt::format("{:016x}{:016x}", high, low); }

CacheKey MakeCacheKey(const std::vector<VersionedPath>& inputs) {
  std::string text = std::to_string(SchemaHash());
  for (const VersionedPath& input : inputs) {
    text += fmt::format("\n{}\n{}", input.path, input.version);
  }
  const Hash128 hash = HashWide(text);
  return {hash.high, hash.low};
}

namespace {

struct CachePlace {
  std::string path;
  bool is_ours_by_name = false;  // it has no other use
};

CachePlace FindCachePlace() {
  const auto env = [](const char* name) {
    const char* value = std::getenv(name);  // NOLINT: read once, before threads
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string own = env("STEPLENS_CACHE_DIR"); !own.empty()) return {own, false};
  if (const std::string xdg = env("XDG_CACHE_HOME"); !xdg.empty()) return {xdg + "/steplens", true};
  if (const std::string home = env("HOME"); !home.empty()) return {home + "/.cache/steplens", true};
  return {};
}

}  // namespace

Status CheckCacheDirectory() {
  const CachePlace place = FindCachePlace();
  if (place.path.empty()) return {};
  return (place.is_ours_by_name ? MakeOwnFolder : MakePrivateFolder)(place.path);
}

std::string CacheDirectory() { return CheckCacheDirectory().ok() ? FindCachePlace().path : ""; }

StoreCache::StoreCache(std::string directory, uint64_t limit_bytes)
    : directory_(std::move(directory)), limit_(directory_, limit_bytes) {}

Result<TraceStore> StoreCache::Read(const CacheKey& key, ThreadPool& pool) const {
  const std::string path = CachePath(directory_, key);
  SL_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  TraceStore store;
  store.backing = std::make_unique<MappedFile>(std::move(mapped));
  SL_RETURN_IF_ERROR(CheckHeader(path, store.backing->bytes(), key, pool));
  FieldReader in(store.backing->bytes());
  TakeInfo(in, store);
  const auto offsets = in.Take<uint64_t>();
  const auto bytes = in.Take<char>();
  if (!in.ok() || !store.strings.Attach(offsets, bytes))
    return Damaged(path, "has damaged strings");
  store.ForEachTable([&](auto& table) {
    table.ForEachColumn(
        [&](std::string_view, std::string_view, auto& column) { in.TakeColumn(column); });
  });
  TakeColumns(in, store.kernel_metrics);
  const uint64_t sheets = in.TakeCount();
  for (uint64_t i = 0; i < sheets && in.ok(); ++i) {
    DynamicTable& sheet = store.sheets.emplace_back();
    sheet.name = in.TakeText();
    TakeColumns(in, sheet.columns);
  }
  if (!in.ok()) return Damaged(path, "is shorter than its tables");
  if (const std::string fault = FindUnsound(store, pool); !fault.empty())
    return Damaged(path, fmt::format("was not made by steplens: {}", fault));
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now: the last to be evicted
  return store;
}

Status StoreCache::Write(const CacheKey& key, const TraceStore& store) {
  const std::string path = CachePath(directory_, key);
  std::call_once(directory_made_, [&] {
    [[maybe_unused]] const Status made = MakePrivateFolder(directory_);  // shows when used
  });
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  file.MakePrivate();
  FieldWriter out;
  PutInfo(out, store);
  out.Put(store.strings.offsets());
  out.Put(store.strings.bytes());
  store.ForEachTable([&](const auto& table) {
    table.ForEachColumn(
        [&](std::string_view, std::string_view, const auto& column) { out.PutColumn(column); });
  });
  PutColumns(out, store.kernel_metrics);
  out.PutCount(store.sheets.size());
  for (const DynamicTable& sheet : store.sheets) {
    out.PutText(sheet.name);
    PutColumns(out, sheet.columns);
  }
  SL_ASSIGN_OR_RETURN(const uint64_t file_bytes, out.WriteTo(file, key));
  SL_RETURN_IF_ERROR(file.Commit());
  limit_.Added(path, file_bytes);
  return {};
}

}  // namespace steplens::store
