#include "cli/compare_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/roots.h"
#include "cli/open_input.h"
#include "cli/standard_streams.h"
#include "open/open.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;

// The reference prefers the db of a folder that has text as well.
std::string PathAsReference(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  fs::path folder = fs::path(path) / "ASCEND_PROFILER_OUTPUT";
  if (!fs::is_directory(folder, error)) folder = path;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".db")) continue;
    for (const char* prefix :
         {"ascend_pytorch_profiler", "ascend_mindspore_profiler", "msmonitor"}) {
      if (name.starts_with(prefix) && fs::exists(folder / "trace_view.json", error)) {
        return entry.path();
      }
    }
  }
  return path;
}

// A side before it is read.
class SideInput {
 public:
  SideInput(const Arguments& arguments, const std::string& path, bool compat)
      : arguments_(arguments) {
    const std::string at = compat ? PathAsReference(path) : path;
    arguments_.Set("PATH", {at});
    std::error_code error;
    if (!fs::is_directory(at, error)) return;
    AddRoot(at);
    const Result<opening::Captures> captures = opening::FindCaptures({at});
    if (!captures.ok()) return;  // opening says why
    for (const opening::Capture& capture : captures->ranks) ranks_.push_back(capture.rank);
  }

  bool is_job() const { return ranks_.size() > 1; }
  bool is_open() const { return is_open_; }
  size_t size() const { return ranks_.size(); }
  const std::vector<int64_t>& ranks() const { return ranks_; }

  // Reads all of it, once; its ranks are then those that can be read.
  Status Open() {
    SL_ASSIGN_OR_RETURN(job_, OpenInput(arguments_));
    found_ = std::max(ranks_.size(), job_.ranks.size());
    ranks_.clear();
    for (const store::TraceStore& rank : job_.ranks) ranks_.push_back(rank.info.rank);
    is_open_ = true;
    return {};
  }
  // The side with the rank that is compared; may be called again after an error.
  Result<OpenedSide> Take(int64_t rank) {
    OpenedSide side;
    side.found = is_open_ ? found_ : ranks_.size();
    if (!is_open_) {
      SL_ASSIGN_OR_RETURN(side.job, OpenInput(arguments_, rank));
      return side;
    }
    side.job = std::move(job_);
    side.rank_index =
        static_cast<size_t>(std::find(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
    return side;
  }

 private:
  Arguments arguments_;
  std::vector<int64_t> ranks_;  // ascending
  store::Job job_;
  size_t found_ = 0;
  bool is_open_ = false;
};

// The ranks that may be compared, best first.
std::vector<std::pair<int64_t, int64_t>> PairsOf(const SideInput& base,
                                                 const SideInput& comparison) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const int64_t rank : base.ranks()) {
    const auto& others = comparison.ranks();
    if (std::find(others.begin(), others.end(), rank) != others.end())
      pairs.emplace_back(rank, rank);
  }
  if (pairs.empty()) pairs.emplace_back(base.ranks().front(), comparison.ranks().front());
  return pairs;
}

}  // namespace

Result<OpenedSides> OpenSides(const Arguments& arguments, const CompareRequest& request) {
  SideInput base(arguments, request.base, request.sheets.compat);
  SideInput comparison(arguments, request.comparison, request.sheets.compat);
  const auto& formats = request.formats;
  const bool has_report = std::find(formats.begin(), formats.end(), "html") != formats.end();
  for (SideInput* side : {&base, &comparison}) {
    if (!side->is_job() || (has_report && side->size() <= kMostRanksOfReport))
      SL_RETURN_IF_ERROR(side->Open());
  }
  // What is open cannot fail any more, and is given away only once: it comes last.
  const bool base_first = !base.is_open();
  SideInput& early = base_first ? base : comparison;
  SideInput& late = base_first ? comparison : base;
  const auto pairs = PairsOf(base, comparison);
  for (size_t i = 0;; ++i) {
    const auto [a, b] = pairs[i];
    Result<OpenedSide> first = early.Take(base_first ? a : b);
    Error failure{ErrorCode::kInternal, ""};
    if (first.ok()) {
      Result<OpenedSide> second = late.Take(base_first ? b : a);
      if (second.ok()) {
        if (!base_first) std::swap(*first, *second);
        return OpenedSides{std::move(*first), std::move(*second)};
      }
      failure = std::move(second).error();
    } else {
      failure = std::move(first).error();
    }
    if (failure.code == ErrorCode::kCancelled || i + 1 == pairs.size()) return failure;
    Say(fmt::format("steplens: {}\n", failure.message));
  }
}

}  // namespace steplens::cli
