#include "mcp/tool.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest_name.h"

namespace steplens::mcp {
namespace {

std::string_view SchemaType(ArgType type) {
  switch (type) {
    case ArgType::kText:
      return "string";
    case ArgType::kInteger:
      return "integer";
    case ArgType::kObject:
      return "object";
  }
  return "";
}

std::vector<Tool> MakeTools() {
  const ToolArg rank{"rank", ArgType::kInteger, "only this rank"};
  const ToolArg step{"step", ArgType::kInteger, "only this step"};
  return {
      {"open",
       "Opens a capture (a rank's folder, a folder with all ranks, a trace, a db) and says what is "
       "in it and where the time of a step goes. Without a path: lists the captures below the "
       "root.",
       {{"path", ArgType::kText, "absolute, or relative to the root"}},
       RunOpen},
      {"describe",
       "What was recorded: ranks, steps, rows per table, files not used, problems of the input.",
       WithPath({rank}), RunDescribe},
      {"findings",
       "What makes the step slow and what to do about it, the largest saving first, each with its "
       "evidence and the SQL behind it. Call this right after open.",
       WithPath({{"top", ArgType::kInteger, "how many findings; default 4"},
                 {"rule", ArgType::kText, "only findings of this rule"},
                 rank}),
       RunFindings},
      {"breakdown",
       "Where the time of a step goes: computing, exposed communication, free; per rank, with "
       "`rank` "
       "per step. Milliseconds.",
       WithPath(WithWindow({rank, step})), RunBreakdown},
      {"operators", "Kernels, host operators or API calls, the largest total time first.",
       WithPath(WithWindow({{"by",
                             ArgType::kText,
                             "what rows are; default: the best that was recorded",
                             false,
                             {"type", "name", "shape", "core", "operator", "api"}},
                            rank,
                            step})),
       RunOperators},
      {"explain",
       "Why a slice took so long (slice_id), what a collective waited for (slice_id), or why the "
       "device was idle (at_ns; without it the longest gap of the rank).",
       WithPath({{"rank", ArgType::kInteger, "the rank; default: the first"},
                 {"slice_id", ArgType::kInteger, "slices.id of that rank"},
                 {"at_ns", ArgType::kInteger, "a time within a gap, ns since the epoch as in SQL"},
                 {"track_id", ArgType::kInteger, "with at_ns: the gap of this stream alone"}}),
       RunExplain},
      {"cluster",
       "Questions about all ranks: slow ranks, links, expert balance, ... Without a question: "
       "lists "
       "them.",
       WithPath(
           WithWindow({{"question", ArgType::kText, "its name, e.g. cluster_summary"},
                       {"args", ArgType::kObject, "arguments of the question, e.g. {\"step\":3}"},
                       {"table", ArgType::kText, "only this table of the answer"}})),
       RunCluster},
      {"ask",
       "Any number of the viewer's pages (overview, critical_path, whatif, memory_curve, ...). "
       "Without a question: lists them; `about` filters the list.",
       WithPath(
           WithWindow({{"question", ArgType::kText, "its name, e.g. critical_path"},
                       {"args", ArgType::kObject, "arguments of the question, e.g. {\"rank\":0}"},
                       {"table", ArgType::kText, "only this table of the answer"},
                       {"about", ArgType::kText, "a word that listed questions have"}})),
       RunAsk},
      {"sql",
       "One SELECT (SQLite) over the capture; it cannot write. Tables: slices, kernels, comm_ops, "
       "steps, ranks, ...; the resource steplens://schema describes them. Times are ns.",
       WithPath(WithWindow({{"query", ArgType::kText, "the SELECT", true}})), RunSqlTool},
      {"compare",
       "What changed between two runs: `path` is the new one, `baseline` the old one. Differences "
       "beyond noise are regressions or improvements.",
       WithPath(
           WithWindow({{"baseline", ArgType::kText, "path of the run to compare with", true}})),
       RunCompare},
      {"link", "The command that opens the viewer at a page, a time or a slice, for people.",
       WithPath(
           {{"page",
             ArgType::kText,
             "default: timeline",
             false,
             {"overview", "timeline", "operators", "memory", "communication", "cluster", "pipeline",
              "rl", "findings", "compare", "sql", "data"}},
            {"rank", ArgType::kInteger, "the rank of the times or the slice; default: the first"},
            {"slice_id", ArgType::kInteger, "slices.id to select"},
            {"begin_ns", ArgType::kInteger, "first ns to show, since the epoch as in SQL"},
            {"end_ns", ArgType::kInteger, "last ns to show"},
            {"search", ArgType::kText, "text to search for"}}),
       RunLink},
  };
}

}  // namespace

Result<Capture> ToolCall::OpenPath() const {
  SL_ASSIGN_OR_RETURN(std::string path, args.TextOr("path", ""));
  return captures.Open(std::move(path));
}

const std::vector<Tool>& Tools() {
  static const std::vector<Tool> kTools = MakeTools();
  return kTools;
}

const Tool* FindTool(std::string_view name) {
  for (const Tool& tool : Tools()) {
    if (tool.name == name) return &tool;
  }
  return nullptr;
}

void WriteTool(JsonWriter& json, const Tool& tool) {
  json.BeginObject().Key("name").String(tool.name).Key("description").String(tool.description);
  json.Key("inputSchema").BeginObject().Key("type").String("object");
  json.Key("properties").BeginObject();
  for (const ToolArg& arg : tool.args) {
    json.Key(arg.name).BeginObject().Key("type").String(SchemaType(arg.type));
    json.Key("description").String(arg.doc);
    if (!arg.choices.empty()) {
      json.Key("enum").BeginArray();
      for (const std::string_view choice : arg.choices) json.String(choice);
      json.EndArray();
    }
    json.EndObject();
  }
  json.EndObject().Key("required").BeginArray();
  for (const ToolArg& arg : tool.args) {
    if (arg.is_required) json.String(arg.name);
  }
  json.EndArray().Key("additionalProperties").Bool(false).EndObject();
  json.Key("annotations").BeginObject().Key("readOnlyHint").Bool(true);
  json.Key("openWorldHint").Bool(false).EndObject().EndObject();
}

Status CheckArguments(const Tool& tool, JsonValue arguments) {
  Status status;
  arguments.ForEachMember([&](std::string_view name, JsonValue value) {
    if (!status.ok()) return;
    const auto found = std::find_if(tool.args.begin(), tool.args.end(),
                                    [&](const ToolArg& arg) { return arg.name == name; });
    if (found == tool.args.end()) {
      std::vector<std::string> names;
      for (const ToolArg& arg : tool.args) names.emplace_back(arg.name);
      status = Error{
          ErrorCode::kInvalidArgument,
          fmt::format("'{}' has no argument '{}'{}", tool.name, name, DidYouMean(name, names))};
    } else if (!found->choices.empty() &&
               std::find(found->choices.begin(), found->choices.end(),
                         value.AsString().value_or("")) == found->choices.end()) {
      status = Error{ErrorCode::kInvalidArgument,
                     fmt::format("'{}' must be one of {}", name, fmt::join(found->choices, ", "))};
    } else if (found->type == ArgType::kObject && !value.IsObject()) {
      status = Error{ErrorCode::kInvalidArgument, fmt::format("'{}' must be an object", name)};
    }
  });
  SL_RETURN_IF_ERROR(status);
  for (const ToolArg& arg : tool.args) {
    if (arg.is_required && !arguments[arg.name].exists())
      return Error{ErrorCode::kInvalidArgument, fmt::format("'{}' is missing", arg.name)};
  }
  return {};
}

Result<Window> WindowOf(const ToolCall& call, int64_t otherwise) {
  SL_ASSIGN_OR_RETURN(const int64_t limit, call.args.IntIn("limit", otherwise, 1, 1000));
  SL_ASSIGN_OR_RETURN(const int64_t offset, call.args.IntIn("offset", 0, 0, 1'000'000'000));
  return Window{static_cast<size_t>(limit), static_cast<size_t>(offset)};
}

std::vector<ToolArg> WithPath(std::vector<ToolArg> args) {
  args.insert(args.begin(), {"path", ArgType::kText, "the capture; default: the last one used"});
  return args;
}

std::vector<ToolArg> WithWindow(std::vector<ToolArg> args) {
  args.push_back({"limit", ArgType::kInteger, "how many rows"});
  args.push_back({"offset", ArgType::kInteger, "rows to skip"});
  return args;
}

}  // namespace steplens::mcp
