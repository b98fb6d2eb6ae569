#include "base/late_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <mutex>

namespace steplens {

Status LoadLate(const LateLibrary& library) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  // The last one is set last, so it says whether all are.
  if (library.names.empty() || library.functions[library.names.size() - 1] != nullptr) return {};
  void* const handle = ::dlopen(library.file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error{
        ErrorCode::kUnsupported,
        fmt::format("{} cannot be loaded ({}); it is needed for this", library.file, ::dlerror())};
  }
  for (size_t i = 0; i < library.names.size(); ++i) {
    void* const function = ::dlsym(handle, library.names[i]);
    if (function == nullptr) {
      return Error{ErrorCode::kUnsupported,
                   fmt::format("{} is of another version than this program was built with: it has "
                               "no {}",
                               library.file, library.names[i])};
    }
    library.functions[i] = function;
  }
  return {};
}

}  // namespace steplens
