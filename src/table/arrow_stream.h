#pragma once

#include <functional>
#include <string_view>

#include "base/status.h"
#include "table/table.h"

namespace steplens::table {

// Takes the next bytes; an error that it returns ends the writing.
using ByteSink = std::function<Status(std::string_view)>;

// The table as an Arrow IPC stream (Apache Arrow, "IPC Streaming Format", version 5): a schema, a
// batch per 65,536 rows, and the mark of the end. Integers and times (in ns) are int64, numbers
// float64, texts large_utf8; empty cells are null, but an empty text is a text. No compression, no
// dictionaries.
Status WriteArrowStream(const Table& table, const ByteSink& sink);

}  // namespace steplens::table
