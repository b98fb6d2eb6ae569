// How honest the gate of `steplens compare` is, on steps of real runs:
//
//   compare_noise BASELINE_FOLDER NAME [SEED] [STEPS] [BLOCK]
//
// Reads a baseline of one long run and compares two halves of its steps, drawn anew 200 times in
// blocks of BLOCK steps that follow one another (default 1), STEPS in each half (default: all):
// nothing changed, so every alarm is false. Then one of the halves is made slower by a known share
// and the same gate asked, to find the smallest change it sees.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

#include "analysis/compare/runs/gate.h"
#include "cluster/baselines.h"

namespace {

using steplens::analysis::runs::GateRule;
using steplens::analysis::runs::RankRun;
using steplens::analysis::runs::RowKind;
using steplens::analysis::runs::RunSummary;
using steplens::analysis::runs::StepPart;
using steplens::analysis::runs::StepSums;
using steplens::analysis::runs::SumRow;

constexpr int kComparisons = 200;

// The run as if it had only these steps, by their places, ascending.
RunSummary WithSteps(const RunSummary& run, const std::vector<size_t>& places) {
  RunSummary out = run;
  out.steps.clear();
  for (const size_t place : places) out.steps.push_back(run.steps[place]);
  for (RankRun& rank : out.ranks) {
    std::erase_if(rank.steps, [&](const StepSums& step) {
      return !std::binary_search(out.steps.begin(), out.steps.end(), step.step);
    });
  }
  for (size_t i = 0; i < run.rows.size(); ++i) {
    SumRow& row = out.rows[i];
    row.total_ns.clear();
    row.calls.clear();
    row.ranks.clear();
    for (const size_t place : places) {
      row.total_ns.push_back(run.rows[i].total_ns[place]);
      row.calls.push_back(run.rows[i].calls[place]);
      row.ranks.push_back(run.rows[i].ranks[place]);
    }
  }
  return out;
}

// Everything takes longer by this share.
void Slow(RunSummary& run, double share) {
  const auto scaled = [share](int64_t ns) {
    return std::llround(static_cast<double>(ns) * (1 + share));
  };
  for (RankRun& rank : run.ranks) {
    for (StepSums& step : rank.steps) {
      for (const StepPart part : {StepPart::kE2e, StepPart::kComputing}) {
        if (step[part] != steplens::store::kNone) step[part] = scaled(step[part]);
      }
    }
  }
  for (SumRow& row : run.rows) {
    if (row.kind != RowKind::kKernel) continue;
    for (int64_t& ns : row.total_ns) ns = scaled(ns);
  }
}

// How steps are drawn.
struct Draw {
  uint32_t seed = 1;
  size_t steps = 0;  // of each half; 0: half of all
  size_t block = 1;  // that stay together, so that steps still follow one another
};

int CountAlarms(const RunSummary& run, const std::vector<GateRule>& rules, double slower,
                const Draw& draw) {
  std::mt19937 random(draw.seed);
  int alarms = 0;
  for (int i = 0; i < kComparisons; ++i) {
    std::vector<size_t> blocks(run.steps.size() / draw.block);
    std::iota(blocks.begin(), blocks.end(), size_t{0});
    for (size_t k = blocks.size(); k > 1; --k) std::swap(blocks[k - 1], blocks[random() % k]);
    std::vector<size_t> places;
    for (const size_t block : blocks) {
      for (size_t k = 0; k < draw.block; ++k) places.push_back(block * draw.block + k);
    }
    const size_t most = places.size() / 2;
    const size_t each = draw.steps == 0 ? most : std::min(most, draw.steps);
    const auto half = places.begin() + static_cast<int64_t>(each);
    std::vector<size_t> first(places.begin(), half);
    std::vector<size_t> second(half, half + static_cast<int64_t>(each));
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    RunSummary changed = WithSteps(run, second);
    if (slower > 0) Slow(changed, slower);
    alarms += ApplyGate(WithSteps(run, first), changed, rules).is_breached() ? 1 : 0;
  }
  return alarms;
}

std::vector<GateRule> Parsed(std::initializer_list<std::string_view> texts) {
  std::vector<GateRule> rules;
  for (const std::string_view text : texts)
    rules.push_back(*steplens::analysis::runs::ParseGateRule(text));
  return rules;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: compare_noise BASELINE_FOLDER NAME [SEED] [STEPS] [BLOCK]\n");
    return 2;
  }
  const auto run = steplens::cluster::Baselines(argv[1]).Load(argv[2]);
  if (!run.ok()) {
    fmt::print(stderr, "compare_noise: {}\n", run.error().message);
    return 1;
  }
  const auto number = [&](int at, int otherwise) {
    return static_cast<size_t>(std::max(argc > at ? std::atoi(argv[at]) : otherwise, 0));
  };
  const Draw draw{static_cast<uint32_t>(number(3, 1)), number(4, 0),
                  std::max<size_t>(number(5, 1), 1)};
  fmt::print("{}: {} ranks, {} steps, halves compared {} times\n", argv[2], run->ranks.size(),
             run->steps.size(), kComparisons);
  const std::vector<GateRule> many =
      Parsed({"e2e>3%", "computing>3%", "communication>3%", "free>3%", "memory>2%", "kernel:*>5%",
              "operator:*>5%", "comm:*>5%", "rank:*>5%"});
  fmt::print("false alarms of 'e2e>3%': {}\n", CountAlarms(*run, Parsed({"e2e>3%"}), 0, draw));
  fmt::print("false alarms of nine rules: {}\n", CountAlarms(*run, many, 0, draw));
  for (const double share : {0.01, 0.02, 0.03, 0.05, 0.10, 0.20, 0.50}) {
    fmt::print("slower by {:.0f} %: 'e2e>0%' found {} of {}, nine rules {}\n", share * 100,
               CountAlarms(*run, Parsed({"e2e>0%"}), share, draw), kComparisons,
               CountAlarms(*run, many, share, draw));
  }
  return 0;
}
