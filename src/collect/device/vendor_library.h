#pragma once

namespace steplens::collect {

enum class VendorLibrary { kAscendCl, kMsProfiler, kMspti, kProfApi };

// The address of a function of the vendor, or nullptr. Looks in `first`, then in `second`; with
// LD_PRELOAD set in the process before both. Opens libraries in the first call, never closes them.
// Safe from any thread.
void* FindVendorSymbol(const char* name, VendorLibrary first, VendorLibrary second);

// The address of a function in this library alone, or nullptr.
void* FindSymbolIn(VendorLibrary library, const char* name);

template <typename Function>
void FindVendorFunction(const char* name, VendorLibrary first, VendorLibrary second,
                        Function** out) {
  *out = reinterpret_cast<Function*>(FindVendorSymbol(name, first, second));
}

}  // namespace steplens::collect
