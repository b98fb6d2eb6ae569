#include "reader/arrow.h"

#include <array>
#include <cerrno>
#include <new>

#include "base/thread_pool.h"

namespace steplens::python {
namespace {

// What a schema points to.
struct SchemaHolder {
  std::string name;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> child_pointers;
  std::unique_ptr<ArrowSchema> dictionary;
};

// Consumers may move children out; those left are released with their parent.
template <typename Struct>
void ReleaseIfLeft(Struct* one) {
  if (one != nullptr && one->release != nullptr) one->release(one);
}

void ReleaseSchema(ArrowSchema* schema) {
  const std::unique_ptr<SchemaHolder> holder(static_cast<SchemaHolder*>(schema->private_data));
  for (const auto& child : holder->children) ReleaseIfLeft(child.get());
  ReleaseIfLeft(holder->dictionary.get());
  schema->release = nullptr;
}

void FillSchema(const char* format, std::unique_ptr<SchemaHolder> holder, ArrowSchema* out) {
  for (const auto& child : holder->children) holder->child_pointers.push_back(child.get());
  *out = {};
  out->format = format;
  out->name = holder->name.c_str();
  out->flags = 2;  // ARROW_FLAG_NULLABLE
  out->n_children = static_cast<int64_t>(holder->children.size());
  out->children = holder->child_pointers.data();
  out->dictionary = holder->dictionary.get();
  out->release = ReleaseSchema;
  out->private_data = holder.release();
}

const char* FormatOf(ChunkType type) {
  switch (type) {
    case ChunkType::kInt64:
      return "l";
    case ChunkType::kUint32:
      return "I";
    case ChunkType::kDouble:
      return "g";
    case ChunkType::kInt32:
    case ChunkType::kText:  // the numbers of the dictionary
      return "i";
  }
  return "n";
}

void ExportStruct(const std::vector<ArrowField>& fields, ArrowSchema* out) {
  auto holder = std::make_unique<SchemaHolder>();
  for (const ArrowField& field : fields) {
    holder->children.push_back(std::make_unique<ArrowSchema>());
    ExportSchema(field, holder->children.back().get());
  }
  FillSchema("+s", std::move(holder), out);
  out->flags = 0;
}

// What an array points to.
struct ArrayHolder {
  std::shared_ptr<const void> owner;
  std::array<const void*, 3> buffers{};
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> child_pointers;
  std::unique_ptr<ArrowArray> dictionary;
};

void ReleaseArray(ArrowArray* array) {
  const std::unique_ptr<ArrayHolder> holder(static_cast<ArrayHolder*>(array->private_data));
  for (const auto& child : holder->children) ReleaseIfLeft(child.get());
  ReleaseIfLeft(holder->dictionary.get());
  array->release = nullptr;
}

void FillArray(size_t rows, size_t nulls, int64_t buffers, std::unique_ptr<ArrayHolder> holder,
               ArrowArray* out) {
  for (const auto& child : holder->children) holder->child_pointers.push_back(child.get());
  *out = {};
  out->length = static_cast<int64_t>(rows);
  out->null_count = static_cast<int64_t>(nulls);
  out->n_buffers = buffers;
  out->buffers = holder->buffers.data();
  out->n_children = static_cast<int64_t>(holder->children.size());
  out->children = holder->child_pointers.data();
  out->dictionary = holder->dictionary.get();
  out->release = ReleaseArray;
  out->private_data = holder.release();
}

// All texts of a rank, where they are: offsets of 64 bits and bytes.
void ExportDictionary(const StringPool& texts, std::shared_ptr<const void> owner, ArrowArray* out) {
  auto holder = std::make_unique<ArrayHolder>();
  holder->owner = std::move(owner);
  const char* const bytes = texts.bytes().data();
  holder->buffers = {nullptr, texts.offsets().data(), bytes != nullptr ? bytes : ""};
  FillArray(texts.size(), 0, 3, std::move(holder), out);
}

void ExportBatch(const std::vector<const Chunk*>& chunks, const std::shared_ptr<const void>& owner,
                 ArrowArray* out) {
  auto holder = std::make_unique<ArrayHolder>();
  size_t rows = 0;
  for (const Chunk* chunk : chunks) {
    rows = chunk->rows();
    holder->children.push_back(std::make_unique<ArrowArray>());
    ExportChunk(*chunk, owner, holder->children.back().get());
  }
  FillArray(rows, 0, 1, std::move(holder), out);
}

struct StreamHolder {
  ArrowTable table;
  size_t next = 0;
};

StreamHolder& HolderOf(ArrowArrayStream* stream) {
  return *static_cast<StreamHolder*>(stream->private_data);
}

int GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    ExportStruct(HolderOf(stream).table.fields, out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

// Looks for gaps in several columns at once where that takes long.
void FindGaps(const std::vector<const Chunk*>& chunks) {
  constexpr size_t kMany = 1'000'000;
  if (chunks.empty() || chunks.front()->rows() < kMany) return;
  ThreadPool pool;
  pool.ParallelFor(chunks.size(), [&](size_t i) { chunks[i]->validity(); });
}

int GetNext(ArrowArrayStream* stream, ArrowArray* out) {
  try {
    StreamHolder& holder = HolderOf(stream);
    *out = {};
    if (holder.next == holder.table.batches.size()) return 0;
    const std::vector<const Chunk*>& chunks = holder.table.batches[holder.next++];
    FindGaps(chunks);
    ExportBatch(chunks, holder.table.owner, out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

const char* GetLastError(ArrowArrayStream*) { return nullptr; }

void ReleaseStream(ArrowArrayStream* stream) {
  delete &HolderOf(stream);
  stream->release = nullptr;
}

}  // namespace

void ExportSchema(const ArrowField& field, ArrowSchema* out) {
  auto holder = std::make_unique<SchemaHolder>();
  holder->name = field.name;
  if (field.type == ChunkType::kText) {
    holder->dictionary = std::make_unique<ArrowSchema>();
    FillSchema("U", std::make_unique<SchemaHolder>(), holder->dictionary.get());
  }
  FillSchema(FormatOf(field.type), std::move(holder), out);
}

void ExportChunk(const Chunk& chunk, std::shared_ptr<const void> owner, ArrowArray* out) {
  auto holder = std::make_unique<ArrayHolder>();
  holder->buffers = {chunk.validity(), chunk.data(), nullptr};
  if (chunk.type() == ChunkType::kText) {
    holder->dictionary = std::make_unique<ArrowArray>();
    ExportDictionary(chunk.dictionary(), owner, holder->dictionary.get());
  }
  holder->owner = std::move(owner);
  FillArray(chunk.rows(), chunk.null_count(), 2, std::move(holder), out);
}

void ExportStream(ArrowTable table, ArrowArrayStream* out) {
  *out = {};
  out->get_schema = GetSchema;
  out->get_next = GetNext;
  out->get_last_error = GetLastError;
  out->release = ReleaseStream;
  out->private_data = new StreamHolder{std::move(table), 0};
}

}  // namespace steplens::python
