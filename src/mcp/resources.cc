#include "mcp/resources.h"

#include <fmt/format.h>

#include "store/schema_doc.h"

namespace steplens::mcp {
namespace {

constexpr std::string_view kScheme = "steplens://";
constexpr std::string_view kSchema = "schema";
constexpr std::string_view kTablePrefix = "schema/";

struct PageFacts {
  std::string_view name;
  std::string_view title;
};
constexpr PageFacts kPageFacts[] = {
    {"agents", "How to find the cause of a slow step, call by call. Read this first."},
    {"breakdown", "How to read a breakdown: the parts of a step and what they point to."},
    {"glossary", "The words of all answers."},
};

void WriteResource(JsonWriter& json, std::string_view name, std::string_view description) {
  json.BeginObject().Key("uri").String(fmt::format("{}{}", kScheme, name));
  json.Key("name").String(name).Key("description").String(description);
  json.Key("mimeType").String("text/markdown").EndObject();
}

Error NoResource(std::string_view uri) {
  return {ErrorCode::kNotFound,
          fmt::format("there is no resource '{}'; resources/list names them", uri)};
}

// The section of one table in the schema page.
Result<std::string> TableSection(std::string_view table, std::string_view uri) {
  const std::string page = store::SchemaMarkdown();
  const std::string heading = fmt::format("\n## {}\n", table);
  const size_t begin = page.find(heading);
  if (begin == std::string::npos) return NoResource(uri);
  const size_t end = page.find("\n## ", begin + heading.size());
  return page.substr(begin + 1, end == std::string::npos ? end : end - begin);
}

}  // namespace

std::string ResourceList() {
  JsonWriter json;
  json.BeginObject().Key("resources").BeginArray();
  for (const PageFacts& page : kPageFacts) WriteResource(json, page.name, page.title);
  WriteResource(json, kSchema,
                "Every SQL table and column with its meaning. Long; steplens://schema/TABLE is one "
                "table.");
  return json.EndArray().EndObject().Take();
}

std::string ResourceTemplates() {
  JsonWriter json;
  json.BeginObject().Key("resourceTemplates").BeginArray().BeginObject();
  json.Key("uriTemplate").String("steplens://schema/{table}").Key("name").String("table");
  json.Key("description").String("The columns of one SQL table, e.g. steplens://schema/kernels");
  json.Key("mimeType").String("text/markdown");
  return json.EndObject().EndArray().EndObject().Take();
}

Result<std::string> ReadResource(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return NoResource(uri);
  const std::string_view name = uri.substr(kScheme.size());
  if (name == kSchema) return store::SchemaMarkdown();
  if (name.starts_with(kTablePrefix)) return TableSection(name.substr(kTablePrefix.size()), uri);
  for (const EmbeddedPage& page : EmbeddedPages()) {
    if (page.name == name) return std::string(page.text);
  }
  return NoResource(uri);
}

}  // namespace steplens::mcp
