#pragma once

#include <cstdint>

#include "steplens/mstx.h"

namespace steplens::collect {

// The vendor's own receiver of marks, which knows how to mark a stream: libprofapi.so takes over
// mstx tables, and ours are such. A function that it does not give stays nullptr.
struct VendorMstx {
  void (*mark)(const char*, aclrtStream) = nullptr;
  uint64_t (*range_start)(const char*, aclrtStream) = nullptr;
  void (*range_end)(uint64_t) = nullptr;
  mstxDomainHandle_t (*domain_create)(const char*) = nullptr;
  void (*domain_mark)(mstxDomainHandle_t, const char*, aclrtStream) = nullptr;
  uint64_t (*domain_range_start)(mstxDomainHandle_t, const char*, aclrtStream) = nullptr;
  void (*domain_range_end)(mstxDomainHandle_t, uint64_t) = nullptr;

  bool has_marks() const { return mark != nullptr; }
  bool has_ranges() const { return range_start != nullptr && range_end != nullptr; }
  bool has_domains() const {
    return domain_create != nullptr && domain_mark != nullptr && domain_range_start != nullptr &&
           domain_range_end != nullptr;
  }
};

// Looked up in the first call.
const VendorMstx& TheVendorMstx();

}  // namespace steplens::collect
