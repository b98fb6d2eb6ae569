#include <fmt/format.h>

#include <filesystem>

#include "base/number.h"
#include "base/view_address.h"
#include "cli/commands.h"

namespace steplens::cli {
namespace {

// "1.5ms" in ns; without a unit it is ns. Nothing if it is not a time.
std::optional<int64_t> ParseTime(std::string_view text) {
  text = Trim(text);
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view unit = text.substr(digits);
  const int power = unit.empty() || unit == "ns" ? 0
                    : unit == "us"               ? 3
                    : unit == "ms"               ? 6
                    : unit == "s"                ? 9
                                                 : -1;
  if (digits == 0 || power < 0) return std::nullopt;
  return ParseScaled(text.substr(0, digits), power);
}

// "T0,T1" as the address has it.
Result<std::string> TimeState(const std::string& text) {
  const size_t comma = text.find(',');
  const auto begin = ParseTime(std::string_view(text).substr(0, comma));
  const auto end = comma == std::string::npos ? std::nullopt
                                              : ParseTime(std::string_view(text).substr(comma + 1));
  if (!begin || !end || *end <= *begin)
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("link: --time {}: not two times; write 1.2ms,3ms", text)};
  return fmt::format("{},{}", *begin, *end);
}

Result<int> RunViewLink(const Arguments& arguments) {
  const std::string path = arguments.Positional("PATH").front();
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Error{ErrorCode::kNotFound, fmt::format("{}: no such file or folder", path)};
  std::vector<std::pair<std::string, std::string>> state;
  if (arguments.Has("--time")) {
    SL_ASSIGN_OR_RETURN(const std::string time, TimeState(arguments.Value("--time")));
    state.emplace_back("t", time);
  }
  const std::pair<const char*, const char*> texts[] = {
      {"--ranks", "ranks"}, {"--step", "step"}, {"--lane", "lane"},
      {"--slice", "sel"},   {"--search", "q"},  {"--filter", "filter"}};
  for (const auto& [option, name] : texts) {
    if (arguments.Has(option)) state.emplace_back(name, arguments.Value(option));
  }
  fmt::print("{}\n", ViewAddress(path, arguments.Value("--page"), state));
  return 0;
}

}  // namespace

CommandSpec LinkCommand() {
  CommandSpec spec;
  spec.summary = "Print a link to one view of a profile";
  spec.description =
      "Prints PATH#LINK, which 'steplens view' opens at a page, a time, a lane or a slice: for "
      "reports, tickets and scripts. Lanes go by path, so a link holds for later runs too.";
  spec.positionals = {{.name = "PATH", .help = "The profile to link to"}};
  spec.options = {
      {.name = "--page",
       .value_name = "PAGE",
       .help = "The page to open",
       .default_value = "timeline",
       .choices = {"overview", "timeline", "operators", "memory", "communication", "cluster",
                   "pipeline", "rl", "findings", "compare", "sql", "data"}},
      {.name = "--time",
       .value_name = "T0,T1",
       .help = "Time on screen, from the first event: 1.2ms,3ms (ns, us, ms or s; none: ns)"},
      {.name = "--ranks", .value_name = "LIST", .help = "Ranks in scope: 0,3-7"},
      {.name = "--step", .value_name = "N", .help = "Step in scope", .is_integer = true},
      {.name = "--lane", .value_name = "PATH", .help = "Lane to scroll to: r0/hw/stream2"},
      {.name = "--slice", .value_name = "LANE/I", .help = "Slice to select: r0/hw/stream2/17"},
      {.name = "--search", .value_name = "TEXT", .help = "Text to search for"},
      {.name = "--filter", .value_name = "TEXT", .help = "Lane filter"},
  };
  spec.example = "steplens link examples/sample --time 1ms,3ms --search MatMul";
  spec.run = RunViewLink;
  return spec;
}

}  // namespace steplens::cli
