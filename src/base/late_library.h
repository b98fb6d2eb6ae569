#pragma once

#include <span>

#include "base/status.h"

namespace steplens {

// A shared library that is loaded when something needs it, instead of when the program starts: the
// web server brings 4 MB of encryption with it that an analysis never uses. Made by
// steplens_load_late (cmake/LateLibrary.cmake), which also defines functions of the library's names
// that jump to where `functions` says.
struct LateLibrary {
  const char* file;                    // "libxlsxwriter.so.4"; "": it is linked
  std::span<const char* const> names;  // as the linker sees them
  void** functions;                    // one per name; null until it is loaded
};

// Loads it, once; from then on its functions may be called. Threads may ask for it at once.
// kUnsupported: it is missing, or of another version than this program was built with.
Status LoadLate(const LateLibrary& library);

}  // namespace steplens
