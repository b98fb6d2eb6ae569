#include "mcp/rank_times.h"

#include <fmt/format.h>

#include <algorithm>

namespace steplens::mcp {
namespace {

using analysis::StepTimes;

struct NamedPart {
  const char* name;
  int64_t StepTimes::* sum_ns;
};
constexpr NamedPart kNamedParts[] = {
    {"computing", &StepTimes::computing_ns},
    {"exposed communication", &StepTimes::exposed_ns},
    {"free", &StepTimes::free_ns},
};

double PerStepMs(const StepTimes& times, int64_t ns) {
  return static_cast<double>(ns) / 1e6 / static_cast<double>(times.steps);
}

void AddSpread(const std::vector<RankTimes>& ranks, const NamedPart& part, Answer& answer) {
  const auto less = [&](const RankTimes& a, const RankTimes& b) {
    return PerStepMs(a.times, a.times.*part.sum_ns) < PerStepMs(b.times, b.times.*part.sum_ns);
  };
  const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end(), less);
  answer.Line(fmt::format("{} by rank: {:.3f} ms (rank {}) to {:.3f} ms (rank {}) per step",
                          part.name, PerStepMs(least->times, least->times.*part.sum_ns),
                          least->rank, PerStepMs(most->times, most->times.*part.sum_ns),
                          most->rank));
}

}  // namespace

std::vector<RankTimes> RankTimesOf(const Capture& capture) {
  std::vector<RankTimes> out;
  for (size_t i = 0; i < capture.job->ranks.size(); ++i)
    out.push_back({capture.job->ranks[i].info.rank, analysis::MeasureSteps(capture.Facts(i))});
  return out;
}

table::Table RankTimesTable(const std::vector<RankTimes>& ranks) {
  table::Table out("breakdown");
  const size_t rank = out.AddColumn("rank", table::CellType::kInt);
  const size_t steps = out.AddColumn("steps", table::CellType::kInt);
  const std::pair<const char*, int64_t StepTimes::*> columns[] = {
      {"step_ms", &StepTimes::step_ns},
      {"computing_ms", &StepTimes::computing_ns},
      {"exposed_communication_ms", &StepTimes::exposed_ns},
      {"overlapped_communication_ms", &StepTimes::overlapped_ns},
      {"free_ms", &StepTimes::free_ns}};
  for (const auto& [name, unused] : columns) out.AddColumn(name, table::CellType::kDouble, 3);
  for (const RankTimes& one : ranks) {
    out.AppendInt(rank, one.rank);
    out.AppendInt(steps, static_cast<int64_t>(one.times.steps));
    size_t column = steps;
    for (const auto& [unused, sum_ns] : columns)
      out.AppendDouble(++column, PerStepMs(one.times, one.times.*sum_ns));
  }
  return out;
}

void AddRankTimes(const std::vector<RankTimes>& ranks, Answer& answer) {
  double step_ms = 0;
  for (const RankTimes& one : ranks) step_ms += PerStepMs(one.times, one.times.step_ns);
  const auto count = static_cast<double>(ranks.size());
  std::string line = fmt::format("mean step {:.3f} ms:", step_ms / count);
  for (const NamedPart& part : kNamedParts) {
    double ms = 0;
    for (const RankTimes& one : ranks) ms += PerStepMs(one.times, one.times.*part.sum_ns);
    line += fmt::format(" {} {:.3f} ms ({:.1f} %),", part.name, ms / count,
                        step_ms > 0 ? 100 * ms / step_ms : 0.0);
  }
  line.back() = '.';
  answer.Line(line);
  if (ranks.size() < 2) return;
  for (const NamedPart& part : kNamedParts) AddSpread(ranks, part, answer);
}

}  // namespace steplens::mcp
