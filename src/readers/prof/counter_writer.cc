#include "readers/prof/counter_writer.h"

#include <algorithm>

namespace steplens::readers::prof {

void CounterWriter::Add(std::string_view name, std::string_view label, int64_t ts_ns,
                        double value) {
  if (ts_ns < begin_ns_) return;
  const auto [place, is_new] =
      series_.try_emplace({std::string(name), std::string(label)}, store::kNoTrack);
  if (is_new) place->second = tracks_.AddCounter(process_, device_, name, label);
  rows_.push_back({place->second, ts_ns, value});
}

void CounterWriter::Flush() {
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const auto& a, const auto& b) { return a.ts_ns < b.ts_ns; });
  for (const store::CounterTable::Row& row : rows_) out_.counters.Append(row);
  rows_.clear();
}

}  // namespace steplens::readers::prof
