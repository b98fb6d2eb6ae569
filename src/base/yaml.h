#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace steplens {

struct YamlMember;

// A value of a settings file with the line it stands in.
struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 0;        // from 1
  std::string scalar;  // without quotes
  std::vector<YamlNode> items;
  std::vector<YamlMember> members;  // in the order of the file

  // The member of a map; nullptr if there is none.
  const YamlNode* Find(std::string_view key) const;
};

struct YamlMember {
  std::string name;
  YamlNode value;
};

// A settings file in YAML, and so in JSON as well; `name` stands in messages. Keys are scalars and
// unique in their map. Errors name the line. At most 64 levels deep, one document.
Result<YamlNode> ParseYaml(std::string_view text, std::string_view name);

}  // namespace steplens
