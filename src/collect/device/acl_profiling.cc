#include "collect/device/acl_profiling.h"

#include <cstring>

#include "collect/device/vendor_library.h"
#include "collect/device/vendor_mstx.h"

namespace steplens::collect {
namespace {

DeviceResult Missing(const char* name) {
  return {SL_DEVICE_UNSUPPORTED,
          std::string(name) + " is not in the vendor's libraries on this machine"};
}

DeviceResult Done(const char* name, int code) {
  if (code == 0) return {};
  return {code, std::string(name) + " failed with code " + std::to_string(code)};
}

// Calls a function of the vendor, if it is there.
template <typename Function, typename... Arguments>
DeviceResult Call(const char* name, Function* function, Arguments... arguments) {
  if (function == nullptr) return Missing(name);
  return Done(name, function(arguments...));
}

}  // namespace

AclProfiling::AclProfiling() {
  // Frameworks take the classic functions from libascendcl and the newer ones from libmsprofiler;
  // each may be in either.
  const auto classic = [](const char* name, auto** out) {
    FindVendorFunction(name, VendorLibrary::kAscendCl, VendorLibrary::kMsProfiler, out);
  };
  const auto newer = [](const char* name, auto** out) {
    FindVendorFunction(name, VendorLibrary::kMsProfiler, VendorLibrary::kAscendCl, out);
  };
  classic("aclprofInit", &vendor_.init);
  classic("aclprofFinalize", &vendor_.finalize);
  classic("aclprofCreateConfig", &vendor_.create_config);
  classic("aclprofDestroyConfig", &vendor_.destroy_config);
  classic("aclprofStart", &vendor_.start);
  classic("aclprofStop", &vendor_.stop);
  classic("aclrtSynchronizeDevice", &vendor_.synchronize);
  classic("aclprofCreateStepInfo", &vendor_.create_step);
  classic("aclprofGetStepTimestamp", &vendor_.step_timestamp);
  classic("aclprofDestroyStepInfo", &vendor_.destroy_step);
  newer("aclprofWarmup", &vendor_.warmup);
  newer("aclprofSetConfig", &vendor_.set_config);
  newer("aclprofRegisterDeviceCallback", &vendor_.register_device_callback);
  newer("aclprofMarkEx", &vendor_.mark_ex);
  newer("aclprofGetSupportedFeaturesV2", &vendor_.features);
  if (vendor_.features == nullptr) newer("aclprofGetSupportedFeatures", &vendor_.features);
}

uint32_t AclProfiling::capabilities() const {
  uint32_t bits = 0;
  const bool has_core = vendor_.init != nullptr && vendor_.finalize != nullptr &&
                        vendor_.create_config != nullptr && vendor_.start != nullptr &&
                        vendor_.stop != nullptr;
  if (!has_core) return 0;
  bits |= SL_DEVICE_PROFILING;
  if (vendor_.warmup != nullptr) bits |= SL_DEVICE_WARMUP;
  if (vendor_.set_config != nullptr) bits |= SL_DEVICE_SET_CONFIG;
  if (vendor_.features != nullptr) bits |= SL_DEVICE_FEATURES;
  if (vendor_.mark_ex != nullptr || TheVendorMstx().has_marks()) bits |= SL_DEVICE_MSTX_OUT;
  return bits;
}

DeviceResult AclProfiling::Init(const std::string& folder) {
  return Call("aclprofInit", vendor_.init, folder.c_str(), folder.size());
}

DeviceFeatures AclProfiling::AskFeatures() const {
  size_t count = 0;
  void* records = nullptr;
  if (vendor_.features == nullptr || vendor_.features(&count, &records) != 0) return {};
  if (records == nullptr) return {};
  return ReadFeatures(static_cast<const FeatureRecord*>(records), count);
}

DeviceResult AclProfiling::Configure(const sl_device_config& config,
                                     const std::vector<uint32_t>& device_ids) {
  switches_ = MakeSwitches(config, AskFeatures());
  // A setting that is refused costs its own data, not the capture.
  std::string refused;
  for (const auto& [key, value] : switches_.settings) {
    DeviceResult result =
        Call("aclprofSetConfig", vendor_.set_config, key, value.c_str(), value.size());
    if (!result.ok()) refused = std::move(result.text);
  }
  if (vendor_.create_config == nullptr) return Missing("aclprofCreateConfig");
  std::vector<uint32_t> ids = device_ids;
  config_ = vendor_.create_config(ids.data(), static_cast<uint32_t>(ids.size()), switches_.metrics,
                                  nullptr, switches_.mask);
  if (config_ == nullptr) {
    return {SL_DEVICE_BAD_ARGUMENT, "aclprofCreateConfig refused the devices or the switches"};
  }
  return {0, std::move(refused)};
}

DeviceResult AclProfiling::Warmup() { return Call("aclprofWarmup", vendor_.warmup, config_); }

DeviceResult AclProfiling::Start() {
  const DeviceResult result = Call("aclprofStart", vendor_.start, config_);
  if (!result.ok()) return result;
  // Devices that are set later are added by the vendor's callback; without it they are left out.
  if (vendor_.register_device_callback != nullptr) vendor_.register_device_callback();
  return result;
}

DeviceResult AclProfiling::StepMark(bool is_end, void* stream) {
  if (vendor_.create_step == nullptr) return Missing("aclprofCreateStepInfo");
  if (!is_end && step_ == nullptr) step_ = vendor_.create_step();
  if (step_ == nullptr) return {SL_DEVICE_NOT_READY, "a step ends that did not begin"};
  DeviceResult result = Call("aclprofGetStepTimestamp", vendor_.step_timestamp, step_,
                             switches_.first_step_tag + (is_end ? 1 : 0), stream);
  if (is_end) {
    if (vendor_.destroy_step != nullptr) vendor_.destroy_step(step_);
    step_ = nullptr;
  }
  return result;
}

DeviceResult AclProfiling::Mark(const char* message, void* stream) {
  constexpr size_t kLongest = 127;
  const size_t length = std::strlen(message);
  if (length == 0 || length > kLongest || stream == nullptr) {
    return {SL_DEVICE_BAD_ARGUMENT, "a mark on a stream needs a stream and 1 to 127 bytes of text"};
  }
  return Call("aclprofMarkEx", vendor_.mark_ex, message, length, stream);
}

void AclProfiling::Synchronize() {
  // A thread without a device is refused, and has nothing to wait for.
  if (vendor_.synchronize != nullptr) vendor_.synchronize();
}

DeviceResult AclProfiling::Stop() {
  if (step_ != nullptr && vendor_.destroy_step != nullptr) vendor_.destroy_step(step_);
  step_ = nullptr;
  return Call("aclprofStop", vendor_.stop, config_);
}

DeviceResult AclProfiling::Finalize() {
  if (config_ != nullptr && vendor_.destroy_config != nullptr) vendor_.destroy_config(config_);
  config_ = nullptr;
  return Call("aclprofFinalize", vendor_.finalize);
}

}  // namespace steplens::collect
