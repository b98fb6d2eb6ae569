#include "collect/device/device_marks.h"

#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "collect/device/vendor_mstx.h"
#include "collect/library.h"
#include "steplens/device.h"

namespace steplens::collect {
namespace {

std::atomic<bool> takes_marks{false};
std::atomic<size_t> open_count{0};

// A range that is open on a stream. Where the vendor has no ranges its ends are two marks.
struct OpenRange {
  uint64_t vendor_id;
  sl_string message;
  sl_string domain;
  mstxDomainHandle_t vendor_domain;
  void* stream;
};

struct Tables {
  std::mutex mutex;  // guards what follows
  std::map<uint64_t, OpenRange> open;
  std::map<sl_string, mstxDomainHandle_t> domains;
};
Tables& TheTables() {
  static Tables* const tables = new Tables;
  return *tables;
}

// Texts end at their first null character, as the vendor reads them.
std::string Text(sl_string id) { return std::string(TheLibrary().strings.View(id)); }

// The vendor's handle; nullptr for the default domain, or where the vendor has none.
mstxDomainHandle_t Domain(sl_string domain) {
  const VendorMstx& vendor = TheVendorMstx();
  if (domain == 0 || !vendor.has_domains()) return nullptr;
  Tables& tables = TheTables();
  const std::lock_guard lock(tables.mutex);
  const auto [at, is_new] = tables.domains.try_emplace(domain, nullptr);
  if (is_new) at->second = vendor.domain_create(Text(domain).c_str());
  return at->second;
}

void Mark(sl_string message, mstxDomainHandle_t domain, void* stream) {
  const VendorMstx& vendor = TheVendorMstx();
  const std::string text = Text(message);
  if (domain != nullptr) return vendor.domain_mark(domain, text.c_str(), stream);
  if (vendor.has_marks()) return vendor.mark(text.c_str(), stream);
  sl_device_mark(text.c_str(), stream);
}

void End(const OpenRange& range) {
  const VendorMstx& vendor = TheVendorMstx();
  if (!vendor.has_ranges()) return Mark(range.message, nullptr, range.stream);
  if (range.vendor_domain != nullptr) {
    return vendor.domain_range_end(range.vendor_domain, range.vendor_id);
  }
  vendor.range_end(range.vendor_id);
}

void EndIf(uint64_t id, const sl_string* domain) {
  if (open_count.load(std::memory_order_relaxed) == 0) return;
  Tables& tables = TheTables();
  OpenRange range;
  {
    const std::lock_guard lock(tables.mutex);
    const auto found = tables.open.find(id);
    if (found == tables.open.end() || (domain != nullptr && found->second.domain != *domain)) {
      return;
    }
    range = found->second;
    tables.open.erase(found);
    open_count = tables.open.size();
  }
  if (takes_marks.load(std::memory_order_relaxed)) End(range);
}

}  // namespace

void SetStreamMarks(bool on) {
  takes_marks = on;
  Tables& tables = TheTables();
  const std::lock_guard lock(tables.mutex);
  tables.open.clear();
  open_count = 0;
}

void MarkOnStream(sl_string message, sl_string domain, void* stream) {
  if (stream == nullptr || !takes_marks.load(std::memory_order_relaxed)) return;
  try {
    Mark(message, Domain(domain), stream);
  } catch (const std::bad_alloc&) {
    // The host has it.
  }
}

void StartOnStream(uint64_t id, sl_string message, sl_string domain, void* stream) {
  if (id == 0 || stream == nullptr || !takes_marks.load(std::memory_order_relaxed)) return;
  try {
    const VendorMstx& vendor = TheVendorMstx();
    OpenRange range = {0, message, domain, Domain(domain), stream};
    const std::string text = Text(message);
    if (!vendor.has_ranges()) {
      Mark(message, nullptr, stream);
    } else if (range.vendor_domain != nullptr) {
      range.vendor_id = vendor.domain_range_start(range.vendor_domain, text.c_str(), stream);
    } else {
      range.vendor_id = vendor.range_start(text.c_str(), stream);
    }
    Tables& tables = TheTables();
    const std::lock_guard lock(tables.mutex);
    tables.open.emplace(id, range);
    open_count = tables.open.size();
  } catch (const std::bad_alloc&) {
    // The host has it.
  }
}

void EndOnStream(uint64_t id) { EndIf(id, nullptr); }
void EndOnStreamInDomain(uint64_t id, sl_string domain) { EndIf(id, &domain); }

}  // namespace steplens::collect
