#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "export/db/sqlite_writer.h"
#include "store/trace_store.h"

namespace steplens::exporting {

// "No text" and "no id" of 32-bit fields.
inline constexpr int64_t kNoId32 = 4294967295;

// STRING_IDS: the texts of one part of the database by ids that run on from a first one. The same
// text may have an id in each part. Not thread safe.
class StringRange {
 public:
  StringRange(const store::TraceStore& store, int64_t first_id)
      : store_(store),
        first_id_(first_id),
        ids_(store.strings.size(), kUnset),
        line_ids_(store.strings.size(), kUnset) {}

  // The id of a text of the store; kNoId32 for the empty one.
  int64_t operator()(StringId text);
  // The same with a line break behind each ';': shapes, types and stacks.
  int64_t Lines(StringId text);
  // The same in quotes: shapes of kernels.
  int64_t Quoted(StringId text);
  // Of the empty text, where it is a value of its own.
  int64_t Blank() {
    if (blank_id_ == kUnset) blank_id_ = Append({});
    return blank_id_;
  }
  // Of a text that is made here.
  int64_t operator()(std::string_view text);
  int64_t operator()(const std::string& text) { return (*this)(std::string_view(text)); }

  void Write(TableWriter& table) const;

 private:
  static constexpr int64_t kUnset = -1;
  int64_t Append(std::string_view text) {
    values_.push_back(text);
    return first_id_ + static_cast<int64_t>(values_.size()) - 1;
  }

  const store::TraceStore& store_;  // outlives this
  int64_t first_id_;
  int64_t blank_id_ = kUnset;
  std::vector<int64_t> ids_;         // by StringId
  std::vector<int64_t> line_ids_;    // by StringId
  std::vector<int64_t> quoted_ids_;  // by StringId; empty until the first
  std::unordered_map<std::string_view, int64_t> made_;
  std::deque<std::string> made_texts_;  // owns the keys of made_
  std::vector<std::string_view> values_;
};

// The three parts of STRING_IDS.
struct DbStrings {
  explicit DbStrings(const store::TraceStore& store)
      : exporter(store, 0), framework(store, int64_t{1} << 28), memory(store, int64_t{2} << 28) {}
  StringRange exporter;   // device and CANN
  StringRange framework;  // PYTORCH_API and its stacks
  StringRange memory;     // MEMORY_RECORD, OP_MEMORY
};

// An ENUM_ table: the known names, and those the store has beside them, which get the ids that
// follow.
class DbEnum {
 public:
  struct Name {
    int64_t id;
    std::string_view name;
  };
  explicit DbEnum(std::vector<Name> names) : names_(std::move(names)) {}

  // The id of a name; `missing` for the empty text; the number of a text that is one.
  int64_t operator()(std::string_view name, int64_t missing);
  void Write(SqliteWriter& db, std::string_view table) const;

 private:
  std::vector<Name> names_;
  std::deque<std::string> added_;
};

}  // namespace steplens::exporting
