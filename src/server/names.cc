#include "server/names.h"

namespace steplens::server {

std::vector<uint32_t> NamePool::Add(const store::TraceStore& store) {
  std::vector<uint32_t> ids(store.strings.size(), 0);
  for (const StringId name : store.slices.name) {
    uint32_t& id = ids[static_cast<size_t>(name)];
    if (id == 0) id = Intern(store.Text(name));
  }
  return ids;
}

uint32_t NamePool::InternLate(std::string_view text) const {
  const std::lock_guard lock(late_mutex_);
  if (const auto known = pool_.Find(text)) return static_cast<uint32_t>(*known);
  if (const auto known = late_ids_.find(text); known != late_ids_.end()) return known->second;
  const auto id = static_cast<uint32_t>(pool_.size() + late_.size());
  late_ids_.emplace(late_.emplace_back(text), id);
  return id;
}

size_t NamePool::size() const {
  const std::lock_guard lock(late_mutex_);
  return pool_.size() + late_.size();
}

std::string_view NamePool::Text(uint32_t id) const {
  if (id < pool_.size()) return pool_.Get(StringId{id});
  const std::lock_guard lock(late_mutex_);
  return late_[id - pool_.size()];
}

}  // namespace steplens::server
