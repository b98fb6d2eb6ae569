#include "cluster/in_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "cluster/database.h"
#include "readers/detect.h"
#include "table/csv.h"

namespace steplens::cluster {
namespace {

namespace fs = std::filesystem;
using analysis::cluster::RankEdit;
using analysis::cluster::RankFacts;
using table::CellType;
using table::Column;
using table::Table;

// The one recipe whose edits are made without --in_place, on copies.
constexpr std::string_view kOnCopies = "mstx2commop";

// The profiler db of a rank; empty if it has none.
std::string FindDatabase(const RankFacts& rank) {
  const Result<readers::Detected> detected = readers::DetectRanks({rank.path});
  if (!detected.ok()) return "";
  for (const readers::RankSource& source : detected->ranks) {
    for (const readers::SourceFile& file : source.files) {
      if (file.role == readers::FileRole::kProfilerDb) return file.path;
    }
  }
  return "";
}

Column IntColumn(std::string name, std::vector<int64_t> values) {
  Column column;
  column.name = std::move(name);
  column.ints = std::move(values);
  return column;
}

// COMMUNICATION_OP holds ids where a recipe has texts.
Result<Table> WithIds(const Table& table, DatabaseCopy& db) {
  Table out(table.name());
  for (const Column& column : table.columns()) {
    if (column.type != CellType::kText) {
      out.AddColumn(column);
    } else if (column.name == "dataType") {
      SL_ASSIGN_OR_RETURN(const auto ids, db.ReadEnum("ENUM_HCCL_DATA_TYPE"));
      std::vector<int64_t> values;
      for (std::string text : column.texts) {
        for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        const auto id = ids.find(text);
        values.push_back(id == ids.end() ? table::kNull : id->second);
      }
      out.AddColumn(IntColumn(column.name, std::move(values)));
    } else {
      SL_ASSIGN_OR_RETURN(std::vector<int64_t> ids, db.InternStrings(column.texts));
      out.AddColumn(IntColumn(column.name, std::move(ids)));
    }
  }
  return out;
}

Status EditDatabase(const RankEdit& edit, DatabaseCopy& db) {
  if (edit.kind == RankEdit::Kind::kColumn) return db.SetColumn(edit.table);
  if (edit.table.name() != "COMMUNICATION_OP") return db.ReplaceTable(edit.table);
  SL_ASSIGN_OR_RETURN(const Table table, WithIds(edit.table, db));
  return db.ReplaceTable(table);
}

class Editor {
 public:
  Editor(std::span<const RankFacts> ranks, const EditOptions& options) : options_(options) {
    for (const RankFacts& rank : ranks) ranks_[rank.rank] = &rank;
  }

  Edited Apply(std::span<const Export> exports) {
    for (const Export& one : exports) {
      const bool on_copies = !options_.in_place && one.recipe == kOnCopies;
      if (!options_.in_place && !on_copies) continue;
      std::map<int64_t, std::vector<const RankEdit*>> by_rank;
      for (const RankEdit& edit : one.answer->edits) by_rank[edit.rank].push_back(&edit);
      for (const auto& [rank, edits] : by_rank) {
        const auto facts = ranks_.find(rank);
        if (facts == ranks_.end()) continue;
        ++tried_;
        const Status status = EditRank(*facts->second, edits, on_copies ? one.folder : "");
        if (!status.ok() && edited_.failed++ == 0)
          first_failure_ = fmt::format("rank {}: {}", rank, status.error().message);
      }
    }
    if (edited_.failed > 0) {
      edited_.notes.push_back(fmt::format("{} of {} ranks {} not changed ({})", edited_.failed,
                                          tried_, edited_.failed == 1 ? "was" : "were",
                                          first_failure_));
    }
    if (without_db_ > 0) {
      edited_.notes.push_back(fmt::format("{} rank{} no profiler database that could be changed",
                                          without_db_, without_db_ == 1 ? " has" : "s have"));
    }
    return std::move(edited_);
  }

 private:
  // `folder`: where the changed copy goes; empty: it replaces the original.
  Status EditRank(const RankFacts& rank, const std::vector<const RankEdit*>& edits,
                  const std::string& folder) {
    const bool all_csv = std::all_of(edits.begin(), edits.end(), [](const RankEdit* edit) {
      return edit->kind == RankEdit::Kind::kCsv;
    });
    if (!all_csv) SL_RETURN_IF_ERROR(EditRankDatabase(rank, edits, folder));
    for (const RankEdit* edit : edits) {
      if (edit->kind == RankEdit::Kind::kCsv) SL_RETURN_IF_ERROR(WriteCsv(rank, *edit));
    }
    return {};
  }

  Status EditRankDatabase(const RankFacts& rank, const std::vector<const RankEdit*>& edits,
                          const std::string& folder) {
    const std::string source = FindDatabase(rank);
    if (source.empty()) {
      ++without_db_;
      return {};
    }
    std::string target = source;
    if (!folder.empty()) {
      target =
          (fs::path(options_.directory) / folder / fs::relative(source, options_.input)).string();
      SL_RETURN_IF_ERROR(MakeFolder(fs::path(target).parent_path()));
    }
    SL_ASSIGN_OR_RETURN(DatabaseCopy db, DatabaseCopy::Make(source, target));
    for (const RankEdit* edit : edits) {
      if (edit->kind != RankEdit::Kind::kCsv) SL_RETURN_IF_ERROR(EditDatabase(*edit, db));
    }
    SL_RETURN_IF_ERROR(db.Commit());
    edited_.files.push_back(target);
    return {};
  }

  Status WriteCsv(const RankFacts& rank, const RankEdit& edit) {
    const fs::path path = fs::path(rank.path) / "ASCEND_PROFILER_OUTPUT" / edit.file_name;
    if (fs::exists(path)) return {};
    SL_RETURN_IF_ERROR(MakeFolder(path.parent_path()));
    const std::string text = table::ToCsv(edit.table, {.python_doubles = options_.compat});
    SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path.string()));
    SL_RETURN_IF_ERROR(file.Write(text.data(), text.size()));
    SL_RETURN_IF_ERROR(file.CommitDurably());
    edited_.files.push_back(path.string());
    return {};
  }

  static Status MakeFolder(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (!error) return {};
    return Error{ErrorCode::kIo,
                 fmt::format("{}: cannot make the folder: {}", path.string(), error.message())};
  }

  const EditOptions& options_;
  std::map<int64_t, const RankFacts*> ranks_;
  Edited edited_;
  int64_t without_db_ = 0;
  size_t tried_ = 0;  // ranks
  std::string first_failure_;
};

}  // namespace

Edited ApplyEdits(std::span<const Export> exports, std::span<const RankFacts> ranks,
                  const EditOptions& options) {
  return Editor(ranks, options).Apply(exports);
}

}  // namespace steplens::cluster
