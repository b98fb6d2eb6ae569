#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/cluster/spread.h"
#include "table/table.h"

namespace steplens::analysis::cluster {

// A table of durations: text keys, the statistics and, where it is kept by rank, the rank. Rows are
// added rank by rank, so the durations behind them need not be kept.
class StatsTable {
 public:
  StatsTable(std::string name, std::initializer_list<const char*> keys)
      : table_(MakeTable(std::move(name), keys)), stats_(table_) {}
  StatsTable(const StatsTable&) = delete;  // stats_ refers to table_
  StatsTable& operator=(const StatsTable&) = delete;

  // Adds the last column.
  void AddRankColumn() { rank_ = table_.AddColumn("Rank", table::CellType::kInt); }

  void Append(std::initializer_list<std::string_view> keys, const Spread& spread,
              int64_t rank = 0) {
    size_t column = 0;
    for (const std::string_view key : keys) table_.AppendText(column++, key);
    stats_.Append(spread);
    if (rank_ > 0) table_.AppendInt(rank_, rank);
  }

  table::Table Take() { return std::move(table_); }

 private:
  static table::Table MakeTable(std::string name, std::initializer_list<const char*> keys) {
    table::Table table(std::move(name));
    for (const char* key : keys) table.AddColumn(key, table::CellType::kText);
    return table;
  }

  table::Table table_;
  SpreadColumns stats_;
  size_t rank_ = 0;  // 0: no such column, since keys come first
};

// The entries of a map of spreads, the largest sum first. The map must outlive the answer.
template <typename Key>
std::vector<const std::pair<const Key, Spread>*> BySum(const std::map<Key, Spread>& spreads) {
  std::vector<const std::pair<const Key, Spread>*> order;
  for (const auto& entry : spreads) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.sum_ns() > b->second.sum_ns();
  });
  return order;
}

}  // namespace steplens::analysis::cluster
