#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/cluster/answer.h"
#include "base/status.h"
#include "base/team.h"
#include "base/thread_pool.h"
#include "cluster/rank_texts.h"

namespace steplens::cluster {

enum class ExportType : uint8_t { kDb, kText, kNotebook, kCsv, kJson, kXlsx };

// One recipe's answer on its way to files.
struct Export {
  std::string recipe;  // "hccl_sum"
  std::string folder;  // "HcclSum"
  const analysis::cluster::Answer* answer = nullptr;
};

// What was written, for the summary and for programs that ask.
struct Written {
  std::string directory;            // <output>/cluster_analysis_output
  std::string database;             // empty if none was written
  std::vector<std::string> tables;  // in it
  std::vector<std::string> files;   // all others
};

// The files of answers that are no tables, written below <output>/cluster_analysis_output as soon
// as they are known. `texts` are what they are made of; members of the team who hold some write,
// too (ServeWrites) and are dismissed then.
class ResultFiles {
 public:
  ResultFiles(const std::string& output, Team& team, const ThreadPool& pool);
  void Write(const std::vector<const analysis::cluster::ResultFile*>& files, RankTexts& texts);
  size_t threads() const;  // for what is written after the ranks
  const Status& status() const { return status_; }
  const std::string& directory() const { return directory_; }
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  Status WriteAll(const std::vector<const analysis::cluster::ResultFile*>& files, RankTexts& texts);

  std::string directory_;
  Team& team_;
  const ThreadPool& pool_;  // of the ranks
  Status status_;
  std::vector<std::string> paths_;
};

// Writes the tables of answers beside these files, in a folder that is made if need be. A file
// appears whole or not at all, and only tables and files of these recipes are replaced. Tables
// without rows are written too, unless `compat`. The tables of an answer that has files of its own
// are written
// only if `all_tables`.
Result<Written> WriteAnswers(std::span<const Export> exports, ExportType type,
                             const ResultFiles& files, bool compat, bool all_tables);

// Writes one more result file, whole or not at all.
Status WriteResultText(const std::string& path, const std::string& text);

// The csv form of a table: "Ns" columns in microseconds, headers as users know them.
table::Table CsvForm(const analysis::cluster::ResultTable& result);

}  // namespace steplens::cluster
