#include "cluster/output.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.h"
#include "base/readability.h"
#include "cluster/run.h"
#include "cluster/shared_write.h"
#include "table/csv.h"
#include "table/json.h"
#include "table/notebook.h"
#include "table/sqlite.h"
#include "table/xlsx.h"

namespace steplens::cluster {
namespace {

namespace fs = std::filesystem;
using analysis::cluster::Answer;
using analysis::cluster::FilePiece;
using analysis::cluster::ResultFile;
using analysis::cluster::ResultTable;
using table::CellType;
using table::Column;
using table::Table;

constexpr std::string_view kOutputName = "cluster_analysis_output";
constexpr mode_t kFolderMode = 0750;
constexpr mode_t kFileMode = 0640;

// What people look rows up by. The reference's database has no index.
const std::vector<table::SqlIndex> kIndexes = {
    {"ClusterCommunicationTime", {"step", "rank_id"}},
    {"ClusterCommunicationTime", {"group_name", "hccl_op_name"}},
    {"ClusterCommunicationBandwidth", {"step", "rank_id"}},
    {"ClusterCommunicationBandwidth", {"group_name", "hccl_op_name"}},
    // The largest table by far: making an index takes longer than making the rows, so these have
    // the fewest columns that leave a few hundred rows to look through.
    {"ClusterCommunicationMatrix", {"src_rank", "dst_rank"}},
    {"ClusterCommunicationMatrix", {"group_name"}},
    {"ClusterStepTraceTime", {"step", "index"}},
    {"ClusterWaitPairs", {"waitingRank"}},
    {"ClusterWaitPairs", {"blamedRank"}},
    {"ClusterLinkBandwidth", {"srcRank", "dstRank"}},
    {"ClusterRankStep", {"step", "rank"}}};

Status MakeFolder(const std::string& path) {
  std::error_code error;
  const bool is_new = fs::create_directories(path, error);
  if (error || !fs::is_directory(path)) {
    return Error{ErrorCode::kIo,
                 fmt::format("{}: cannot make the folder: {}; --output_path names another", path,
                             error ? error.message() : "something else has that name")};
  }
  if (is_new) LimitMode(path, kFolderMode);
  return {};
}

Status WriteWhole(const std::string& path, const ResultFile& file, const RankTexts& texts) {
  constexpr size_t kBufferBytes = 1 << 18;  // stays in the caches
  SL_ASSIGN_OR_RETURN(AtomicFile out, AtomicFile::Create(path));
  std::string buffer;
  const ResultFile::Sink sink = [&](const FilePiece& piece) -> Status {
    const std::optional<std::string_view> bytes = texts.Find(piece);
    if (!bytes) return Error{ErrorCode::kInternal, path + ": a text of it is not there"};
    buffer += *bytes;
    if (buffer.size() < kBufferBytes) return {};
    const Status status = out.Write(buffer.data(), buffer.size());
    buffer.clear();
    return status;
  };
  SL_RETURN_IF_ERROR(file.write(sink));
  SL_RETURN_IF_ERROR(out.Write(buffer.data(), buffer.size()));
  SL_RETURN_IF_ERROR(out.CommitDurably());
  LimitMode(path, kFileMode);
  return {};
}

Status WriteText(const std::string& path, const std::string& text) {
  return WriteWhole(path, {path, [&](const ResultFile::Sink& sink) { return sink(text); }}, {});
}

std::string Stem(const std::string& name) { return fs::path(name).stem().string(); }

// Some rows of a table, without the columns that are left out of files.
Table CutRows(const ResultTable& whole, size_t first, size_t last) {
  Table rows(whole.table.name());
  for (size_t c = 0; c < whole.table.columns().size(); ++c) {
    if (!whole.csv_headers.empty() && whole.csv_headers[c].empty()) continue;
    const Column& from = whole.table.columns()[c];
    Column to;
    to.name = from.name;
    to.type = from.type;
    const auto cut = [&](const auto& values, auto& out) {
      if (values.empty()) return;
      const auto begin = values.begin();
      out.assign(begin + static_cast<int64_t>(first), begin + static_cast<int64_t>(last));
    };
    cut(from.ints, to.ints);
    cut(from.doubles, to.doubles);
    cut(from.texts, to.texts);
    rows.AddColumn(std::move(to));
  }
  return rows;
}

// The files of a table that has one per value of a column (equal values stand together); none if it
// is written as one.
std::vector<ResultTable> SplitFiles(const ResultTable& whole) {
  std::vector<ResultTable> parts;
  const Column* key = whole.table.Find(whole.file_per);
  if (whole.file_per.empty() || key == nullptr) return parts;
  for (size_t first = 0; first < key->size();) {
    const std::string value = table::CellText(*key, first);
    size_t last = first;
    while (last < key->size() && table::CellText(*key, last) == value) ++last;
    ResultTable& part = parts.emplace_back(ResultTable{.table = CutRows(whole, first, last)});
    part.csv_name = fmt::format(fmt::runtime(whole.csv_name), value);
    part.csv_headers = whole.csv_headers;
    std::erase(part.csv_headers, "");
    part.merged_columns = whole.merged_columns;
    part.column_widths = whole.column_widths;
    first = last;
  }
  return parts;
}

class Writer {
 public:
  Writer(ExportType type, bool compat, bool all_tables)
      : type_(type), compat_(compat), all_tables_(all_tables) {}

  Result<Written> Write(std::span<const Export> exports, const ResultFiles& files) {
    SL_RETURN_IF_ERROR(Status(files.status()));
    written_.directory = files.directory();
    written_.files = files.paths();
    SL_RETURN_IF_ERROR(MakeFolder(written_.directory));
    std::vector<const Table*> tables;
    for (const Export& one : exports) {
      if (!one.answer->files.empty() && !all_tables_) continue;
      for (const ResultTable& result : one.answer->tables) {
        const bool is_left_out = compat_ && result.table.rows() == 0;
        if (!is_left_out && type_ == ExportType::kDb) tables.push_back(&result.table);
      }
    }
    if (!tables.empty()) SL_RETURN_IF_ERROR(WriteDatabase(tables));
    for (const Export& one : exports) {
      const bool has_tables = one.answer->files.empty() || all_tables_;
      if (type_ != ExportType::kDb && has_tables) SL_RETURN_IF_ERROR(WriteTables(one));
    }
    return std::move(written_);
  }

 private:
  Status WriteDatabase(const std::vector<const Table*>& tables) {
    written_.database = (fs::path(written_.directory) / "cluster_analysis.db").string();
    const std::span<const table::SqlIndex> indexes = kIndexes;
    SL_RETURN_IF_ERROR(
        table::UpdateSqlite(tables, written_.database, compat_ ? indexes.subspan(0, 0) : indexes));
    for (const Table* table : tables) written_.tables.push_back(table->name());
    return {};
  }

  Status WriteTables(const Export& one) {
    std::vector<table::NotebookFile> notebook;
    const std::string folder = (fs::path(written_.directory) / one.folder).string();
    bool is_made = false;
    for (const ResultTable& result : one.answer->tables) {
      if (result.csv_name.empty() || (compat_ && result.table.rows() == 0)) continue;
      if (!is_made) SL_RETURN_IF_ERROR(MakeFolder(folder));
      is_made = true;
      if (result.file_per.empty()) {
        SL_RETURN_IF_ERROR(WriteTable(result, folder));
        if (type_ == ExportType::kNotebook) notebook.push_back(Describe(result));
      }
      for (const ResultTable& part : SplitFiles(result))
        SL_RETURN_IF_ERROR(WriteTable(part, folder));
    }
    if (notebook.empty()) return {};
    const std::string path = (fs::path(folder) / "stats.ipynb").string();
    SL_RETURN_IF_ERROR(WriteText(path, table::ToNotebook(one.recipe, notebook)));
    written_.files.push_back(path);
    return {};
  }

  std::string FileName(const ResultTable& result) const {
    if (type_ == ExportType::kJson) return Stem(result.csv_name) + ".json";
    if (type_ == ExportType::kXlsx) return Stem(result.csv_name) + ".xlsx";
    if (type_ == ExportType::kCsv) return Stem(result.csv_name) + ".csv";
    return result.csv_name;
  }

  Status WriteTable(const ResultTable& result, const std::string& folder) {
    const std::string path = (fs::path(folder) / FileName(result)).string();
    SL_RETURN_IF_ERROR(WriteTableFile(result, path));
    written_.files.push_back(path);
    return {};
  }

  Status WriteTableFile(const ResultTable& result, const std::string& path) const {
    const Table csv = CsvForm(result);
    if (path.ends_with(".xlsx")) {
      const table::Sheet sheet{&csv, Stem(path), result.column_widths, result.merged_columns};
      return table::WriteXlsx(path, {&sheet, 1});
    }
    if (path.ends_with(".json")) return WriteText(path, table::ToJson(csv));
    return WriteText(path, table::ToCsv(csv, {.python_doubles = compat_}));
  }

  // The first text column names the rows; the numbers are plotted.
  static table::NotebookFile Describe(const ResultTable& result) {
    table::NotebookFile file;
    file.csv_name = result.csv_name;
    file.explanation = result.table.name();
    const Table csv = CsvForm(result);
    for (const Column& column : csv.columns()) {
      if (column.type == CellType::kText) {
        if (file.key_column.empty()) file.key_column = column.name;
      } else if (column.type == CellType::kDouble) {
        file.value_columns.push_back(column.name);
      }
    }
    return file;
  }

  ExportType type_;
  bool compat_;
  bool all_tables_;
  Written written_;
};

// "MeanNs" -> "Mean(Us)", values divided.
Column InLargerUnit(Column column, std::string_view unit, double divisor) {
  if (!column.name.ends_with("Ns") || column.type == CellType::kText) return column;
  column.name = fmt::format("{}({})", column.name.substr(0, column.name.size() - 2), unit);
  if (column.type == CellType::kInt) {
    for (const int64_t value : column.ints) {
      column.doubles.push_back(value == table::kNull ? std::numeric_limits<double>::quiet_NaN()
                                                     : static_cast<double>(value));
    }
    column.ints.clear();
    column.type = CellType::kDouble;
  }
  for (double& value : column.doubles) value /= divisor;
  return column;
}

}  // namespace

Table CsvForm(const ResultTable& result) {
  Table csv(result.table.name());
  for (size_t i = 0; i < result.table.columns().size(); ++i) {
    Column column = result.table.columns()[i];
    if (!result.csv_headers.empty()) {
      if (!result.csv_headers[i].empty()) column.name = result.csv_headers[i];
    } else {
      column = InLargerUnit(std::move(column), result.csv_in_ms ? "Ms" : "Us",
                            result.csv_in_ms ? 1e6 : 1e3);
    }
    csv.AddColumn(std::move(column));
  }
  return csv;
}

Status WriteResultText(const std::string& path, const std::string& text) {
  return WriteText(path, text);
}

ResultFiles::ResultFiles(const std::string& output, Team& team, const ThreadPool& pool)
    : directory_((fs::path(output) / kOutputName).string()), team_(team), pool_(pool) {}

size_t ResultFiles::threads() const { return ThreadsAfterRanks(team_, pool_); }

void ResultFiles::Write(const std::vector<const ResultFile*>& files, RankTexts& texts) {
  status_ = WriteAll(files, texts);
  team_.Dismiss();  // the others end while the rest is written
}

Status ResultFiles::WriteAll(const std::vector<const ResultFile*>& files, RankTexts& texts) {
  std::vector<FileToWrite> all;
  for (const ResultFile* file : files) {
    const fs::path path = fs::path(directory_) / file->path;
    SL_RETURN_IF_ERROR(MakeFolder(path.parent_path().string()));
    all.push_back({path.string(), file});
    paths_.push_back(path.string());
  }
  ThreadPool writers(threads());
  if (team_.members() > 1 && !all.empty()) {
    SL_RETURN_IF_ERROR(WriteTogether(team_, writers, texts, all));
    for (const std::string& path : paths_) LimitMode(path, kFileMode);
    return {};
  }
  std::vector<Status> done(all.size());
  writers.ParallelFor(all.size(),
                      [&](size_t i) { done[i] = WriteWhole(paths_[i], *files[i], texts); });
  for (Status& status : done) SL_RETURN_IF_ERROR(std::move(status));
  return {};
}

Result<Written> WriteAnswers(std::span<const Export> exports, ExportType type,
                             const ResultFiles& files, bool compat, bool all_tables) {
  return Writer(type, compat, all_tables).Write(exports, files);
}

}  // namespace steplens::cluster
