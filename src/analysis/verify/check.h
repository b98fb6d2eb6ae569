#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "analysis/verify/verify.h"
#include "store/trace_store.h"

// What the checks of this folder share. Not for use outside of it.

namespace steplens::analysis::verify {

// What a check may look at: the rank with its facts, and the options. Store and options must
// outlive it.
class Context {
 public:
  Context(const store::TraceStore& the_store, const VerifyOptions& the_options)
      : rank(the_store), store(the_store), options(the_options) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const RankView rank;
  const store::TraceStore& store;
  const VerifyOptions& options;

  bool has_result_tables() const { return store::HasResultTables(store.info.source); }
  bool is_db() const { return store.info.format == store::Format::kDb; }
  // How the user knows a source of rows: its text file or its db table.
  std::string_view Name(std::string_view text_name, std::string_view db_name) const {
    return is_db() ? db_name : text_name;
  }
  // kernel_details (or op_summary) is among the text files and no kernel was read: a file that
  // would have no rows is never written, so they were lost.
  bool lost_all_kernels() const;
  std::string_view Text(StringId id) const { return store.Text(id); }

  // A row of kernels that is a whole collective rather than a compute task.
  bool IsCollective(size_t kernel) const {
    return IsCommunicationCore(Text(store.kernels.core[kernel]));
  }
  SliceKind slice_kind(size_t slice) const {
    return rank.slice_kinds()[store.slices.category[slice]];
  }
  bool IsHostOp(size_t slice) const { return slice_kind(slice) == SliceKind::kHostOp; }
  bool is_gpu() const { return rank.platform() == Platform::kGpu; }
  TrackKind track_kind(store::TrackId track) const;
  // "kernel_details row 17 (MatMulV2)"
  std::string KernelText(size_t kernel) const;
};

// The operation under which communication.json keeps the sums of a class.
inline constexpr std::string_view kTotalOpInfo = "Total Op Info";

// A duration that the file holds as decimal microseconds; nothing if it is not known or absurd.
std::optional<int64_t> NsOfUs(double us);
// |a - b|; times of damaged files may lie anywhere.
uint64_t Distance(int64_t a_ns, int64_t b_ns);
// to - from, 0 if `to` is not after `from`.
int64_t GapNs(int64_t from_ns, int64_t to_ns);
// "12.340 us"; "?" if it is not known.
std::string UsText(int64_t ns);

// Gathers what one check finds, row by row, and words the result.
class Verdict {
 public:
  Verdict(const Context& context, std::string_view id, std::string_view title);

  // One row was looked at. `describe()` words it; called only for the first rows that break the
  // rule.
  template <typename Describe>
  void Row(bool holds, Describe&& describe) {
    ++rows_;
    if (holds) return;
    ++broken_;
    if (result_.offending.size() < max_rows_) result_.offending.push_back(describe());
  }

  void Held(uint64_t rows) { rows_ += rows; }

  // One value was compared; holds within the tolerance. `where()` words the row and the column.
  // What is not known is not compared: why it is not was counted when the file was read.
  template <typename Where>
  void Near(int64_t found_ns, int64_t expected_ns, int64_t tolerance_ns, Where&& where) {
    if (found_ns == store::kNone || expected_ns == store::kNone) return;
    const uint64_t off_ns = Distance(found_ns, expected_ns);
    const bool holds = off_ns <= static_cast<uint64_t>(tolerance_ns);
    Row(holds,
        [&] { return where() + " is " + UsText(found_ns) + ", expected " + UsText(expected_ns); });
    if (!holds) KeepLargest(static_cast<double>(off_ns) / 1000, " us");
  }
  template <typename Where>
  void Near(double found, double expected, double tolerance, Where&& where) {
    if (std::isnan(found) || std::isnan(expected)) return;
    const bool holds = std::fabs(found - expected) <= tolerance;
    Row(holds, [&] { return where() + FoundExpected(found, expected); });
    if (!holds) KeepLargest(std::fabs(found - expected), "");
  }

  // More words for the detail, whatever the outcome.
  void Note(std::string text) { notes_.push_back(std::move(text)); }

  // `what` names the rows in the plural ("kernels"). Without any row the rule did not apply.
  CheckResult Finish(std::string_view what);
  CheckResult NotApplicable(std::string reason);

 private:
  static std::string FoundExpected(double found, double expected);
  void KeepLargest(double deviation, std::string_view unit);

  CheckResult result_;
  size_t max_rows_;
  uint64_t rows_ = 0;
  uint64_t broken_ = 0;
  double largest_ = 0;
  std::string_view unit_;
  std::vector<std::string> notes_;
};

}  // namespace steplens::analysis::verify
