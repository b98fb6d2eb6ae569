#include "collect/device/vendor_library.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string>

namespace steplens::collect {
namespace {

struct Known {
  const char* file;
  int mode;  // plug-ins of libmsprofiler look symbols up globally
};
constexpr Known kLibraries[] = {{"libascendcl.so", RTLD_LAZY | RTLD_LOCAL},
                                {"libmsprofiler.so", RTLD_LAZY | RTLD_GLOBAL},
                                {"libmspti.so", RTLD_LAZY | RTLD_LOCAL},
                                {"libprofapi.so", RTLD_LAZY | RTLD_LOCAL}};

// The library in the folder that `variable` names, plus `below`; nullptr if there is none.
void* OpenIn(const char* variable, const char* below, const Known& library) {
  const char* folder = std::getenv(variable);
  if (folder == nullptr || folder[0] == '\0') return nullptr;
  return dlopen((std::string(folder) + below + "/" + library.file).c_str(), library.mode);
}

void* Open(const Known& library) {
  if (void* handle = OpenIn("STEPLENS_ASCEND_LIB", "", library)) return handle;
  if (void* handle = dlopen(library.file, library.mode | RTLD_NOLOAD)) return handle;
  if (void* handle = OpenIn("ASCEND_HOME_PATH", "/lib64", library)) return handle;
  if (void* handle = OpenIn("ASCEND_TOOLKIT_HOME", "/lib64", library)) return handle;
  return dlopen(library.file, library.mode);
}

void* Handle(VendorLibrary which) {
  static const std::array<void*, 4> handles = {Open(kLibraries[0]), Open(kLibraries[1]),
                                               Open(kLibraries[2]), Open(kLibraries[3])};
  return handles[static_cast<size_t>(which)];
}

}  // namespace

void* FindSymbolIn(VendorLibrary library, const char* name) {
  void* handle = Handle(library);
  return handle != nullptr ? dlsym(handle, name) : nullptr;
}

void* FindVendorSymbol(const char* name, VendorLibrary first, VendorLibrary second) {
  const char* preloaded = std::getenv("LD_PRELOAD");
  if (preloaded != nullptr && preloaded[0] != '\0') {
    if (void* symbol = dlsym(RTLD_DEFAULT, name)) return symbol;
  }
  for (const VendorLibrary which : {first, second}) {
    if (void* symbol = FindSymbolIn(which, name)) return symbol;
  }
  return nullptr;
}

}  // namespace steplens::collect
