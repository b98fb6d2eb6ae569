// Prints a named result of the viewer, for people who work on it.
//
//   metric_dump PATH METRIC [NAME=VALUE]...
#include <fmt/format.h>

#include <string_view>

#include "analysis/viewer/metric.h"
#include "open/open.h"
#include "readers/slice_args.h"
#include "table/console.h"

namespace {

using namespace steplens;

int Fail(std::string_view message) {
  fmt::print(stderr, "metric_dump: {}\n", message);
  return 2;
}

int Run(int count, char** words) {
  if (count < 3) return Fail("usage: metric_dump PATH METRIC [NAME=VALUE]...");
  const Result<store::Job> job = opening::OpenJob({words[1]}, {});
  if (!job.ok()) return Fail(job.error().message);
  analysis::viewer::MetricArgs args;
  for (int i = 3; i < count; ++i) {
    const std::string_view word = words[i];
    const size_t mark = word.find('=');
    if (mark == word.npos) return Fail(fmt::format("'{}' is not NAME=VALUE", word));
    args.values.emplace(word.substr(0, mark), std::string(word.substr(mark + 1)));
  }
  const auto answer =
      analysis::viewer::ComputeMetric(words[2], args, *job, readers::MakeArgsReader());
  if (!answer.ok()) return Fail(answer.error().message);
  for (const table::Table& table : answer->tables) {
    fmt::print("{}: {} rows\n{}\n", table.name(), table.rows(), table::ToConsole(table, {}));
  }
  for (const analysis::Message& warning : answer->warnings)
    fmt::print("warning: {}\n", English(warning));
  return 0;
}

}  // namespace

int main(int count, char** words) { return Run(count, words); }
