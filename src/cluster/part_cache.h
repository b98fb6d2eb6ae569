#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "store/cache.h"

namespace steplens::cluster {

// The parts of an earlier run over the same ranks with the same recipes: one file in the user's
// cache directory, a record a rank, each with its key and checksum. What does not match is simply
// computed again.
class PartCache {
 public:
  // `identity` says what is run: the recipes, their options, the input's path. Without a directory
  // there is no cache.
  PartCache(const std::string& directory, std::string_view identity);

  std::optional<std::string> Find(const store::CacheKey& rank) const;
  bool Has(const store::CacheKey& rank) const { return records_.contains({rank.high, rank.low}); }

  // Begins the file of this run, which takes the place of the old one when Commit is called.
  Status BeginWriting();
  void Append(const store::CacheKey& rank, std::string_view part);
  void Commit();  // a cache that cannot be written costs time at the next run, nothing else

 private:
  struct Record {
    size_t offset = 0;
    size_t size = 0;
    uint64_t checksum = 0;
  };
  std::string path_;
  std::unique_ptr<MappedFile> file_;
  std::map<std::pair<uint64_t, uint64_t>, Record> records_;
  std::unique_ptr<AtomicFile> writing_;
  bool write_failed_ = false;
};

}  // namespace steplens::cluster
