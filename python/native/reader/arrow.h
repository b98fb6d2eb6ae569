#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/chunk.h"

// The Arrow C data interface: https://arrow.apache.org/docs/format/CDataInterface.html. These
// structs are its whole contract; no library is needed.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace steplens::python {

// A column of a stream.
struct ArrowField {
  std::string name;
  ChunkType type = ChunkType::kInt64;
};

// A table as Arrow sees it: a batch per part, a chunk per field in each.
struct ArrowTable {
  std::vector<ArrowField> fields;
  std::vector<std::vector<const Chunk*>> batches;
  std::shared_ptr<const void> owner;  // keeps the chunks
};

// Each fills a struct that the caller releases, on any thread, with or without Python. What it
// points to lives until then. Values are not copied.
void ExportSchema(const ArrowField& field, ArrowSchema* out);
void ExportChunk(const Chunk& chunk, std::shared_ptr<const void> owner, ArrowArray* out);
void ExportStream(ArrowTable table, ArrowArrayStream* out);

}  // namespace steplens::python
