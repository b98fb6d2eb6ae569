#pragma once

#include "analysis/viewer/explain.h"
#include "base/json_writer.h"

namespace steplens::server {

// "key","args","text" of a sentence, without the braces.
void WriteWording(JsonWriter& json, const analysis::viewer::Wording& wording);

}  // namespace steplens::server
