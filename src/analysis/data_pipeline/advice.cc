#include "analysis/data_pipeline/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/number.h"

namespace steplens::analysis {
namespace {

// CPU time a worker.
constexpr double kBusyPercent = 75;
constexpr double kLazyPercent = 20;
// Use of queues.
constexpr double kStarvedLeafPercent = 50;
constexpr double kEmptyDeviceQueuePercent = 60;
constexpr double kFarApartPercent = 50;  // between the queues before and after an operation
constexpr double kNearlyEmptyPercent = 10;
constexpr std::array<std::string_view, 10> kNoWork = {
    "Barrier", "Concat", "EpochCtrl", "Rename", "Repeat",
    "Shuffle", "Skip",   "Take",      "Zip",    "DeviceQueue"};

// "80.0", as the file shows numbers.
std::string Percent(double value) {
  const std::string text = FormatDouble(value);
  return text.find('.') == std::string::npos ? text + ".0%" : text + "%";
}

std::string Called(const OpUse& op) { return fmt::format("{}(id={})", op.name, op.id); }

class Advisor {
 public:
  explicit Advisor(std::span<const OpUse> ops) : ops_(ops) {}

  PipelineAdvice Advise() {
    for (const OpUse& op : ops_) {
      AdviseOnCpu(op);
      AdviseOnQueues(op);
    }
    // A finding nearer to the root wins.
    for (size_t i = ops_.size(); i-- > 0;) LookForBottleneck(ops_[i]);
    return std::move(advice_);
  }

 private:
  void AdviseOnCpu(const OpUse& op) {
    const double percent = op.worker_cpu_percent;
    if (percent > kBusyPercent) {
      advice_.cpu_details.push_back(
          fmt::format("{} is using {} CPU per worker. Setting num_parallel_workers>{} might bring "
                      "extra performance",
                      Called(op), Percent(percent), op.workers));
    } else if (percent >= 0 && percent < kLazyPercent && op.workers > 1) {
      advice_.cpu_details.push_back(
          fmt::format("{} is using {} CPU per worker. Using num_parallel_workers={} might not "
                      "bring any extra performance",
                      Called(op), Percent(percent), op.workers));
    }
  }

  // What an operation takes from: its first child.
  const OpUse* Source(const OpUse& op) const {
    if (op.children.empty()) return nullptr;
    const auto found = std::find_if(
        ops_.begin(), ops_.end(), [&](const OpUse& one) { return one.id == op.children.front(); });
    return found == ops_.end() ? nullptr : &*found;
  }
  double InputPercent(const OpUse& op) const {
    const OpUse* const source = Source(op);
    return source == nullptr ? -1 : source->queue_used_percent;
  }

  void AdviseOnQueues(const OpUse& op) {
    if (op.name == "Batch") return;
    const OpUse* const source = Source(op);
    if (op.name == "DeviceQueue") {
      if (source == nullptr || source->queue_empty_percent <= kEmptyDeviceQueuePercent) return;
      advice_.queue_details.push_back(
          fmt::format("The input queue of {} is empty {} of the time; the dataset cannot keep up "
                      "with the device",
                      Called(op), Percent(source->queue_empty_percent)));
      return;
    }
    const double used = op.queue_used_percent;
    if (source == nullptr) {
      if (used < 0 || used >= kStarvedLeafPercent) return;
      advice_.queue_details.push_back(
          fmt::format("The output queue of leaf {} is used to {}; more workers may help if it "
                      "waits for I/O",
                      Called(op), Percent(used)));
      return;
    }
    const double before = source->queue_used_percent;
    if (before < 0 || used < 0 || before - used <= kFarApartPercent) return;
    advice_.queue_details.push_back(
        fmt::format("{} is slower than what it takes from (queue before it {}, after it {}); "
                    "raise its prefetch_size or workers",
                    Called(op), Percent(before), Percent(used)));
  }

  bool Waits(const OpUse& op) const {
    const double before = InputPercent(op);
    const double after = op.queue_used_percent;
    return (before >= 0 && before < kNearlyEmptyPercent) ||
           (before >= 0 && after >= 0 && after - before > kFarApartPercent);
  }

  void LookForBottleneck(const OpUse& op) {
    if (std::find(kNoWork.begin(), kNoWork.end(), op.name) != kNoWork.end()) return;
    const double percent = op.worker_cpu_percent;
    if (percent > kBusyPercent) {
      advice_.bottleneck_warning = {fmt::format("{} is the bottleneck: it uses {} CPU per worker",
                                                Called(op), Percent(percent))};
      advice_.bottleneck_suggestion = {
          fmt::format("Set num_parallel_workers>{} for {}", op.workers, Called(op))};
    } else if (percent >= 0 && percent < kLazyPercent && op.name != "Batch" && Waits(op)) {
      advice_.bottleneck_warning = {
          fmt::format("{} is the bottleneck: its queues are not in balance", Called(op))};
      advice_.bottleneck_suggestion = {fmt::format("Raise prefetch_size of {}", Called(op))};
    }
  }

  std::span<const OpUse> ops_;
  PipelineAdvice advice_;
};

}  // namespace

PipelineAdvice AdviseOnPipeline(std::span<const OpUse> ops) { return Advisor(ops).Advise(); }

}  // namespace steplens::analysis
