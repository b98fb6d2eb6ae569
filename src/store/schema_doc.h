#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "store/tables.h"

namespace steplens::store {

// Where the values of an SQL column come from.
enum class ColumnOrigin : uint8_t {
  kRowNumber,  // id
  kRank,
  kStored,   // a column declared in tables.h
  kDerived,  // computed from the store when a query asks for it
};

// One column as SQL shows it.
struct ColumnDoc {
  std::string name;
  std::string_view type;  // INTEGER, REAL or TEXT
  std::string_view doc;
  ColumnOrigin origin = ColumnOrigin::kStored;
};
struct TableDoc {
  std::string_view name;
  std::string_view doc;  // one sentence
  std::vector<ColumnDoc> columns;
};

// Every table that is there for any profile, in the order of SL_TABLES, with its columns as SQL
// orders them: id, rank, the declared columns and, in their midst, the derived ones. `ranks` comes
// first.
std::vector<TableDoc> DescribeTables();

// The text of docs/schema.md.
std::string SchemaMarkdown();

// The SQL type of a column of T.
template <typename T>
constexpr std::string_view SqlType() {
  if constexpr (std::is_same_v<T, StringId>) return "TEXT";
  if constexpr (std::is_same_v<T, double>) return "REAL";
  return "INTEGER";
}

// The SQL name of a column of T: row ids say so ("track" -> "track_id").
template <typename T>
std::string SqlName(std::string_view field) {
  constexpr bool kIsRowId = std::is_same_v<T, TrackId> || std::is_same_v<T, SliceId>;
  return std::string(field) + (kIsRowId ? "_id" : "");
}

}  // namespace steplens::store
