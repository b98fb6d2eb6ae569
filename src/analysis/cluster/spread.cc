#include "analysis/cluster/spread.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

// Neighbouring bins are 0.5 % apart, so the middle of a bin is within 0.25 % of its values.
constexpr double kBinRatio = 1.005;

int32_t BinOf(int64_t value) {
  if (value <= 0) return 0;
  return 1 + static_cast<int32_t>(std::log(static_cast<double>(value)) / std::log(kBinRatio));
}

uint64_t Magnitude(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

double BinMiddle(int32_t bin) {
  if (bin == 0) return 0;
  return std::pow(kBinRatio, bin - 1) * (1 + kBinRatio) / 2;
}

}  // namespace

void Spread::Add(int64_t dur_ns, int64_t rank) {
  ++count_;
  sum_ = AddNs(sum_, dur_ns);
  const uint64_t magnitude = Magnitude(dur_ns);
  SetSquares(squares() + static_cast<Wide>(magnitude) * magnitude);
  if (dur_ns < min_ || (dur_ns == min_ && rank < min_rank_)) {
    min_ = dur_ns;
    min_rank_ = rank;
  }
  if (dur_ns > max_ || (dur_ns == max_ && rank < max_rank_)) {
    max_ = dur_ns;
    max_rank_ = rank;
  }
  if (bins_.empty()) {
    values_.push_back(dur_ns);
    if (values_.size() > kExactLimit) Coarsen();
  } else {
    ++bins_[BinOf(dur_ns)];
  }
}

void Spread::Merge(const Spread& other) {
  if (other.count_ <= 0) return;
  count_ = AddSaturating(count_, other.count_);
  sum_ = AddNs(sum_, other.sum_);
  SetSquares(squares() + other.squares());
  if (other.min_ < min_ || (other.min_ == min_ && other.min_rank_ < min_rank_)) {
    min_ = other.min_;
    min_rank_ = other.min_rank_;
  }
  if (other.max_ > max_ || (other.max_ == max_ && other.max_rank_ < max_rank_)) {
    max_ = other.max_;
    max_rank_ = other.max_rank_;
  }
  values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  for (const auto& [bin, count] : other.bins_) bins_[bin] = AddSaturating(bins_[bin], count);
  if (!bins_.empty() || values_.size() > kExactLimit) Coarsen();
}

void Spread::Coarsen() {
  for (const int64_t value : values_) ++bins_[BinOf(value)];
  values_ = {};
}

double Spread::mean_ns() const {
  return count_ <= 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

// count * sum of squares - square of the sum, exact in 128 bits for any realistic input, divided by
// the count.
double Spread::SquaredDeviations() const {
  const auto sum = static_cast<long double>(sum_);
  const auto count = static_cast<long double>(count_);
  const uint64_t magnitude = Magnitude(sum_);
  const Wide sum_squared = static_cast<Wide>(magnitude) * magnitude;
  const Wide scaled = squares() * static_cast<Wide>(count_);
  const bool fits = static_cast<long double>(squares()) * count < 3e38L;
  const long double difference = fits ? static_cast<long double>(scaled - sum_squared)
                                      : static_cast<long double>(squares()) * count - sum * sum;
  return static_cast<double>(std::max(0.0L, difference) / count);
}

double Spread::sample_std_ns() const {
  if (count_ < 2) return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt(SquaredDeviations() / static_cast<double>(count_ - 1));
}

double Spread::population_std_ns() const {
  return count_ <= 0 ? 0 : std::sqrt(SquaredDeviations() / static_cast<double>(count_));
}

double Spread::ValueAt(int64_t index) const {
  if (bins_.empty()) {
    std::vector<int64_t> values = values_;
    // A count that another program wrote may be wrong.
    if (index < 0 || static_cast<size_t>(index) >= values.size()) return static_cast<double>(max_);
    const auto place = values.begin() + index;
    std::nth_element(values.begin(), place, values.end());
    return static_cast<double>(*place);
  }
  for (const auto& [bin, count] : bins_) {
    if (index < count) {
      return std::max(static_cast<double>(min_),
                      std::min(BinMiddle(bin), static_cast<double>(max_)));
    }
    index = SubtractSaturating(index, count);
  }
  return static_cast<double>(max_);
}

double Spread::Quantile(double q) const {
  if (count_ <= 0) return 0;
  const double position = static_cast<double>(count_ - 1) * q;
  const auto below = static_cast<int64_t>(position);
  const double low = ValueAt(below);
  const double part = position - static_cast<double>(below);
  if (part == 0) return low;
  return low + (ValueAt(below + 1) - low) * part;
}

SpreadColumns::SpreadColumns(table::Table& table) : table_(table), first_(table.columns().size()) {
  table.AddColumn("Count", table::CellType::kInt);
  for (const char* name :
       {"MeanNs", "StdNs", "MinNs", "Q1Ns", "MedianNs", "Q3Ns", "MaxNs", "SumNs"})
    table.AddColumn(name, table::CellType::kDouble, 1);
}

void SpreadColumns::Append(const Spread& spread) {
  table_.AppendInt(first_, spread.count());
  const double values[] = {spread.mean_ns(),
                           spread.sample_std_ns(),
                           static_cast<double>(spread.min_ns()),
                           spread.Quantile(0.25),
                           spread.Quantile(0.5),
                           spread.Quantile(0.75),
                           static_cast<double>(spread.max_ns()),
                           static_cast<double>(spread.sum_ns())};
  for (size_t i = 0; i < std::size(values); ++i) table_.AppendDouble(first_ + 1 + i, values[i]);
}

}  // namespace steplens::analysis::cluster
