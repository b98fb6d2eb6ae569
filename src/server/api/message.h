#pragma once

#include "analysis/text/message.h"
#include "base/json_writer.h"

namespace steplens::server {

// "key","args","text" of a sentence, without the braces. The page words it by its key, in the
// user's language; "text" is its English form. An argument that is a message is such an object.
void WriteMessage(JsonWriter& json, const analysis::Message& message);

}  // namespace steplens::server
