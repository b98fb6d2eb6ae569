#include "cluster/part_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/archive.h"
#include "base/hash.h"
#include "base/readability.h"

namespace steplens::cluster {
namespace {

constexpr std::string_view kFileMagic = "slpart2\n";

struct RecordHead {
  uint64_t size = 0;
  uint64_t checksum = 0;
};

// The next record, or nothing at the end or where the file is damaged.
std::optional<std::string_view> NextRecord(std::string_view& rest) {
  RecordHead head;
  if (rest.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, rest.data(), sizeof head);
  if (head.size > rest.size() - sizeof head) return std::nullopt;
  const std::string_view record = rest.substr(sizeof head, static_cast<size_t>(head.size));
  if (Hash64(record) != head.checksum) return std::nullopt;
  rest.remove_prefix(sizeof head + record.size());
  return record;
}

}  // namespace

Result<PartFileWriter> PartFileWriter::Create(const std::string& path,
                                              const PartQuestion& question) {
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  PartFileWriter writer(std::move(file));
  SL_RETURN_IF_ERROR(writer.file_.Write(kFileMagic.data(), kFileMagic.size()));
  SL_RETURN_IF_ERROR(writer.Write(ToBytes(question)));
  return writer;
}

Status PartFileWriter::Add(int64_t rank, const std::string& folder, std::string_view part) {
  return Write(ToBytes(PartFile::Rank{rank, folder, std::string(part)}));
}

Status PartFileWriter::Write(std::string_view record) {
  const RecordHead head{record.size(), Hash64(record)};
  SL_RETURN_IF_ERROR(file_.Write(&head, sizeof head));
  return file_.Write(record.data(), record.size());
}

Result<PartFile> PartFile::Read(const std::string& path) {
  constexpr uint64_t kMaxPartFile = uint64_t{256} << 30;  // some kilobytes a rank
  NoteInput(path);
  SL_ASSIGN_OR_RETURN(const std::string bytes, steplens::ReadFile(path, kMaxPartFile));
  const auto damaged = [&] {
    return Error{ErrorCode::kCorruptData,
                 path + ": is damaged or cut off; make it again with 'steplens cluster map'"};
  };
  std::string_view rest = bytes;
  if (!rest.starts_with(kFileMagic)) {
    return Error{ErrorCode::kCorruptData,
                 path + ": is not a parts file; 'steplens cluster map' makes them"};
  }
  rest.remove_prefix(kFileMagic.size());
  PartFile out;
  const auto head = NextRecord(rest);
  auto question = head ? FromBytes<PartQuestion>(*head) : std::nullopt;
  if (!question) return damaged();
  out.question = std::move(*question);
  while (!rest.empty()) {
    const auto record = NextRecord(rest);
    std::optional<Rank> rank = record ? FromBytes<Rank>(*record) : std::nullopt;
    if (!rank) return damaged();
    out.ranks.push_back(std::move(*rank));
  }
  return out;
}

Result<PartFile> ReadPartFiles(const std::vector<std::string>& paths,
                               std::vector<std::string>& notes) {
  PartFile all;
  for (const std::string& path : paths) {
    SL_ASSIGN_OR_RETURN(PartFile file, PartFile::Read(path));
    if (&path == &paths.front()) {
      all.question = file.question;
    } else if (!(file.question == all.question)) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("{} and {} were made by different versions, or with different modes "
                               "or options",
                               paths.front(), path)};
    }
    for (PartFile::Rank& rank : file.ranks) all.ranks.push_back(std::move(rank));
  }
  std::stable_sort(all.ranks.begin(), all.ranks.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
  const size_t before = all.ranks.size();
  all.ranks.erase(std::unique(all.ranks.begin(), all.ranks.end(),
                              [](const auto& a, const auto& b) { return a.rank == b.rank; }),
                  all.ranks.end());
  if (const size_t twice = before - all.ranks.size(); twice > 0) {
    notes.push_back(fmt::format("{} part{} left out: their ranks are already present", twice,
                                twice == 1 ? " is" : "s are"));
  }
  return all;
}

}  // namespace steplens::cluster
