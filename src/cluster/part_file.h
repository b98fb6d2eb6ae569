#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/status.h"

namespace steplens::cluster {

// What was asked of the ranks; parts of different questions cannot be put together.
struct PartQuestion {
  std::string version;  // of the program that made the parts
  std::string modes;    // as on the command line: "all,hccl_sum"
  bool compat = false;
  int64_t step = -1;
  std::map<std::string, std::string> values;  // options of single recipes

  bool operator==(const PartQuestion&) const = default;
  template <typename Archive>
  void Fields(Archive& archive) {
    archive(version, modes, compat, step, values);
  }
};

// The parts of some ranks as a file that travels between machines: some kilobytes a rank.
//
//   "slpart2\n" | record of the question | record of a rank ...
//   record: u64 size, u64 checksum, bytes; of a rank: its number, its folder, its part
class PartFileWriter {
 public:
  static Result<PartFileWriter> Create(const std::string& path, const PartQuestion& question);
  Status Add(int64_t rank, const std::string& folder, std::string_view part);
  Status Commit() { return file_.CommitDurably(); }  // the file appears now, whole

 private:
  explicit PartFileWriter(AtomicFile file) : file_(std::move(file)) {}
  Status Write(std::string_view record);
  AtomicFile file_;
};

struct PartFile {
  struct Rank {
    int64_t rank = 0;
    std::string folder;
    std::string part;

    template <typename Archive>
    void Fields(Archive& archive) {
      archive(rank, folder, part);
    }
  };
  PartQuestion question;
  std::vector<Rank> ranks;  // as written

  // An error that names the file if it is none of parts, or damaged.
  static Result<PartFile> Read(const std::string& path);
};

// The parts of several files, by rank. Of a rank that is in several the first is taken; `notes`
// says how many were left out. An error if the files answer different questions.
Result<PartFile> ReadPartFiles(const std::vector<std::string>& paths,
                               std::vector<std::string>& notes);

}  // namespace steplens::cluster
