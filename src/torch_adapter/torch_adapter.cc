#include "torch_adapter/torch_adapter.h"

#include <torch/version.h>

#include <mutex>

#include "torch_adapter/allocator.h"
#include "torch_adapter/collectives.h"
#include "torch_adapter/inputs.h"
#include "torch_adapter/operators.h"

namespace {

std::mutex hooks_mutex;
bool hooks_installed = false;

}  // namespace

const char* slt_version() { return TORCH_VERSION; }

void slt_prepare() { steplens::torch_adapter::PrepareOperators(); }

int slt_start(const slt_options* options) {
  if (!options || options->struct_size != sizeof(slt_options)) return 1;
  const std::lock_guard lock(hooks_mutex);
  if (hooks_installed) return 1;
  hooks_installed = true;
  if (options->operators) steplens::torch_adapter::InstallOperators(*options);
  if (options->memory) steplens::torch_adapter::InstallAllocator(options->device_index);
  return 0;
}

void slt_stop() {
  const std::lock_guard lock(hooks_mutex);
  if (!hooks_installed) return;
  hooks_installed = false;
  steplens::torch_adapter::RemoveAllocator();
  steplens::torch_adapter::RemoveOperators();
}

void slt_parameters(uint64_t key, uint16_t tag, const char* text, size_t length,
                    const uint64_t* tensors, size_t count) {
  steplens::torch_adapter::Words words;
  for (size_t i = 0; i < count; ++i) {
    steplens::torch_adapter::AddTensorAt(reinterpret_cast<const void*>(tensors[i]), &words);
  }
  sl_param_tensors(key, tag, text, length, words.data(), words.size());
}

void slt_watch_groups() {
  const std::lock_guard lock(hooks_mutex);
  if (hooks_installed) steplens::torch_adapter::AlsoTakeInputs();
}

void slt_group(uint64_t address, const char* name, const char* ranks) {
  if (name && ranks) steplens::torch_adapter::NameGroup(address, name, ranks);
}

void slt_unknown_group_hook(void (*hook)(uint64_t address)) {
  steplens::torch_adapter::SetUnknownGroupHook(hook);
}
