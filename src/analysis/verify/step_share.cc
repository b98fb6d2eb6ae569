#include "analysis/verify/step_share.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "analysis/classify/device_work.h"
#include "analysis/steps/step_parts.h"
#include "analysis/time_math.h"
#include "analysis/verify/step_rows.h"

namespace steplens::analysis::verify {
namespace {

struct Piece {
  int64_t group;  // pieces of different groups are never joined
  int64_t begin_ns;
  int64_t end_ns;
  size_t row;  // of step_traces, or StepRows::kNoRow
};

// Calls run(row of the first piece, length, pieces overlap each other) for every run of busy time.
template <typename Run>
void ForEachRun(std::vector<Piece>& pieces, Run&& run) {
  const auto key = [](const Piece& p) { return std::tie(p.group, p.begin_ns, p.end_ns); };
  std::sort(pieces.begin(), pieces.end(),
            [&](const Piece& a, const Piece& b) { return key(a) < key(b); });
  for (size_t first = 0; first < pieces.size();) {
    int64_t end_ns = pieces[first].end_ns;
    bool overlap = false;
    size_t next = first + 1;
    for (; next < pieces.size(); ++next) {
      const Piece& piece = pieces[next];
      if (piece.group != pieces[first].group || piece.begin_ns > end_ns) break;
      overlap = overlap || piece.begin_ns < end_ns;
      end_ns = std::max(end_ns, piece.end_ns);
    }
    run(pieces[first].row, GapNs(pieces[first].begin_ns, end_ns), overlap);
    first = next;
  }
}

}  // namespace

std::optional<std::vector<StepShare>> ShareKernels(const Context& context) {
  const store::KernelTable& kernels = context.store.kernels;
  StepRows rows(context);
  const bool is_cut = CutsWork(context.rank.steps());
  std::vector<StepShare> shares(context.store.step_traces.size());
  std::vector<Piece> compute;
  std::vector<Piece> communication;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const bool collective = context.IsCollective(i);
    if (!collective && IsDeviceSideOfCollective(context.Text(kernels.name[i]))) continue;
    const std::optional<size_t> row = rows.OfKernel(i);
    if (!row) return std::nullopt;
    if (kernels.begin_ns[i] == store::kNone || kernels.dur_ns[i] == store::kNone) {
      if (*row != StepRows::kNoRow) shares[*row].is_known = false;
      continue;
    }
    if (*row != StepRows::kNoRow) {
      ++(collective ? shares[*row].collectives : shares[*row].compute_kernels);
    }
    std::vector<Piece>& pieces = collective ? communication : compute;
    const Interval whole{kernels.begin_ns[i], EndNs(kernels.begin_ns[i], kernels.dur_ns[i])};
    if (is_cut) {
      ForEachStepPart(context.rank.steps(), whole, [&](Interval part) {
        const size_t place = rows.OfTime(kernels.device[i], part.begin_ns).value_or(*row);
        pieces.push_back({static_cast<int64_t>(place), part.begin_ns, part.end_ns, place});
        const bool goes_on = collective && part.end_ns < whole.end_ns;
        if (goes_on && place != StepRows::kNoRow) shares[place].collectives_go_on = true;
      });
      continue;
    }
    const int64_t group = context.is_db() ? static_cast<int64_t>(*row) : kernels.device[i];
    pieces.push_back({group, whole.begin_ns, whole.end_ns, *row});
  }
  ForEachRun(compute, [&](size_t row, int64_t length_ns, bool) {
    if (row != StepRows::kNoRow) {
      shares[row].computing_ns = AddNs(shares[row].computing_ns, length_ns);
    }
  });
  ForEachRun(communication, [&](size_t row, int64_t length_ns, bool overlap) {
    if (row == StepRows::kNoRow) return;
    shares[row].communication_ns = AddNs(shares[row].communication_ns, length_ns);
    shares[row].collectives_overlap = shares[row].collectives_overlap || overlap;
  });
  return shares;
}

}  // namespace steplens::analysis::verify
