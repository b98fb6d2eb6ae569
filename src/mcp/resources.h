#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "base/status.h"

namespace steplens::mcp {

// A page of docs/ in the program. Filled in by cmake/EmbedPages.cmake.
struct EmbeddedPage {
  std::string_view name;  // "agents"
  std::string_view text;
};
std::span<const EmbeddedPage> EmbeddedPages();

// {"resources":[...]}: the pages, and the schema of SQL.
std::string ResourceList();
// {"resourceTemplates":[...]}: one table of the schema.
std::string ResourceTemplates();

// The text behind an address such as "steplens://glossary"; kNotFound if there is none.
Result<std::string> ReadResource(std::string_view uri);

}  // namespace steplens::mcp
