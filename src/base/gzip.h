#pragma once

#include <memory>
#include <string>

#include "base/file.h"

namespace steplens {

// Unpacks the gzip stream read from `packed`; `name` is used in messages. Members that follow each
// other are unpacked as one text. Memory is bounded whatever the size of the text.
std::unique_ptr<ByteSource> MakeGzipSource(std::unique_ptr<ByteSource> packed, std::string name);

}  // namespace steplens
