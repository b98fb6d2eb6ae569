#include "analysis/text/catalogue.h"

#include "base/json.h"

namespace steplens::analysis {
namespace {

Catalogue ReadCatalogue(Language language) {
  Catalogue catalogue;
  // The text is a part of the program: that it parses is tested.
  const Result<JsonDocument> document =
      JsonDocument::Parse(CatalogueText(language), "the message catalogue");
  if (!document.ok()) return catalogue;
  document->root().ForEachMember([&](std::string_view key, JsonValue value) {
    catalogue.emplace(key, value.AsString().value_or(""));
  });
  return catalogue;
}

}  // namespace

const Catalogue& CatalogueOf(Language language) {
  static const Catalogue english = ReadCatalogue(Language::kEnglish);
  static const Catalogue chinese = ReadCatalogue(Language::kChinese);
  return language == Language::kChinese ? chinese : english;
}

}  // namespace steplens::analysis
