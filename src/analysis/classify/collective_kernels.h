#pragma once

#include "analysis/classify/classify.h"
#include "analysis/classify/text_memo.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// Which rows of kernels are whole collectives: by their core, of a GPU by their name.
class CollectiveKernels {
 public:
  // The store must outlive this.
  CollectiveKernels(const store::TraceStore& store, Platform platform)
      : kernels_(store.kernels),
        is_core_(store, IsCommunicationCore),
        is_name_(store, IsCommunicationKernel),
        is_gpu_(platform == Platform::kGpu) {}

  bool operator()(size_t kernel) {
    return is_core_(kernels_.core[kernel]) || (is_gpu_ && is_name_(kernels_.name[kernel]));
  }

 private:
  using Memo = TextMemo<bool (*)(std::string_view)>;
  const store::KernelTable& kernels_;
  Memo is_core_;
  Memo is_name_;
  bool is_gpu_;
};

}  // namespace steplens::analysis
