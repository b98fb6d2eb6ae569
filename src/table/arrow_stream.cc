#include "table/arrow_stream.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "table/flat_buffer.h"

namespace steplens::table {
namespace {

// Numbers of Arrow's format/Message.fbs and format/Schema.fbs.
constexpr int64_t kVersion5 = 4;
enum class HeaderKind : uint8_t { kSchema = 1, kRecordBatch = 3 };
enum class TypeKind : uint8_t { kInt = 2, kFloatingPoint = 3, kLargeUtf8 = 20 };
constexpr int64_t kDoublePrecision = 2;

constexpr size_t kRowsPerBatch = 65'536;
constexpr uint32_t kContinuation = 0xffffffff;

TypeKind TypeOf(CellType type) {
  switch (type) {
    case CellType::kInt:
    case CellType::kTimeUs:
      return TypeKind::kInt;
    case CellType::kDouble:
      return TypeKind::kFloatingPoint;
    case CellType::kText:
      return TypeKind::kLargeUtf8;
  }
  return TypeKind::kInt;
}

void AppendRaw(std::string& out, const void* data, size_t bytes) {
  out.append(static_cast<const char*>(data), bytes);
}

// The head of a message before its body.
std::string Message(FlatBuffer buffer, HeaderKind kind, FlatBuffer::Place header,
                    size_t body_bytes) {
  const FlatBuffer::Place root =
      buffer.AddTable({{.id = 3, .bytes = 8, .value = static_cast<int64_t>(body_bytes)},
                       {.id = 2, .value = header},
                       {.id = 0, .bytes = 2, .value = kVersion5},
                       {.id = 1, .bytes = 1, .value = static_cast<int64_t>(kind)}});
  const std::string metadata = std::move(buffer).Finish(root);
  const auto size = static_cast<uint32_t>(metadata.size());
  std::string out;
  AppendRaw(out, &kContinuation, sizeof(kContinuation));
  AppendRaw(out, &size, sizeof(size));
  return out + metadata;
}

FlatBuffer::Place AddField(FlatBuffer& buffer, const Column& column) {
  const TypeKind kind = TypeOf(column.type);
  std::vector<FlatBuffer::Field> type;
  if (kind == TypeKind::kInt)
    type = {{.id = 0, .bytes = 4, .value = 64}, {.id = 1, .bytes = 1, .value = 1}};
  if (kind == TypeKind::kFloatingPoint) type = {{.id = 0, .bytes = 2, .value = kDoublePrecision}};
  const FlatBuffer::Place type_place = buffer.AddTable(std::move(type));
  const FlatBuffer::Place name = buffer.AddText(column.name);
  const FlatBuffer::Place children = buffer.AddReferences({});
  return buffer.AddTable({{.id = 0, .value = name},
                          {.id = 3, .value = type_place},
                          {.id = 5, .value = children},
                          {.id = 1, .bytes = 1, .value = 1},  // nullable
                          {.id = 2, .bytes = 1, .value = static_cast<int64_t>(kind)}});
}

std::string SchemaMessage(const Table& table) {
  FlatBuffer buffer;
  std::vector<FlatBuffer::Place> fields;
  for (const Column& column : table.columns()) fields.push_back(AddField(buffer, column));
  const FlatBuffer::Place all = buffer.AddReferences(fields);
  const FlatBuffer::Place schema =
      buffer.AddTable({{.id = 1, .value = all}, {.id = 0, .bytes = 2, .value = 0}});
  return Message(std::move(buffer), HeaderKind::kSchema, schema, 0);
}

// The buffers of a batch and where they are.
class Body {
 public:
  void AddColumn(const Column& column, size_t begin, size_t end) {
    switch (TypeOf(column.type)) {
      case TypeKind::kInt:
        AddValidity(begin, end, [&](size_t row) { return column.ints[row] == kNull; });
        return AddBuffer(column.ints.data() + begin, (end - begin) * sizeof(int64_t));
      case TypeKind::kFloatingPoint:
        AddValidity(begin, end, [&](size_t row) { return std::isnan(column.doubles[row]); });
        return AddBuffer(column.doubles.data() + begin, (end - begin) * sizeof(double));
      case TypeKind::kLargeUtf8:
        AddValidity(begin, end, [](size_t) { return false; });
        return AddTexts(column.texts, begin, end);
    }
  }

  std::string Head(size_t rows) const {
    FlatBuffer buffer;
    const FlatBuffer::Place buffers = buffer.AddPairs(buffers_);
    const FlatBuffer::Place nodes = buffer.AddPairs(nodes_);
    const FlatBuffer::Place batch =
        buffer.AddTable({{.id = 0, .bytes = 8, .value = static_cast<int64_t>(rows)},
                         {.id = 1, .value = nodes},
                         {.id = 2, .value = buffers}});
    return Message(std::move(buffer), HeaderKind::kRecordBatch, batch, bytes_.size());
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <typename IsNull>
  void AddValidity(size_t begin, size_t end, IsNull is_null) {
    const size_t rows = end - begin;
    std::string bits((rows + 7) / 8, '\0');
    size_t nulls = 0;
    for (size_t i = 0; i < rows; ++i) {
      if (is_null(begin + i)) {
        ++nulls;
      } else {
        bits[i / 8] = static_cast<char>(static_cast<unsigned char>(bits[i / 8]) | 1U << (i % 8));
      }
    }
    nodes_.insert(nodes_.end(), {static_cast<int64_t>(rows), static_cast<int64_t>(nulls)});
    AddBuffer(bits.data(), nulls == 0 ? 0 : bits.size());
  }

  void AddTexts(const std::vector<std::string>& texts, size_t begin, size_t end) {
    std::vector<int64_t> offsets = {0};
    std::string all;
    for (size_t row = begin; row < end; ++row) {
      all += texts[row];
      offsets.push_back(static_cast<int64_t>(all.size()));
    }
    AddBuffer(offsets.data(), offsets.size() * sizeof(int64_t));
    AddBuffer(all.data(), all.size());
  }

  void AddBuffer(const void* data, size_t bytes) {
    buffers_.insert(buffers_.end(),
                    {static_cast<int64_t>(bytes_.size()), static_cast<int64_t>(bytes)});
    if (bytes > 0) AppendRaw(bytes_, data, bytes);
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
  }

  std::string bytes_;
  std::vector<int64_t> nodes_;    // rows and nulls of each column
  std::vector<int64_t> buffers_;  // begin and size of each buffer
};

}  // namespace

Status WriteArrowStream(const Table& table, const ByteSink& sink) {
  SL_RETURN_IF_ERROR(sink(SchemaMessage(table)));
  for (size_t begin = 0; begin < table.rows(); begin += kRowsPerBatch) {
    const size_t end = std::min(table.rows(), begin + kRowsPerBatch);
    Body body;
    for (const Column& column : table.columns()) body.AddColumn(column, begin, end);
    SL_RETURN_IF_ERROR(sink(body.Head(end - begin)));
    SL_RETURN_IF_ERROR(sink(body.bytes()));
  }
  constexpr uint32_t kEnd[] = {kContinuation, 0};
  return sink({reinterpret_cast<const char*>(kEnd), sizeof(kEnd)});
}

}  // namespace steplens::table
