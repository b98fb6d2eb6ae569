#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/compare/side.h"

namespace steplens::analysis::compare {

// A call of an nn.Module, of an optimizer's step, or the backward pass of a module.
struct ModuleNode {
  std::string name;  // "nn.Module: Net_0"
  std::string path;  // "/nn.Module: Net_0/nn.Module: Conv2d_0"
  int level = 1;     // the root's is 1
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  store::TrackId track = store::kNoTrack;
  std::string call_stack;
  std::vector<uint32_t> children{};

  // Launched by itself and by all below; launches are those of the side.
  int64_t self_ns = 0;
  int64_t total_ns = 0;
  struct SelfEvent {
    int64_t launch_ns;
    uint32_t event;
  };
  std::vector<SelfEvent> self_events{};
  // The outermost operators in it that are in no module below, and what they launched.
  struct TopOp {
    uint32_t op;
    int64_t ns = 0;
    std::vector<uint32_t> events{};
  };
  std::vector<TopOp> ops{};
};

// The modules of a side. Nodes 0 and 1 are the roots of the forward and of the backward pass.
struct ModuleTree {
  std::vector<ModuleNode> nodes;

  // All modules in order of begin.
  std::vector<uint32_t> ByBegin() const;
};

ModuleTree BuildModuleTree(const Side& side, bool compat);

// "nn.Module: Conv2d" of ".../nn.Module: Conv2d_0", and the path as it is shown.
std::string ModuleClass(const std::string& path);
std::string ShownPath(const std::string& path);

}  // namespace steplens::analysis::compare
