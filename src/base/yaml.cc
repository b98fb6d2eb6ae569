#include "base/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <utility>

namespace steplens {
namespace {

constexpr int kMostLevels = 64;

std::string At(std::string_view name, int line) { return fmt::format("{}:{}", name, line); }

// yaml-cpp's document as nodes of ours.
class YamlConverter {
 public:
  explicit YamlConverter(std::string_view name) : name_(name) {}

  Result<YamlNode> Convert(const YAML::Node& from, int levels = 0) const {
    YamlNode node;
    node.line = from.Mark().line + 1;
    if (levels > kMostLevels) {
      return Error{ErrorCode::kCorruptData, fmt::format("{}: more than {} levels of nesting",
                                                        At(name_, node.line), kMostLevels)};
    }
    switch (from.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        break;
      case YAML::NodeType::Scalar:
        node.kind = YamlNode::Kind::kScalar;
        node.scalar = from.Scalar();
        break;
      case YAML::NodeType::Sequence:
        node.kind = YamlNode::Kind::kList;
        for (const YAML::Node& item : from) {
          Result<YamlNode> value = Convert(item, levels + 1);
          if (!value.ok()) return value.error();
          node.items.push_back(std::move(*value));
        }
        break;
      case YAML::NodeType::Map:
        if (const Status status = AddMembers(from, levels, &node); !status.ok()) {
          return status.error();
        }
        break;
    }
    return node;
  }

 private:
  Status AddMembers(const YAML::Node& from, int levels, YamlNode* node) const {
    node->kind = YamlNode::Kind::kMap;
    for (const auto& member : from) {
      const YAML::Node& key = member.first;
      const int line = key.Mark().line + 1;
      if (!key.IsScalar()) {
        return Error{ErrorCode::kCorruptData,
                     fmt::format("{}: a key is not a single word", At(name_, line))};
      }
      if (node->Find(key.Scalar()) != nullptr) {
        return Error{ErrorCode::kCorruptData,
                     fmt::format("{}: '{}' appears twice", At(name_, line), key.Scalar())};
      }
      Result<YamlNode> value = Convert(member.second, levels + 1);
      if (!value.ok()) return value.error();
      node->members.push_back({key.Scalar(), std::move(*value)});
    }
    return {};
  }

  std::string_view name_;
};

}  // namespace

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const YamlMember& member : members) {
    if (member.name == key) return &member.value;
  }
  return nullptr;
}

Result<YamlNode> ParseYaml(std::string_view text, std::string_view name) {
  try {
    return YamlConverter(name).Convert(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& problem) {
    return Error{ErrorCode::kCorruptData,
                 fmt::format("{}: {}", At(name, problem.mark.line + 1), problem.msg)};
  }
}

}  // namespace steplens
