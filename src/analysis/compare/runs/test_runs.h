#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/compare/runs/run_summary.h"

namespace steplens::analysis::runs {

// Normally distributed numbers, the same on every machine.
class Normal {
 public:
  explicit Normal(uint32_t seed) : random_(seed) {}
  double Uniform() { return (static_cast<double>(random_()) + 0.5) / 4294967296.0; }
  double operator()() {
    return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * std::numbers::pi * Uniform());
  }

 private:
  std::mt19937 random_;
};

// A small job for tests: what each rank takes per step, in ns, with so much noise (as a share).
struct TestJob {
  size_t ranks = 2;
  size_t steps = 10;
  uint32_t seed = 1;
  double noise = 0.005;
  std::vector<std::pair<std::string, double>> kernels = {
      {"MatMul", 40e6}, {"Conv2D", 20e6}, {"Add", 5e6}};
  std::vector<std::pair<std::string, double>> operators = {{"aten::mm", 3e6}, {"aten::add", 1e6}};
  double allreduce_ns = 10e6;
  int64_t allreduce_calls = 4;
  double free_ns = 5e6;
  double memory_bytes = 8e9;
  double slow_rank = 1;   // factor on the kernels of the last rank
  double first_step = 1;  // factor on the free time of the first step: warm-up
  bool knows_positions = false;
  int64_t pp_size = 1;

  RankPart Rank(size_t rank, Normal& normal) const {
    RankPart part;
    part.rank = static_cast<int64_t>(rank);
    if (knows_positions) {
      part.position.is_known = true;
      part.position.pp_size = pp_size;
      part.position.pp = static_cast<int64_t>(rank) % pp_size;
      part.position.dp = static_cast<int64_t>(rank) / pp_size;
    }
    const auto row = [&](RowKind kind, const std::string& name, double ns, int64_t calls) {
      SumRow sum;
      sum.kind = kind;
      sum.name = name;
      for (size_t i = 0; i < steps; ++i) {
        sum.total_ns.push_back(std::llround(ns * (1 + noise * normal())));
        sum.calls.push_back(calls);
      }
      part.rows.push_back(std::move(sum));
    };
    const double slow = rank + 1 == ranks ? slow_rank : 1;
    for (const auto& [name, ns] : kernels) row(RowKind::kKernel, name, ns * slow, 10);
    for (const auto& [name, ns] : operators) row(RowKind::kOperator, name, ns, 10);
    row(RowKind::kCollective, "allReduce (dp)", allreduce_ns, allreduce_calls);
    for (size_t i = 0; i < steps; ++i) {
      StepSums step;
      step.step = static_cast<int64_t>(10 + i);
      int64_t computing_ns = 0;
      for (const SumRow& sum : part.rows) {
        if (sum.kind == RowKind::kKernel) computing_ns += sum.total_ns[i];
      }
      const double warm = i == 0 ? first_step : 1;
      const int64_t idle_ns = std::llround(free_ns * warm * (1 + noise * normal()));
      step[StepPart::kComputing] = computing_ns;
      step[StepPart::kCommunication] = part.rows.back().total_ns[i];
      step[StepPart::kFree] = idle_ns;
      step[StepPart::kE2e] = computing_ns + part.rows.back().total_ns[i] + idle_ns;
      step[StepPart::kAllocated] = std::llround(memory_bytes * (1 + noise / 10 * normal()));
      part.steps.push_back(step);
    }
    return part;
  }

  RunSummary Run() const {
    Normal normal(seed);
    RunFolder folder;
    for (size_t rank = 0; rank < ranks; ++rank) folder.Add(Rank(rank, normal), "Level1");
    return folder.Finish("job");
  }
};

}  // namespace steplens::analysis::runs
