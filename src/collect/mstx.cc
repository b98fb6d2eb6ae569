// Receives the marks of programs built with an mstx header (include/steplens/mstx.h or the
// vendor's).
#include "steplens/mstx.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>

#include "collect/auto.h"
#include "collect/library.h"
#include "collect/marks.h"
#include "collect/thread_state.h"

namespace steplens::collect {
namespace {

constexpr uint64_t kProfilerToolId = 0x1000;
constexpr size_t kMaxDomains = 1024;

// A domain's handle is its address in the table; any other address is not a handle.
struct Domain {
  std::atomic<sl_string> name{0};
  std::atomic<bool> is_alive{false};
};

Domain domains[kMaxDomains];
std::atomic<size_t> domain_count{0};
std::mutex domains_mutex;  // guards additions

sl_string Intern(const char* text) { return sl_intern(text, std::strlen(text)); }

// The domain behind a handle if it is alive, else nullptr.
const Domain* Find(mstxDomainHandle_t handle) {
  const auto address = reinterpret_cast<uintptr_t>(handle);
  const auto first = reinterpret_cast<uintptr_t>(&domains[0]);
  if (address < first || (address - first) % sizeof(Domain) != 0) return nullptr;
  const size_t index = (address - first) / sizeof(Domain);
  if (index >= domain_count.load(std::memory_order_acquire)) return nullptr;
  return domains[index].is_alive.load(std::memory_order_acquire) ? &domains[index] : nullptr;
}

// Whether a mark would be kept; the text is looked at and interned only then.
bool IsWanted(const char* message) {
  return RecordingThread() != nullptr && message != nullptr && IsMessage(message);
}

void MarkA(const char* message, aclrtStream stream) {
  if (!IsWanted(message)) return;
  Mark(Intern(message), 0, stream);
}

// The range that frameworks put around a training step: "ProfilerStep#7" or "step 7".
bool IsStep(const char* message) {
  if (message == nullptr) return false;
  for (const std::string_view prefix : {"ProfilerStep#", "step "}) {
    if (std::strncmp(message, prefix.data(), prefix.size()) != 0) continue;
    const char* digits = message + prefix.size();
    return *digits != '\0' && std::strspn(digits, "0123456789") == std::strlen(digits);
  }
  return false;
}

// The range of the step that runs and is recorded.
std::atomic<uint64_t> step_range{0};

uint64_t RangeStartA(const char* message, aclrtStream stream) {
  const bool is_step = AutoIsOn() && IsStep(message);
  if (is_step) AutoStepBegin();
  const uint64_t id = IsWanted(message) ? StartMark(Intern(message), 0, stream) : 0;
  if (is_step) step_range.store(id, std::memory_order_relaxed);
  return id;
}

void RangeEnd(uint64_t id) {
  EndMarkInDomain(id, 0);
  if (id == 0 || step_range.load(std::memory_order_relaxed) != id) return;
  step_range.store(0, std::memory_order_relaxed);
  AutoStepEnd();
}

void GetToolId(uint64_t* id) {
  if (id != nullptr) *id = kProfilerToolId;
}

mstxDomainHandle_t DomainCreateA(const char* name) {
  if (name == nullptr || !IsDomainName(name) || std::strcmp(name, "default") == 0) return nullptr;
  const sl_string id = Intern(name);
  const std::lock_guard lock(domains_mutex);
  const size_t count = domain_count.load(std::memory_order_relaxed);
  size_t index = 0;
  while (index < count && domains[index].name.load(std::memory_order_relaxed) != id) ++index;
  if (index == kMaxDomains) return nullptr;
  domains[index].name.store(id, std::memory_order_relaxed);
  domains[index].is_alive.store(true, std::memory_order_release);
  if (index == count) domain_count.store(count + 1, std::memory_order_release);
  return reinterpret_cast<mstxDomainHandle_t>(&domains[index]);
}

void DomainDestroy(mstxDomainHandle_t handle) {
  if (const Domain* domain = Find(handle)) {
    const_cast<Domain*>(domain)->is_alive.store(false, std::memory_order_release);
  }
}

void DomainMarkA(mstxDomainHandle_t handle, const char* message, aclrtStream stream) {
  const Domain* domain = Find(handle);
  if (domain == nullptr || !IsWanted(message) || !IsDomainKept(domain->name)) return;
  Mark(Intern(message), domain->name, stream);
}

uint64_t DomainRangeStartA(mstxDomainHandle_t handle, const char* message, aclrtStream stream) {
  const Domain* domain = Find(handle);
  if (domain == nullptr || !IsWanted(message)) return 0;
  return StartMark(Intern(message), domain->name, stream);
}

void DomainRangeEnd(mstxDomainHandle_t handle, uint64_t id) {
  if (const Domain* domain = Find(handle)) EndMarkInDomain(id, domain->name);
}

// The slots of one module; hosts differ in how many they have.
class Slots {
 public:
  Slots(mstxGetTableFunc get_table, int module) {
    if (get_table(module, &table_, &size_) != 0) table_ = nullptr;
  }
  template <typename Function>
  void Set(unsigned id, Function* function) {
    if (table_ == nullptr || id >= size_ || table_[id] == nullptr) return;
    *table_[id] = reinterpret_cast<mstxFuncPointer>(function);
  }

 private:
  mstxFuncTable table_ = nullptr;
  unsigned size_ = 0;
};

}  // namespace

void LockDomains() { domains_mutex.lock(); }
void UnlockDomains() { domains_mutex.unlock(); }

}  // namespace steplens::collect

// Memory pools are for tools that check accesses: their slots stay empty, which makes those calls
// do nothing.
extern "C" __attribute__((visibility("default"))) int InitInjectionMstx(
    mstxGetTableFunc get_table) {
  using namespace steplens::collect;
  if (get_table == nullptr) return 1;
  Slots core(get_table, MSTX_MODULE_CORE);
  core.Set(MSTX_CORE_MARK, MarkA);
  core.Set(MSTX_CORE_RANGE_START, RangeStartA);
  core.Set(MSTX_CORE_RANGE_END, RangeEnd);
  core.Set(MSTX_CORE_TOOL_ID, GetToolId);
  Slots domain(get_table, MSTX_MODULE_DOMAIN);
  domain.Set(MSTX_DOMAIN_CREATE, DomainCreateA);
  domain.Set(MSTX_DOMAIN_DESTROY, DomainDestroy);
  domain.Set(MSTX_DOMAIN_MARK, DomainMarkA);
  domain.Set(MSTX_DOMAIN_RANGE_START, DomainRangeStartA);
  domain.Set(MSTX_DOMAIN_RANGE_END, DomainRangeEnd);
  return 0;
}
