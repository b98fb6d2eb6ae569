#include "cli/replay_output.h"

#include <fmt/format.h>

#include "cli/open_input.h"
#include "cli/standard_streams.h"
#include "table/json.h"

namespace steplens::cli {
namespace {

double Milliseconds(int64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string ReplayDocument(const analysis::StepReplay& replay,
                           const std::vector<table::Table>& tables) {
  const auto steps = static_cast<double>(replay.graph().steps());
  std::string out = fmt::format(
      "{{\"schema\":1,\"steps\":{},\"step_ms\":{:.6f},\"replay_error_percent\":{:.3f},"
      "\"is_trusted\":{}",
      replay.graph().steps(), Milliseconds(replay.measured_ns()) / steps, replay.error_percent(),
      replay.is_trusted());
  for (const table::Table& table : tables) {
    std::string rows = table::ToJson(table);
    while (rows.ends_with('\n')) rows.pop_back();
    out += fmt::format(",\"{}\":{}", table.name(), rows);
  }
  return out + "}\n";
}

}  // namespace

std::vector<OptionSpec> ReplayOptions(const std::vector<std::string>& tables) {
  return {{.name = "--rank", .value_name = "R", .help = "Only this rank", .is_integer = true},
          {.name = "--step",
           .value_name = "S",
           .help = "Only this step; default: all steps, times per step",
           .is_integer = true},
          {.name = "--top",
           .value_name = "N",
           .help = "Rows per table",
           .default_value = "15",
           .is_integer = true},
          {.name = "--table",
           .value_name = "NAME",
           .help = "Only this table; --csv prints the first without it",
           .choices = tables}};
}

Result<size_t> TopOf(const Arguments& arguments) {
  const int64_t top = arguments.Integer("--top").value_or(15);
  if (top < 1) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--top: {} is not above 0, a number of rows was expected", top)};
  }
  return static_cast<size_t>(top);
}

Status PrintReplay(const analysis::StepReplay& replay, const std::vector<table::Table>& tables,
                   const Arguments& arguments) {
  const std::string wanted = arguments.Value("--table");
  const bool is_csv = arguments.Has("--csv");
  const bool is_json = arguments.Has("--json");
  if (is_json && !is_csv && wanted.empty()) {
    SL_RETURN_IF_ERROR(PrintResult(ReplayDocument(replay, tables)));
  } else {
    if (!is_csv && !is_json) {
      const size_t steps = replay.graph().steps();
      SL_RETURN_IF_ERROR(PrintResult(fmt::format(
          "{} step{}, {:.3f} ms per step; the replay of what was recorded gives {:.3f} ms "
          "(error {:.2f} %)\n",
          steps, steps == 1 ? "" : "s",
          Milliseconds(replay.measured_ns()) / static_cast<double>(steps),
          Milliseconds(replay.explained_ns()) / static_cast<double>(steps),
          replay.error_percent())));
    }
    for (const table::Table& table : tables) {
      if (!wanted.empty() && table.name() != wanted) continue;
      if (!is_csv && !is_json) {
        SL_RETURN_IF_ERROR(PrintResult(fmt::format("\n{}:\n", table.name())));
      }
      SL_RETURN_IF_ERROR(PrintTable(table, arguments));
      if (is_csv) break;
    }
  }
  for (const analysis::Message& warning : analysis::ReplayWarnings(replay))
    Say(fmt::format("steplens: {}\n", analysis::English(warning)));
  return {};
}

}  // namespace steplens::cli
