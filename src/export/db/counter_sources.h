#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace steplens::exporting {

// What a column of a sampled table holds.
enum class CounterRole : uint8_t {
  kTime,
  kDevice,
  kNumber,    // tells instances apart: "{0}" in the name or label of their series
  kText,      // the same by a text: "{1}"
  kValue,     // a series
  kEmpty,     // the timeline does not show it
  kNoNumber,  // -1: the device has one only
};

struct CounterColumn {
  std::string column;  // with its type, as in CREATE TABLE
  CounterRole role = CounterRole::kEmpty;
  std::string_view name = {};   // of the series in the trace, with "{0}" and "{1}"
  std::string_view label = {};  // its unit or number, likewise
  double factor = 1;            // from the unit of the trace to that of the table
};

// A sampled table and the process whose counters it holds.
struct CounterSource {
  std::string_view table;
  std::string_view process;
  std::vector<CounterColumn> columns;
};

std::vector<CounterSource> CounterSources();
// Tables, and columns of them, that only the exporter of CANN writes.
void AddProfSources(std::vector<CounterSource>& sources);

}  // namespace steplens::exporting
