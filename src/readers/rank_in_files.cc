#include "readers/rank_in_files.h"

#include <optional>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "readers/ascend_db/ascend_db.h"

namespace steplens::readers {
namespace {

constexpr size_t kHeadBytes = 1 << 16;

// The object that begins at `begin`, up to its last brace; empty if it does not end.
std::string_view ObjectAt(std::string_view text, size_t begin) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = begin; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '\\')
        ++i;
      else
        in_string = text[i] != '"';
    } else if (text[i] == '"') {
      in_string = true;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && --depth == 0) {
      return text.substr(begin, i + 1 - begin);
    }
  }
  return {};
}

// Kineto writes "distributedInfo": {"backend": "nccl", "rank": 3, ...} near the top of a trace.
std::optional<int64_t> RankInTraceHead(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> source = OpenByteSource(path);
  if (!source.ok()) return std::nullopt;
  std::string head(kHeadBytes, '\0');
  const Result<size_t> got = (*source)->Read(head.data(), head.size());
  if (!got.ok()) return std::nullopt;
  head.resize(*got);
  const size_t name = head.find("\"distributedInfo\"");
  const size_t begin = name == std::string::npos ? name : head.find('{', name);
  if (begin == std::string::npos) return std::nullopt;
  const Result<JsonDocument> info = JsonDocument::Parse(ObjectAt(head, begin), "distributedInfo");
  return info.ok() ? info->root()["rank"].AsInt() : std::nullopt;
}

}  // namespace

void TakeRankFromFiles(RankSource& rank) {
  for (const SourceFile& file : rank.files) {
    if (rank.rank == store::kNone && file.role == FileRole::kProfilerDb)
      rank.rank = RankInDb(file.path).value_or(store::kNone);
  }
  if (rank.source != store::Source::kUnknown || rank.files.size() != 1) return;
  if (const auto inside = RankInTraceHead(rank.files.front().path); inside && *inside >= 0)
    rank.rank = *inside;
}

}  // namespace steplens::readers
