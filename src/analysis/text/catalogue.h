#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "analysis/text/message.h"

namespace steplens::analysis {

using Catalogue = std::map<std::string, std::string, std::less<>>;  // key -> template

// The templates of a language, read on first use.
const Catalogue& CatalogueOf(Language language);

// en.json or zh.json, as the build put it into the program (cmake/EmbedTexts.cmake).
std::string_view CatalogueText(Language language);

}  // namespace steplens::analysis
