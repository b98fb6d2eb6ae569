#include "export/db/db_strings.h"

#include <algorithm>

#include "base/number.h"
#include "export/text/append.h"

namespace steplens::exporting {

int64_t StringRange::operator()(StringId text) {
  if (text == StringId::kEmpty) return kNoId32;
  int64_t& id = ids_[static_cast<size_t>(text)];
  if (id == kUnset) id = Append(store_.Text(text));
  return id;
}

int64_t StringRange::Lines(StringId text) {
  if (text == StringId::kEmpty) return kNoId32;
  if (store_.Text(text).find(';') == std::string_view::npos) return (*this)(text);
  int64_t& id = line_ids_[static_cast<size_t>(text)];
  if (id == kUnset) {
    made_texts_.push_back(WithLineBreaks(store_.Text(text)));
    id = Append(made_texts_.back());
  }
  return id;
}

int64_t StringRange::Quoted(StringId text) {
  if (quoted_ids_.empty()) quoted_ids_.assign(store_.strings.size(), kUnset);
  int64_t& id = quoted_ids_[static_cast<size_t>(text)];
  if (id == kUnset) id = (*this)('"' + std::string(store_.Text(text)) + '"');
  return id;
}

int64_t StringRange::operator()(std::string_view text) {
  if (const auto known = store_.strings.Find(text)) return (*this)(*known);
  if (const auto made = made_.find(text); made != made_.end()) return made->second;
  made_texts_.emplace_back(text);
  return made_[made_texts_.back()] = Append(made_texts_.back());
}

void StringRange::Write(TableWriter& table) const {
  for (size_t i = 0; i < values_.size(); ++i)
    table.Int(first_id_ + static_cast<int64_t>(i)).KeptText(values_[i]).EndRow();
}

int64_t DbEnum::operator()(std::string_view name, int64_t missing) {
  if (name.empty()) return missing;
  const auto found = std::find_if(names_.begin(), names_.end(),
                                  [&](const Name& known) { return known.name == name; });
  if (found != names_.end()) return found->id;
  if (const auto number = ParseInt64(name)) return *number;  // an id nobody knew the name of
  int64_t id = 0;
  const auto is_taken = [&](const Name& known) { return known.id == id; };
  while (std::any_of(names_.begin(), names_.end(), is_taken)) ++id;
  added_.emplace_back(name);
  names_.push_back({id, added_.back()});
  return id;
}

void DbEnum::Write(SqliteWriter& db, std::string_view table) const {
  TableWriter rows = db.Table(table, "id INTEGER PRIMARY KEY, name TEXT");
  for (const Name& name : names_) rows.Int(name.id).Text(name.name).EndRow();
}

}  // namespace steplens::exporting
