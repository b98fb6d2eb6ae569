#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/text/message.h"
#include "base/status.h"
#include "table/table.h"

namespace steplens::analysis::cluster {

// A result table and how its csv form differs from the database's.
struct ResultTable {
  table::Table table;      // named and typed as in cluster_analysis.db
  std::string csv_name{};  // "all_stats.csv"; empty: the table has no csv form
  // Headers of the csv, when they are not the table's. Without them columns that end in "Ns" are
  // divided by 1000 and end in "(Us)".
  std::vector<std::string> csv_headers{};
  bool csv_in_ms = false;  // "Ns" columns become "(Ms)", divided by 1,000,000
  bool is_sheet = false;   // the text form is .xlsx (csv_name says so), first columns merged
  size_t merged_columns = 0;
  std::vector<double> column_widths{};
  // The text form is one file per value of this column, which stands for "{}" in csv_name; columns
  // with an empty csv header are left out of these files. Empty: one file.
  std::string file_per{};
};

// A piece of a result file: bytes, or a stretch of a text that a recipe rendered for a rank, which
// is where the rank was mapped (Recipe::Render).
struct FilePiece {
  static constexpr uint64_t kHere = UINT64_MAX;

  FilePiece(std::string_view bytes)  // NOLINT: most pieces are bytes
      : data(bytes.data()), size(bytes.size()) {}
  FilePiece(const std::string& bytes)  // NOLINT
      : FilePiece(std::string_view(bytes)) {}
  FilePiece(const char* bytes)  // NOLINT
      : FilePiece(std::string_view(bytes)) {}
  FilePiece(uint64_t of_text, uint64_t from, uint64_t count)
      : text(of_text), offset(from), size(count) {}

  bool is_here() const { return text == kHere; }
  std::string_view bytes() const { return {data, static_cast<size_t>(size)}; }

  uint64_t text = kHere;  // its number
  union {
    const char* data;  // of bytes
    uint64_t offset;   // in the text
  };
  uint64_t size = 0;
};

// A result file that is no table, written piece by piece. `path` is relative to
// cluster_analysis_output.
struct ResultFile {
  std::string path;
  using Sink = std::function<Status(const FilePiece&)>;
  std::function<Status(const Sink&)> write;
};

// What --in_place puts into a rank's own capture, and nothing else does.
struct RankEdit {
  enum class Kind : uint8_t {
    kTable,   // a table of the rank's profiler db, replaced if it is there
    kColumn,  // a column of a table that is there: the last column of `table` is the new one, the
              // others find the rows (an empty cell fits all)
    kCsv,     // a file in ASCEND_PROFILER_OUTPUT, unless it is there
  };
  int64_t rank = 0;
  Kind kind = Kind::kTable;
  table::Table table;
  std::string file_name{};  // of kCsv
};

// What a recipe found out.
struct Answer {
  std::vector<ResultTable> tables;
  std::vector<ResultFile> files;
  std::vector<RankEdit> edits;
  bool had_input = false;  // the captures had what it looks for, though tables may have no rows
  std::vector<std::string> notes;  // what the user should know: one sentence each
  // A note about so many, if there are any. Words in braces follow the number: of one,
  // "{ranks} {have} no kernels" is "1 rank has no kernels".
  void Note(size_t count, std::string_view text);

  Message suggestion;             // how to read the tables and what to do next
  std::vector<Finding> findings;  // what is slow; ClusterFindings has the same
  double step_ms = 0;             // of the summary: what a step takes on most ranks
};

}  // namespace steplens::analysis::cluster
