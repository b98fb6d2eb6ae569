#include "collect/marks.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string_view>
#include <vector>

#include "collect/clock.h"
#include "collect/device/device_marks.h"
#include "collect/library.h"
#include "collect/thread_state.h"

namespace steplens::collect {
namespace {

// Never changed and never freed once it is in use: marks read it without a lock. Front ends set one
// a capture.
struct Filter {
  bool enabled = true;
  std::vector<uint32_t> include;
  std::vector<uint32_t> exclude;
  bool operator==(const Filter&) const = default;
};

constexpr char kEndOfName = '\x1f';

const Filter kKeepAll;
std::atomic<const Filter*> filter{&kKeepAll};

// All filters there were.
struct Filters {
  std::mutex mutex;
  std::vector<const Filter*> all = {&kKeepAll};
};
Filters& TheFilters() {
  static Filters* const filters = new Filters;
  return *filters;
}
std::atomic<uint64_t> last_id{0};

bool Has(const std::vector<uint32_t>& ids, uint32_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

uint32_t DefaultDomain() {
  static const uint32_t id = TheLibrary().strings.Intern("default");
  return id;
}

// The default domain by its name is the one without a name.
uint32_t NoDefault(sl_string domain) { return domain == DefaultDomain() ? 0 : domain; }

// The ids of names that end with '\x1f', or are joined by ',': then blanks around them do not
// count.
std::vector<uint32_t> InternList(const char* names) {
  std::vector<uint32_t> ids;
  std::string_view rest = names != nullptr ? names : "";
  const char separator = rest.find(kEndOfName) != std::string_view::npos ? kEndOfName : ',';
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(separator), rest.size());
    std::string_view name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (separator == ',' && name.starts_with(' ')) name.remove_prefix(1);
    while (separator == ',' && name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty()) ids.push_back(TheLibrary().strings.Intern(name));
  }
  return ids;
}

void EmitMark(ThreadState* state, sl_string message, sl_string domain, uint64_t id,
              RingMarkKind kind) {
  MarkRecord record = {};
  record.time = Now();
  record.id = id;
  record.domain = NoDefault(domain);
  record.kind = kind;
  EmitRecord(state, kRingMark, message, record);
}

}  // namespace

bool IsMessage(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\0", 5).find(text[0]) == std::string_view::npos;
}

bool IsDomainName(std::string_view text) {
  constexpr size_t kMaxBytes = 1024;
  return IsMessage(text) && text.size() < kMaxBytes;
}

bool IsDomainKept(sl_string domain) {
  const Filter* now = filter.load(std::memory_order_acquire);
  if (!now->enabled) return false;
  const uint32_t id = domain != 0 ? domain : DefaultDomain();
  if (!now->include.empty()) return Has(now->include, id);
  return now->exclude.empty() || !Has(now->exclude, id);
}

namespace {

bool IsKept(sl_string message, sl_string domain) {
  const StringTable& strings = TheLibrary().strings;
  return IsDomainKept(domain) && IsMessage(strings.View(message)) &&
         (domain == 0 || IsDomainName(strings.View(domain)));
}

}  // namespace

void Mark(sl_string message, sl_string domain, void* stream) {
  ThreadState* state = RecordingThread();
  if (state == nullptr || !IsKept(message, domain)) return;
  const uint64_t id = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  EmitMark(state, message, domain, id, kMarkNow);
  if (stream != nullptr) MarkOnStream(message, NoDefault(domain), stream);
}

uint64_t StartMark(sl_string message, sl_string domain, void* stream) {
  ThreadState* state = RecordingThread();
  if (state == nullptr || !IsKept(message, domain)) return 0;
  const uint64_t id = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  EmitMark(state, message, domain, id, kMarkStart);
  if (stream != nullptr) StartOnStream(id, message, NoDefault(domain), stream);
  return id;
}

void EndMark(uint64_t id) {
  if (id == 0) return;
  ThreadState* state = RecordingThread();
  if (state == nullptr) return;
  EmitMark(state, 0, 0, id, kMarkEnd);
  EndOnStream(id);
}

void EndMarkInDomain(uint64_t id, sl_string domain) {
  if (id == 0) return;
  ThreadState* state = RecordingThread();
  if (state == nullptr) return;
  EmitMark(state, 0, domain, id, kMarkEndInDomain);
  EndOnStreamInDomain(id, NoDefault(domain));
}

void SetMarkFilter(bool enabled, const char* include, const char* exclude) {
  Filter wanted{enabled, InternList(include), InternList(exclude)};
  Filters& filters = TheFilters();
  const std::lock_guard lock(filters.mutex);
  for (const Filter* known : filters.all) {
    if (*known == wanted) return filter.store(known, std::memory_order_release);
  }
  filters.all.push_back(new Filter(std::move(wanted)));
  filter.store(filters.all.back(), std::memory_order_release);
}

}  // namespace steplens::collect
