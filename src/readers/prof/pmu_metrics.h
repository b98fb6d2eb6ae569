#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "readers/prof/control_files.h"

// What the counters of AI cores mean: columns of op_summary made of a group's events.
namespace steplens::readers::prof {

enum class CoreKind : uint8_t { kAic, kAiv };

// The sums of the counters of a task, or of its second part.
struct CounterValues {
  double cycles = 0;
  double total_us = 0;
  std::array<double, kMaxCounters> counters = {};
};

// The columns of one kind of core.
class CoreMetrics {
 public:
  // `has_prefix`: "aic_mac_ratio" of chips with two kinds of cores instead of "mac_ratio".
  CoreMetrics(CoreKind kind, const CounterSetup& setup, const Control& control, bool has_prefix);

  const std::vector<std::string>& names() const { return names_; }
  // Values of the columns, in their order.
  void Evaluate(const CounterValues& values, double* out) const;
  bool has_mac_ratio() const { return has_mac_ratio_; }
  // Of a chip with one kind of cores: the columns that the bound of memory is made of.
  int mac_column() const { return mac_column_; }
  int vec_column() const { return vec_column_; }
  int mte2_column() const { return mte2_column_; }

 private:
  enum class Form : uint8_t { kTotalTime, kCycles, kTime, kRatio, kSum, kBandwidth, kMissRate };
  struct Term {
    int counter = -1;  // -1: the event was not counted
    double factor = 1;
  };
  struct Column {
    Form form;
    std::vector<Term> terms;
  };
  double Sum(const Column& column, const CounterValues& values) const;
  void Add(std::string name, Form form, std::vector<Term> terms = {});

  std::vector<std::string> names_;
  std::vector<Column> columns_;
  double base_hz_ = 0;
  bool has_mac_ratio_ = false;
  int mac_column_ = -1;
  int vec_column_ = -1;
  int mte2_column_ = -1;
};

// Time of a task in us: cycles of all its blocks, of which `cores` run at once.
double TotalTimeUs(double cycles, double mhz, uint32_t blocks, int64_t cores);

}  // namespace steplens::readers::prof
