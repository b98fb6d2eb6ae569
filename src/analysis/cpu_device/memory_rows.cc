#include "analysis/cpu_device/memory_rows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::TraceStore;
using Sample = store::MemorySampleTable::Row;

int64_t OrZero(int64_t bytes) { return bytes == kNone ? 0 : bytes; }

// The latest sample of each side on each device.
class Sums {
 public:
  explicit Sums(StringId name) : name_(name) {}

  Sample Add(const Sample& sample, bool is_framework) {
    Sides& sides = latest_[sample.device];
    (is_framework ? sides.framework : sides.engine) = sample;
    const Sample& other = is_framework ? sides.engine : sides.framework;
    Sample sum = sample;
    sum.component = name_;
    sum.allocated_bytes = AddNs(OrZero(sample.allocated_bytes), OrZero(other.allocated_bytes));
    sum.reserved_bytes = AddNs(OrZero(sample.reserved_bytes), OrZero(other.reserved_bytes));
    sum.active_bytes = OrZero(sides.framework.active_bytes);
    if (sum.stream_ptr == kNone) sum.stream_ptr = other.stream_ptr;
    return sum;
  }

 private:
  struct Sides {
    Sample framework, engine;
  };
  StringId name_;
  std::map<StringId, Sides> latest_;  // by device
};

// What a framework calls its own allocator, and where it puts the rows of the whole process.
struct Framework {
  std::string_view name;
  std::string_view sum_name;
  int app_group;
};
constexpr Framework kTorch{"PTA", "PTA+GE", 0};
constexpr Framework kMindSpore{"MindSpore", "MindSpore+GE", 3};

// Place among the rows: framework and engine by time (the framework first), then others; APP before
// or after them.
int GroupOf(std::string_view component, const Framework& framework) {
  if (component == "APP") return framework.app_group;
  const bool is_timed = component == "PTA" || component == "GE" || component == "WORKSPACE";
  return is_timed ? 1 : 2;
}

// Whether rows of sums are there already; then so is the order.
bool HasSums(const TraceStore& store, const Framework& framework) {
  const auto sum_name = store.strings.Find(framework.sum_name);
  const auto known = store.memory_samples.component.span();
  return sum_name && std::find(known.begin(), known.end(), *sum_name) != known.end();
}

const Framework& FrameworkOf(const TraceStore& store) {
  return store::IsMindSpore(store.info.source) ? kMindSpore : kTorch;
}

// The rows in the order of the file; empty if that is the order they have.
std::vector<uint32_t> RowOrder(const TraceStore& store, const Framework& framework) {
  const store::MemorySampleTable& samples = store.memory_samples;
  const auto key = [&](uint32_t row) {
    const std::string_view component = store.Text(samples.component[row]);
    const int group = GroupOf(component, framework);
    return std::tuple(group, group == 1 ? int64_t{samples.ts_ns[row]} : 0, component == "GE", row);
  };
  uint32_t ordered = 1;
  while (ordered < samples.size() && key(ordered - 1) < key(ordered)) ++ordered;
  if (ordered >= samples.size()) return {};
  std::vector<uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  return order;
}

void OrderSamples(TraceStore& store) {
  if (store.memory_samples.size() == 0 || HasSums(store, FrameworkOf(store))) return;
  store::MemorySampleTable ordered;
  ordered.Reserve(2 * store.memory_samples.size());
  ForEachMemorySample(store, [&](const Sample& sample) { ordered.Append(sample); });
  store.memory_samples = std::move(ordered);
}

// Those of the framework have an address.
void OrderAllocations(TraceStore& store) {
  constexpr std::string_view kPrefix = "cann::";
  const auto address = store.allocations.address.span();
  if (std::none_of(address.begin(), address.end(), [](int64_t a) { return a == kNone; })) return;
  store::AllocationTable ordered;
  ordered.Reserve(store.allocations.size());
  for (const bool is_cann : {false, true}) {
    for (size_t i = 0; i < store.allocations.size(); ++i) {
      if ((store.allocations.address[i] == kNone) != is_cann) continue;
      store::AllocationTable::Row row = store.allocations.Get(i);
      // The exporter says how long a block lived, not when it was released.
      if (is_cann && row.release_ns == kNone && row.dur_ns != kNone && row.alloc_ns != kNone) {
        row.release_ns = AddNs(row.alloc_ns, row.dur_ns);
      }
      if (is_cann && !store.Text(row.name).starts_with(kPrefix)) {
        row.name = store.strings.Intern(std::string(kPrefix) + std::string(store.Text(row.name)));
      }
      ordered.Append(row);
    }
  }
  store.allocations = std::move(ordered);
}

}  // namespace

void ForEachMemorySample(const TraceStore& store, const std::function<void(const Sample&)>& visit) {
  const Framework& framework = FrameworkOf(store);
  const auto pta = store.strings.Find(kTorch.name);
  const auto engine = store.strings.Find("GE");
  const auto own_name = store.strings.Find(framework.name);
  const auto sum_name = store.strings.Find(framework.sum_name);
  const bool is_whole = HasSums(store, framework) || !own_name || !sum_name;
  const std::vector<uint32_t> order =
      is_whole ? std::vector<uint32_t>() : RowOrder(store, framework);
  Sums sums(sum_name.value_or(StringId::kEmpty));
  for (uint32_t i = 0; i < store.memory_samples.size(); ++i) {
    Sample sample = store.memory_samples.Get(order.empty() ? i : order[i]);
    const bool is_framework = sample.component == pta;
    const bool is_engine = sample.component == engine;
    if (!is_whole && is_framework) sample.component = *own_name;
    visit(sample);
    if (!is_whole && (is_framework || is_engine)) visit(sums.Add(sample, is_framework));
  }
}

void NameMemoryRows(TraceStore& store) {
  if (store.memory_samples.size() > 0) {
    store.strings.Intern(FrameworkOf(store).name);
    store.strings.Intern(FrameworkOf(store).sum_name);
  }
  OrderAllocations(store);
}

void OrderMemoryRows(TraceStore& store) {
  NameMemoryRows(store);
  OrderSamples(store);
}

}  // namespace steplens::analysis
