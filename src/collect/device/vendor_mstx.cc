#include "collect/device/vendor_mstx.h"

#include "collect/device/vendor_library.h"

namespace steplens::collect {
namespace {

// The tables handed to the vendor, laid out as in a program that uses the header: entry 0 and the
// last are empty.
mstxFuncPointer core[MSTX_CORE_TOOL_ID + 1];
mstxFuncPointer domain[MSTX_DOMAIN_RANGE_END + 1];
mstxFuncPointer* core_slots[] = {nullptr, &core[1], &core[2], &core[3], &core[4], nullptr};
mstxFuncPointer* domain_slots[] = {nullptr,    &domain[1], &domain[2], &domain[3],
                                   &domain[4], &domain[5], nullptr};

int GetTable(int module, mstxFuncTable* table, unsigned* size) {
  if (table == nullptr || size == nullptr) return 1;
  switch (module) {
    case MSTX_MODULE_CORE:
      *table = core_slots;
      *size = MSTX_CORE_TOOL_ID + 1;
      return 0;
    case MSTX_MODULE_DOMAIN:
      *table = domain_slots;
      *size = MSTX_DOMAIN_RANGE_END + 1;
      return 0;
    default:
      return 1;
  }
}

template <typename Function>
void Take(mstxFuncPointer slot, Function** out) {
  *out = reinterpret_cast<Function*>(slot);
}

VendorMstx Find() {
  VendorMstx found;
  // By its library: any other one that exports the name may be ours.
  auto* init = reinterpret_cast<mstxInitInjectionFunc>(
      FindSymbolIn(VendorLibrary::kProfApi, "InitInjectionMstx"));
  if (init == nullptr || init(GetTable) != 0) return found;
  Take(core[MSTX_CORE_MARK], &found.mark);
  Take(core[MSTX_CORE_RANGE_START], &found.range_start);
  Take(core[MSTX_CORE_RANGE_END], &found.range_end);
  Take(domain[MSTX_DOMAIN_CREATE], &found.domain_create);
  Take(domain[MSTX_DOMAIN_MARK], &found.domain_mark);
  Take(domain[MSTX_DOMAIN_RANGE_START], &found.domain_range_start);
  Take(domain[MSTX_DOMAIN_RANGE_END], &found.domain_range_end);
  return found;
}

}  // namespace

const VendorMstx& TheVendorMstx() {
  static const VendorMstx found = Find();
  return found;
}

}  // namespace steplens::collect
