// Stand-in for libprofapi.so: the vendor's receiver of mstx marks. Every call is logged.
#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include "faults.h"
#include "steplens/mstx.h"

namespace {

std::atomic<uint64_t> last_id{0};
std::mutex mutex;  // guards what follows
std::set<std::string> domains;

const char* Name(mstxDomainHandle_t domain) {
  return reinterpret_cast<const std::string*>(domain)->c_str();
}

int Has(aclrtStream stream) { return stream != nullptr ? 1 : 0; }

void MarkA(const char* message, aclrtStream stream) {
  standin::Log("mstxMarkA %s stream=%d", message, Has(stream));
}

uint64_t RangeStartA(const char* message, aclrtStream stream) {
  const uint64_t id = ++last_id;
  standin::Log("mstxRangeStartA %s stream=%d", message, Has(stream));
  return id;
}

void RangeEnd(uint64_t id) {
  standin::Log("mstxRangeEnd %llu", static_cast<unsigned long long>(id));
}

mstxDomainHandle_t DomainCreateA(const char* name) {
  standin::Log("mstxDomainCreateA %s", name);
  const std::lock_guard lock(mutex);
  return reinterpret_cast<mstxDomainHandle_t>(
      const_cast<std::string*>(&*domains.insert(name).first));
}

void DomainMarkA(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
  standin::Log("mstxDomainMarkA %s %s stream=%d", Name(domain), message, Has(stream));
}

uint64_t DomainRangeStartA(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
  const uint64_t id = ++last_id;
  standin::Log("mstxDomainRangeStartA %s %s stream=%d", Name(domain), message, Has(stream));
  return id;
}

void DomainRangeEnd(mstxDomainHandle_t domain, uint64_t id) {
  standin::Log("mstxDomainRangeEnd %s %llu", Name(domain), static_cast<unsigned long long>(id));
}

template <typename Function>
void Set(mstxFuncTable table, unsigned size, unsigned id, Function* function) {
  if (id < size && table[id] != nullptr) *table[id] = reinterpret_cast<mstxFuncPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitInjectionMstx(mstxGetTableFunc get) {
  STANDIN_CALL("InitInjectionMstx", "InitInjectionMstx");
  mstxFuncTable table = nullptr;
  unsigned size = 0;
  if (get(MSTX_MODULE_CORE, &table, &size) != 0) return 1;
  Set(table, size, MSTX_CORE_MARK, MarkA);
  Set(table, size, MSTX_CORE_RANGE_START, RangeStartA);
  Set(table, size, MSTX_CORE_RANGE_END, RangeEnd);
  if (get(MSTX_MODULE_DOMAIN, &table, &size) != 0) return 0;
  Set(table, size, MSTX_DOMAIN_CREATE, DomainCreateA);
  Set(table, size, MSTX_DOMAIN_MARK, DomainMarkA);
  Set(table, size, MSTX_DOMAIN_RANGE_START, DomainRangeStartA);
  Set(table, size, MSTX_DOMAIN_RANGE_END, DomainRangeEnd);
  return 0;
}
