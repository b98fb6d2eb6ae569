#include "analysis/cpu_device/memory_rows.h"

#include <algorithm>
#include <map>
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

void OrderSamples(TraceStore& store) {
  const Framework& framework = store.info.source == "ascend_ms" ? kMindSpore : kTorch;
  const auto sum_name = store.strings.Find(framework.sum_name);
  const auto known = store.memory_samples.component.span();
  if (known.empty()) return;
  if (sum_name && std::find(known.begin(), known.end(), *sum_name) != known.end()) return;
  struct Place {
    int group;
    int64_t ts_ns;
    bool is_engine;
    uint32_t row;
  };
  std::vector<Place> order;
  order.reserve(known.size());
  for (uint32_t i = 0; i < known.size(); ++i) {
    const std::string_view component = store.Text(known[i]);
    const int group = GroupOf(component, framework);
    order.push_back({group, group == 1 ? store.memory_samples.ts_ns[i] : 0, component == "GE", i});
  }
  const auto before = [](const Place& a, const Place& b) {
    return std::tie(a.group, a.ts_ns, a.is_engine, a.row) <
           std::tie(b.group, b.ts_ns, b.is_engine, b.row);
  };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::sort(order.begin(), order.end(), before);
  const StringId pta = store.strings.Intern("PTA");
  const StringId own_name = store.strings.Intern(framework.name);
  Sums sums(store.strings.Intern(framework.sum_name));
  store::MemorySampleTable ordered;
  ordered.Reserve(2 * order.size());
  for (const Place& place : order) {
    Sample sample = store.memory_samples.Get(place.row);
    const bool is_framework = sample.component == pta;
    if (is_framework) sample.component = own_name;
    ordered.Append(sample);
    if (place.is_engine || is_framework) {
      ordered.Append(sums.Add(sample, !place.is_engine));
    }
  }
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

void OrderMemoryRows(TraceStore& store) {
  OrderSamples(store);
  OrderAllocations(store);
}

}  // namespace steplens::analysis
