#include "cluster/part_cache.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "base/hash.h"
#include "base/private_folder.h"

namespace steplens::cluster {
namespace {

constexpr std::string_view kCacheMagic = "slparts3";

struct RecordHeader {
  uint64_t key_high = 0;
  uint64_t key_low = 0;
  uint64_t size = 0;
  uint64_t checksum = 0;
};

}  // namespace

PartCache::PartCache(const std::string& directory, std::string_view identity) {
  if (directory.empty()) return;
  const Hash128 hash = HashWide(identity);
  // The ending puts the file under the directory's size limit.
  path_ = fmt::format("{}/parts_{:016x}{:016x}.slc", directory, hash.high, hash.low);
  Result<MappedFile> mapped = MappedFile::Open(path_);
  if (!mapped.ok()) return;
  file_ = std::make_unique<MappedFile>(*std::move(mapped));
  const std::span<const std::byte> bytes = file_->bytes();
  if (bytes.size() < kCacheMagic.size() ||
      std::memcmp(bytes.data(), kCacheMagic.data(), kCacheMagic.size()) != 0)
    return;
  size_t at = kCacheMagic.size();
  while (bytes.size() - at >= sizeof(RecordHeader)) {
    RecordHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    at += sizeof header;
    if (header.size > bytes.size() - at) return;
    records_[{header.key_high, header.key_low}] = {at, static_cast<size_t>(header.size),
                                                   header.checksum};
    at += static_cast<size_t>(header.size);
  }
}

std::optional<std::string> PartCache::Find(const store::CacheKey& rank) const {
  const auto found = records_.find({rank.high, rank.low});
  if (found == records_.end()) return std::nullopt;
  const Record& record = found->second;
  std::string part(reinterpret_cast<const char*>(file_->bytes().data()) + record.offset,
                   record.size);
  if (Hash64(part) != record.checksum) return std::nullopt;
  return part;
}

Status PartCache::BeginWriting() {
  if (path_.empty()) return {};
  SL_RETURN_IF_ERROR(MakePrivateFolder(std::filesystem::path(path_).parent_path().string()));
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path_));
  file.MakePrivate();
  writing_ = std::make_unique<AtomicFile>(std::move(file));
  return writing_->Write(kCacheMagic.data(), kCacheMagic.size());
}

void PartCache::Append(const store::CacheKey& rank, std::string_view part) {
  if (!writing_ || write_failed_) return;
  const RecordHeader header{rank.high, rank.low, part.size(), Hash64(part)};
  write_failed_ = !writing_->Write(&header, sizeof header).ok() ||
                  !writing_->Write(part.data(), part.size()).ok();
}

void PartCache::Commit() {
  if (!writing_ || write_failed_) return;
  [[maybe_unused]] const Status status = writing_->Commit();
  writing_.reset();
}

}  // namespace steplens::cluster
