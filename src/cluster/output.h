#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/cluster/answer.h"
#include "base/status.h"
#include "base/thread_pool.h"

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

// Writes answers below <output>/cluster_analysis_output, which is made if need be. A file appears
// whole or not at all, and only tables and files of these recipes are replaced. Tables without rows
// are written too, unless `compat`. The tables of an answer that has files of its own are written
// only if `all_tables`. Several files are written at once.
Result<Written> WriteAnswers(std::span<const Export> exports, ExportType type,
                             const std::string& output, bool compat, bool all_tables,
                             ThreadPool& pool);

// Writes one more result file, whole or not at all.
Status WriteResultText(const std::string& path, const std::string& text);

// The csv form of a table: "Ns" columns in microseconds, headers as users know them.
table::Table CsvForm(const analysis::cluster::ResultTable& result);

}  // namespace steplens::cluster
