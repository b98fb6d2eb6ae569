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

}  // namespace steplens::server
