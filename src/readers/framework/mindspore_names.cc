#include "readers/framework/mindspore_names.h"

#include <span>

namespace steplens::readers {
namespace {

// Of MindSpore 2.6 and 2.7; the tables grow from version to version.
constexpr std::string_view kStages[] = {"Default",      "Python",    "Capture", "RunGraph",
                                        "RunGrad",      "RunOp",     "Asnumpy", "CompileGradGraph",
                                        "WaitPipeline", "SyncStream"};
constexpr std::string_view kModules[] = {
    "Default", "GraphExecutorPy", "RuntimeFramework", "PynativeFramework",
    "Kernel",  "Python",          "Capture",          "Other"};
constexpr std::string_view kEvents[] = {"Default",
                                        "KernelInfer",
                                        "KernelResize",
                                        "KernelInferAndResize",
                                        "KernelLaunch",
                                        "KernelLaunckCallback",
                                        "KernelUpdate",
                                        "KernelPrepareData",
                                        "GraphLaunch",
                                        "InputProcess",
                                        "OutputProcess",
                                        "WaitTaskFinish",
                                        "PreLaunch",
                                        "PostLaunch",
                                        "SendOutput",
                                        "MemoryAlloc",
                                        "MemoryFree",
                                        "CopyData",
                                        "StreamSync",
                                        "ProcessMultiStream",
                                        "WaitKernelsInferFinish",
                                        "WaitKernelsResizeFinish",
                                        "WaitKernelsLaunchFinish",
                                        "KernelInferInner",
                                        "KernelInferDataSync",
                                        "KernelResizeInner",
                                        "KernelLaunchInner",
                                        "BackendGraphRunInner",
                                        "RunOp",
                                        "PyNativeFrontendTask",
                                        "PyNativeBackendTask",
                                        "PyNativeDeviceTask",
                                        "PyNativeLaunchTask",
                                        "PyNativeBpropTask",
                                        "Wait",
                                        "PyNativeGilAcquire",
                                        "PyNativeCast",
                                        "PyNativeInfer",
                                        "PyNativeOpCompile",
                                        "PyNativeGradExpander",
                                        "PyNativeGradUpdateSens",
                                        "PyNativeGradClearTopCell",
                                        "PyNativeGradClearAutoGradCell",
                                        "PyBoostInferOutput",
                                        "PyBoostInferByOpDef",
                                        "PyBoostCreateOutputTensor",
                                        "PyBoostDeviceTask",
                                        "PyBoostMallocInput",
                                        "PyBoostMallocOutput",
                                        "PyBoostLaunchAclnn",
                                        "PyBoostLaunchAtb",
                                        "PyNativeNewGraph",
                                        "PyNativeEndGraph",
                                        "PythonObserved",
                                        "CaptureRunGraph",
                                        "CaptureProcess",
                                        "CaptureCompile",
                                        "CaptureGuard",
                                        "AclnnHitCacheStage1",
                                        "AclnnHitCacheStage2",
                                        "AclnnMissCacheStage1",
                                        "AclnnMissCacheStage2",
                                        "AclnnUpdateAddress",
                                        "AclnnRunOp",
                                        "RunExpanderFunc",
                                        "EmitOp",
                                        "Execute",
                                        "ReleaseResource",
                                        "NativeFunc"};

std::string_view At(std::span<const std::string_view> names, uint16_t index) {
  return names[index < names.size() ? index : 0];
}

}  // namespace

std::string_view MindSporeStageName(uint16_t index) { return At(kStages, index); }
std::string_view MindSporeModuleName(uint16_t index) { return At(kModules, index); }
std::string_view MindSporeEventName(uint16_t index) { return At(kEvents, index); }

}  // namespace steplens::readers
