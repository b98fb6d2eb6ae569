#include "analysis/advice/rule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/advice/rule.h"
#include "base/nearest_name.h"
#include "base/number.h"
#include "base/yaml.h"

namespace steplens::analysis {
namespace {

using Kind = YamlNode::Kind;

constexpr double kMostOfAChip = 1e6;  // cores, or MHz

class RuleFileReader {
 public:
  RuleFileReader(std::string_view name, RuleSettings& out) : name_(name), out_(out) {}

  Status Read(const YamlNode& root) {
    if (root.kind == Kind::kNull) return {};
    if (root.kind == Kind::kList) return ReadVersions(root);
    if (root.kind != Kind::kMap) return Bad(root, "a map of rules was expected");
    for (const auto& [key, value] : root.members) SL_RETURN_IF_ERROR(ReadMember(key, value));
    return {};
  }

 private:
  Error Bad(const YamlNode& node, std::string_view what) const {
    return Error{ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", name_, node.line, what)};
  }

  Status ReadMember(const std::string& key, const YamlNode& value) {
    if (key == "affinity") return ReadReplacements(value, out_.affinity);
    // Also the name of a rule, with 'enabled'.
    if (key == "fusion" && value.kind != Kind::kMap) return ReadReplacements(value, out_.fusion);
    if (key == "chips") return ReadChips(value);
    if (key == "GraphFusion" || key == "UBFusion") return ReadPasses(value);
    std::vector<std::string> known = {"affinity", "fusion", "chips", "GraphFusion", "UBFusion"};
    for (const RuleSpec& rule : Rules()) known.emplace_back(rule.name);
    if (std::find(known.begin(), known.end(), key) == known.end())
      return Bad(value, fmt::format("there is no rule '{}'{}", key, DidYouMean(key, known)));
    return ReadRule(key, value);
  }

  Status ReadRule(const std::string& rule, const YamlNode& node) {
    if (node.kind != Kind::kMap)
      return Bad(node, fmt::format("'{}' needs 'enabled', 'priority' or 'thresholds'", rule));
    for (const auto& [key, value] : node.members) {
      if (key == "enabled") {
        if (value.scalar != "true" && value.scalar != "false")
          return Bad(value,
                     fmt::format("'{}' was found, true or false was expected", value.scalar));
        if (value.scalar == "false") out_.disabled.insert(rule);
        if (value.scalar == "true") out_.disabled.erase(rule);
      } else if (key == "priority") {
        if (!PriorityFrom(value.scalar)) {
          return Bad(value,
                     fmt::format("'{}' was found, high, medium or low was expected", value.scalar));
        }
        out_.priorities[rule] = value.scalar;
      } else if (key == "thresholds") {
        SL_RETURN_IF_ERROR(ReadThresholds(rule, value));
      } else {
        return Bad(
            value,
            fmt::format("'{}' was found, 'enabled', 'priority' or 'thresholds' was expected", key));
      }
    }
    return {};
  }

  Status ReadThresholds(const std::string& rule, const YamlNode& node) {
    if (node.kind != Kind::kMap) return Bad(node, "a map of thresholds was expected");
    for (const auto& [key, value] : node.members) {
      std::vector<std::string> known;
      const ThresholdSpec* found = nullptr;
      for (const ThresholdSpec& spec : ThresholdSpecs()) {
        if (spec.rule != rule) continue;
        known.emplace_back(spec.name);
        if (spec.name == key) found = &spec;
      }
      if (found == nullptr) {
        return Bad(value,
                   fmt::format("'{}' has no threshold '{}'{}", rule, key, DidYouMean(key, known)));
      }
      const auto number = value.kind == Kind::kScalar ? ParseDouble(value.scalar) : std::nullopt;
      if (!number || !std::isfinite(*number) || *number < 0) {
        return Bad(value,
                   fmt::format("'{}' was found, a number of 0 or more was expected", value.scalar));
      }
      out_.thresholds.*(found->member) = *number;
    }
    return {};
  }

  Status ReadReplacements(const YamlNode& node, std::vector<Replacement>& out) {
    if (node.kind != Kind::kList) return Bad(node, "a list of {words, by} was expected");
    for (const YamlNode& item : node.items) {
      const YamlNode* words = item.Find("words");
      const YamlNode* by = item.Find("by");
      if (words == nullptr || by == nullptr || words->scalar.empty() || by->scalar.empty())
        return Bad(item, "'words' and 'by' were expected");
      const YamlNode* note = item.Find("note");
      out.push_back({words->scalar, by->scalar, note == nullptr ? "" : note->scalar});
    }
    return {};
  }

  Status ReadChips(const YamlNode& node) {
    if (node.kind != Kind::kMap) return Bad(node, "a map of chips was expected");
    for (const auto& [chip, values] : node.members) {
      if (values.kind != Kind::kMap) {
        return Bad(values, fmt::format("'{}' needs ai_core_num, aiv_num or aic_frequency", chip));
      }
      ChipCores cores;
      for (const auto& [key, value] : values.members) {
        const auto number = ParseDouble(value.scalar);
        const bool is_known = key == "ai_core_num" || key == "aiv_num" || key == "aic_frequency";
        if (!is_known || !number || !std::isfinite(*number) || *number < 0 ||
            *number > kMostOfAChip) {
          return Bad(value, fmt::format("'{}: {}' was found; ai_core_num, aiv_num or aic_frequency "
                                        "with a number was expected",
                                        key, value.scalar));
        }
        if (key == "ai_core_num") cores.cube = static_cast<int64_t>(*number);
        if (key == "aiv_num") cores.vector = static_cast<int64_t>(*number);
        if (key == "aic_frequency") cores.mhz = *number;
      }
      out_.chips[chip] = cores;
    }
    return {};
  }

  // [{PassName: {version: 0, struct: [A, B]}}], or nodes and edges.
  Status ReadPasses(const YamlNode& node) {
    if (node.kind != Kind::kList) return Bad(node, "a list of passes was expected");
    for (const YamlNode& item : node.items) {
      for (const auto& [pass, value] : item.members) {
        FusionPattern pattern{.pass = pass};
        if (const YamlNode* chain = value.Find("struct")) {
          for (const YamlNode& type : chain->items) AddTypes(type, pattern);
          for (size_t i = 1; i < pattern.types.size(); ++i) pattern.edges.emplace_back(i - 1, i);
        } else {
          SL_RETURN_IF_ERROR(ReadGraphPass(value, pattern));
        }
        if (pattern.types.empty())
          return Bad(value, fmt::format("'{}' needs 'struct', or 'nodes' and 'edges'", pass));
        out_.graph.push_back(std::move(pattern));
      }
    }
    return {};
  }

  static void AddTypes(const YamlNode& node, FusionPattern& pattern) {
    std::vector<std::string>& types = pattern.types.emplace_back();
    if (node.kind == Kind::kScalar) types.push_back(node.scalar);
    for (const YamlNode& type : node.items) types.push_back(type.scalar);
  }

  Status ReadGraphPass(const YamlNode& value, FusionPattern& pattern) {
    const YamlNode* nodes = value.Find("nodes");
    const YamlNode* edges = value.Find("edges");
    if (nodes == nullptr || edges == nullptr) return {};
    std::vector<std::string> names;
    for (const YamlNode& item : nodes->items) {
      for (const auto& [name, types] : item.members) {
        names.push_back(name);
        AddTypes(types, pattern);
      }
    }
    for (const YamlNode& edge : edges->items) {
      if (edge.items.size() != 2) return Bad(edge, "an edge of two nodes was expected");
      size_t ends[2] = {};
      for (size_t i = 0; i < 2; ++i) {
        const auto found = std::find(names.begin(), names.end(), edge.items[i].scalar);
        if (found == names.end())
          return Bad(edge, fmt::format("there is no node '{}'", edge.items[i].scalar));
        ends[i] = static_cast<size_t>(found - names.begin());
      }
      pattern.edges.emplace_back(ends[0], ends[1]);
    }
    return {};
  }

  // timeline_fusion_ops.yaml: versions that build on each other. The newest has them all.
  Status ReadVersions(const YamlNode& root) {
    for (const YamlNode& version : root.items) {
      const YamlNode* rules = version.Find("operator_rules");
      if (rules == nullptr) return Bad(version, "'operator_rules' was expected");
      const YamlNode* aten = rules->Find("aten");
      if (aten == nullptr) continue;
      for (const char* action : {"add", "overwrite"}) {
        const YamlNode* apis = aten->Find(action);
        if (apis == nullptr) continue;
        for (const auto& [api, patterns] : apis->members) {
          for (const YamlNode& pattern : patterns.items)
            out_.affinity.push_back({WordsOf(pattern.scalar), api, ""});
        }
      }
    }
    return {};
  }

  // "(softmax){1}-(mul){0,1}-add" -> "softmax mul? add".
  static std::string WordsOf(std::string_view pattern) {
    std::string words;
    while (!pattern.empty()) {
      const size_t end = std::min(pattern.find('-'), pattern.size());
      std::string_view part = pattern.substr(0, end);
      pattern.remove_prefix(std::min(end + 1, pattern.size()));
      std::string word(part);
      if (part.starts_with('(')) {
        const size_t close = std::min(part.find(')'), part.size());
        word = part.substr(1, close - 1);
        const std::string_view times = part.substr(std::min(close + 1, part.size()));
        if (times == "{0,1}" || times == "?") word += '?';
        if (times == "{0,2}") word += "*2";
      }
      words += (words.empty() ? "" : " ") + word;
    }
    return words;
  }

  std::string name_;
  RuleSettings& out_;
};

}  // namespace

Status AddRuleFile(std::string_view text, std::string_view name, RuleSettings& settings) {
  const Result<YamlNode> parsed = ParseYaml(text, name);
  // What the user gave as an option is wrong, not the capture.
  if (!parsed.ok()) return Error{ErrorCode::kInvalidArgument, parsed.error().message};
  const YamlNode& root = *parsed;
  RuleSettings changed = settings;
  SL_RETURN_IF_ERROR(RuleFileReader(name, changed).Read(root));
  settings = std::move(changed);
  return {};
}

}  // namespace steplens::analysis
