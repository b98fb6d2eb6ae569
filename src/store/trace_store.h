#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/string_pool.h"
#include "store/issues.h"
#include "store/origin.h"
#include "store/tables.h"

namespace steplens::store {

// A file of the profile: used, or left out with the reason.
struct InputFile {
  std::string path;
  uint64_t size_bytes = 0;
  bool used = true;
  std::string note;      // why it was left out; empty for a used file
  bool is_lost = false;  // left out although it should hold a rank: people must be told
  int64_t read_ns = 0;   // how long reading took in this run; 0 if the rank came from the cache
};

// Who and what one rank is.
struct RankInfo {
  int64_t rank = 0;
  Source source = Source::kUnknown;
  Format format = Format::kUnknown;
  std::string level;       // Level0, Level1, ...; empty if the input does not say
  std::string path;        // the rank's folder or file, as found below what the user gave
  std::string trace_path;  // the file that slices' args_offset refers to; empty if none
  int64_t device = kNone;
  bool has_device_folder = false;  // raw captures: an accelerator's own data (PROF_*) lies beside
  std::vector<InputFile> files;
};

// A table whose columns the input decides (PMU metrics; csv files with no table of their own).
struct DynamicColumn {
  std::string name;  // the header as written
  // Exactly one of the two is filled: numbers if every cell is a number or not known, texts
  // otherwise.
  Column<double> numbers;
  Column<StringId> texts;
  bool is_text() const { return texts.size() > 0; }
  size_t size() const { return is_text() ? texts.size() : numbers.size(); }
};
struct DynamicTable {
  std::string name;  // SQL name, e.g. "l2_cache"
  std::vector<DynamicColumn> columns;
  size_t size() const { return columns.empty() ? 0 : columns.front().size(); }
};

// Everything known about one rank. Filled by a reader, then never changed.
struct TraceStore {
  RankInfo info;
  StringPool strings;
#define SL_DECLARE_MEMBER_(Table, member, COLUMNS) Table member;
  SL_TABLES(SL_DECLARE_MEMBER_)
#undef SL_DECLARE_MEMBER_
  std::vector<DynamicColumn> kernel_metrics;  // rows parallel to `kernels`
  std::vector<DynamicTable> sheets;           // csv files kept as they are
  IssueLog issues;

  // Keeps the mapped cache file alive that columns and strings may view.
  std::unique_ptr<MappedFile> backing;

  std::string_view Text(StringId id) const { return strings.Get(id); }
  std::optional<std::string_view> FindMeta(std::string_view name) const;

  // visit(table) for each table of the store, in the order of SL_TABLES.
  template <typename Visitor>
  void ForEachTable(Visitor&& visit) {
#define SL_VISIT_MEMBER_(Table, member, COLUMNS) visit(member);
    SL_TABLES(SL_VISIT_MEMBER_)
  }
  template <typename Visitor>
  void ForEachTable(Visitor&& visit) const {
    SL_TABLES(SL_VISIT_MEMBER_)
#undef SL_VISIT_MEMBER_
  }
};

// First start and last end over slices, kernels and communication; {0, 0} for an empty store.
// Slices at time 0 in a trace of epoch times are outliers and do not count.
struct Extent {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};
Extent ComputeExtent(const TraceStore& store);

// All ranks of a job, ordered by rank.
struct Job {
  std::vector<TraceStore> ranks;
  std::vector<InputFile> ignored;  // files below the given paths that belong to no rank
  // Which captures were left out or got another number, and why; one sentence each.
  std::vector<std::string> notes{};
};

}  // namespace steplens::store
