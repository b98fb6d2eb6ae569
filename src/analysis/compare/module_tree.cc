#include "analysis/compare/module_tree.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/time_math.h"

namespace steplens::analysis::compare {
namespace {

using store::kNoId;
using store::TrackId;

constexpr uint32_t kForwardRoot = 0;
constexpr uint32_t kBackwardRoot = 1;
constexpr std::string_view kModulePrefix = "nn.Module:";

bool IsOptimizer(std::string_view name) { return LowerCase(name.substr(0, 9)) == "optimizer"; }

// The Python functions that are no modules, by time: finds the stack of a moment.
class CallTree {
 public:
  explicit CallTree(const Side& side, bool compat) : compat_(compat) {
    std::map<TrackId, std::vector<uint32_t>> stacks;
    for (const PythonCall& call : side.python) {
      if (call.name.starts_with(kModulePrefix)) continue;
      std::vector<uint32_t>& stack = stacks[compat ? store::kNoTrack : call.track];
      while (!stack.empty() && call.begin_ns > calls_[stack.back()].end_ns) stack.pop_back();
      const auto index = static_cast<uint32_t>(calls_.size());
      calls_.push_back(
          {call.name, call.begin_ns, call.end_ns, stack.empty() ? kNoId : stack.back()});
      by_track_[compat ? store::kNoTrack : call.track].push_back(index);
      stack.push_back(index);
    }
  }

  // The innermost function under way, outer ones first; empty if there is none.
  std::string StackAt(TrackId track, int64_t ns) const {
    const auto found = by_track_.find(compat_ ? store::kNoTrack : track);
    if (found == by_track_.end()) return {};
    const std::vector<uint32_t>& calls = found->second;
    const auto after =
        std::lower_bound(calls.begin(), calls.end(), ns,
                         [&](uint32_t call, int64_t time) { return calls_[call].begin_ns < time; });
    uint32_t call = after == calls.begin() ? kNoId : *(after - 1);
    while (call != kNoId && calls_[call].end_ns <= ns) call = calls_[call].parent;
    std::vector<std::string_view> names;
    for (; call != kNoId; call = calls_[call].parent) names.push_back(calls_[call].name);
    std::string stack;
    for (size_t i = names.size(); i-- > 0;) {
      stack += names[i];
      if (i > 0) stack += ";\n";
    }
    return stack;
  }

 private:
  struct Call {
    std::string_view name;
    int64_t begin_ns;
    int64_t end_ns;
    uint32_t parent;
  };
  const bool compat_;
  std::vector<Call> calls_;
  std::map<TrackId, std::vector<uint32_t>> by_track_;
};

struct ModuleEvent {
  std::string name;
  int64_t begin_ns;
  int64_t end_ns;
  TrackId track;
};

class ModuleTreeBuilder {
 public:
  ModuleTreeBuilder(const Side& side, bool compat)
      : side_(side), compat_(compat), calls_(side, compat) {
    tree_.nodes.resize(2);
  }

  ModuleTree Build() {
    AddTree(ForwardEvents(), kForwardRoot);
    AddTree(BackwardEvents(), kBackwardRoot);
    AddLaunches();
    AddOps();
    return std::move(tree_);
  }

 private:
  std::vector<ModuleEvent> ForwardEvents() const {
    std::vector<ModuleEvent> events;
    for (const PythonCall& call : side_.python) {
      if (!call.name.starts_with(kModulePrefix)) continue;
      events.push_back({std::string(call.name), call.begin_ns, call.end_ns, call.track});
    }
    std::set<std::pair<TrackId, int64_t>> seen;  // an operator may have several rows
    for (const HostEvent& op : side_.ops) {
      if (!IsOptimizer(op.name) || !seen.emplace(op.track, op.begin_ns).second) continue;
      events.push_back({std::string(op.name), op.begin_ns, op.end_ns, op.track});
    }
    return events;
  }

  // The operators at the ends of arrows from the forward to the backward pass.
  std::vector<ModuleEvent> BackwardEvents() const {
    std::unordered_map<int64_t, const HostEvent*> op_at;
    for (const HostEvent& op : side_.ops) op_at.emplace(op.begin_ns, &op);
    std::vector<ModuleEvent> events;
    for (const ForwardBackward& pair : side_.pairs) {
      const uint32_t module = Innermost(kForwardRoot, pair.forward_track, pair.forward_ns);
      const auto op = op_at.find(pair.backward_ns);
      if (module == kNoId || op == op_at.end()) continue;
      events.push_back({"[ BACKWARD ]" + tree_.nodes[module].path, op->second->begin_ns,
                        op->second->end_ns, op->second->track});
    }
    return events;
  }

  void AddTree(std::vector<ModuleEvent> events, uint32_t root) {
    std::stable_sort(events.begin(), events.end(), [](const ModuleEvent& a, const ModuleEvent& b) {
      return a.begin_ns < b.begin_ns;
    });
    std::map<TrackId, std::vector<uint32_t>> stacks;
    for (ModuleEvent& event : events) {
      std::vector<uint32_t>& stack = stacks[compat_ ? store::kNoTrack : event.track];
      while (!stack.empty() && event.begin_ns > tree_.nodes[stack.back()].end_ns) stack.pop_back();
      const uint32_t parent = stack.empty() ? root : stack.back();
      const auto index = static_cast<uint32_t>(tree_.nodes.size());
      ModuleNode node;
      node.path = tree_.nodes[parent].path + "/" + event.name;
      node.name = std::move(event.name);
      node.level = tree_.nodes[parent].level + 1;
      node.begin_ns = event.begin_ns;
      node.end_ns = event.end_ns;
      node.track = event.track;
      node.call_stack = calls_.StackAt(event.track, event.begin_ns);
      if (node.call_stack.empty()) {
        for (const uint32_t outer : stack) node.call_stack += tree_.nodes[outer].name + ";\n";
        node.call_stack += node.name;
      }
      tree_.nodes.push_back(std::move(node));
      tree_.nodes[parent].children.push_back(index);
      stack.push_back(index);
    }
  }

  bool IsInside(const ModuleNode& node, TrackId track, int64_t ns) const {
    return node.begin_ns < ns && ns < node.end_ns && (compat_ || node.track == track);
  }
  // The innermost module around a moment; kNoId outside of all.
  uint32_t Innermost(uint32_t root, TrackId track, int64_t ns) const {
    uint32_t found = kNoId;
    for (uint32_t node = root;;) {
      const std::vector<uint32_t>& children = tree_.nodes[node].children;
      auto after = std::lower_bound(
          children.begin(), children.end(), ns,
          [&](uint32_t child, int64_t time) { return tree_.nodes[child].begin_ns < time; });
      while (after != children.begin() && !IsInside(tree_.nodes[*(after - 1)], track, ns)) {
        if (compat_ || tree_.nodes[*(after - 1)].track == track) {
          after = children.begin();
        } else {
          --after;
        }
      }
      if (after == children.begin()) return found;
      found = node = *(after - 1);
    }
  }

  // Each point that launched something, and the launches there that count.
  std::map<std::pair<int64_t, TrackId>, std::vector<uint32_t>> LaunchPoints() const {
    std::map<std::pair<int64_t, TrackId>, std::vector<uint32_t>> points;
    for (uint32_t i = 0; i < side_.launches.size(); ++i) {
      const HostLaunch& launch = side_.launches[i];
      std::vector<uint32_t>& at =
          points[{launch.host_ns, compat_ ? store::kNoTrack : launch.track}];
      // The reference keeps the last connection of an operator of a db.
      if (compat_ && side_.is_db) at.clear();
      at.push_back(i);
    }
    return points;
  }

  void AddLaunches() {
    for (const auto& [point, launches] : LaunchPoints()) {
      for (const uint32_t root : {kForwardRoot, kBackwardRoot}) {
        std::vector<uint32_t> around = Around(root, point.second, point.first);
        for (const uint32_t launch : launches) {
          for (const uint32_t event : side_.launches[launch].events) {
            const int64_t ns = side_.events[event].dur_ns;
            for (const uint32_t node : around) tree_.nodes[node].total_ns += ns;
            if (around.empty()) continue;
            ModuleNode& innermost = tree_.nodes[around.back()];
            innermost.self_ns += ns;
            innermost.self_events.push_back({point.first, event});
          }
        }
      }
    }
  }
  // The modules around a moment, the outermost first. One that begins or ends then counts.
  std::vector<uint32_t> Around(uint32_t root, TrackId track, int64_t ns) const {
    std::vector<uint32_t> around;
    for (uint32_t node = root;;) {
      const std::vector<uint32_t>& children = tree_.nodes[node].children;
      const auto after = std::upper_bound(
          children.begin(), children.end(), ns,
          [&](int64_t time, uint32_t child) { return time < tree_.nodes[child].begin_ns; });
      uint32_t found = kNoId;
      for (auto child = after; child != children.begin();) {
        --child;
        const ModuleNode& candidate = tree_.nodes[*child];
        if (!compat_ && candidate.track != track) continue;
        if (candidate.end_ns >= ns) found = *child;
        break;
      }
      if (found == kNoId) return around;
      around.push_back(found);
      node = found;
    }
  }

  void AddOps() {
    std::unordered_map<uint32_t, int64_t> open_until;  // by module: the end of its last operator
    for (uint32_t i = 0; i < side_.ops.size(); ++i) {
      const HostEvent& op = side_.ops[i];
      if (IsOptimizer(op.name) || op.name.find("ProfilerStep#") != std::string_view::npos) continue;
      uint32_t module = Innermost(kForwardRoot, op.track, op.begin_ns);
      if (module == kNoId) module = Innermost(kBackwardRoot, op.track, op.begin_ns);
      if (module == kNoId) continue;
      const auto [place, is_first] = open_until.try_emplace(module, op.end_ns);
      if (!is_first && op.begin_ns <= place->second) {
        // Inside of the one before; the stack goes on as long as the outermost is open.
        continue;
      }
      place->second = op.end_ns;
      tree_.nodes[module].ops.push_back({i, 0, {}});
    }
    for (ModuleNode& node : tree_.nodes) GiveEvents(node);
  }
  void GiveEvents(ModuleNode& node) const {
    for (ModuleNode::TopOp& top : node.ops) {
      const HostEvent& op = side_.ops[top.op];
      const auto first = std::lower_bound(
          node.self_events.begin(), node.self_events.end(), op.begin_ns,
          [](const ModuleNode::SelfEvent& event, int64_t ns) { return event.launch_ns < ns; });
      for (auto event = first; event != node.self_events.end() && event->launch_ns <= op.end_ns;
           ++event) {
        top.events.push_back(event->event);
        top.ns = AddNs(top.ns, side_.events[event->event].dur_ns);
      }
    }
  }

  const Side& side_;
  const bool compat_;
  const CallTree calls_;
  ModuleTree tree_;
};

}  // namespace

std::vector<uint32_t> ModuleTree::ByBegin() const {
  std::vector<uint32_t> order;
  for (uint32_t i = 2; i < nodes.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return nodes[a].begin_ns < nodes[b].begin_ns; });
  return order;
}

ModuleTree BuildModuleTree(const Side& side, bool compat) {
  return ModuleTreeBuilder(side, compat).Build();
}

std::string ModuleClass(const std::string& path) {
  std::string last = path.substr(path.rfind('/') + 1);
  const size_t number = last.find_last_not_of("0123456789");
  if (number != std::string::npos && number + 1 < last.size() && last[number] == '_') {
    last.resize(number);
  }
  return last;
}

std::string ShownPath(const std::string& path) {
  std::string shown = path;
  for (size_t at = shown.find(kModulePrefix); at != std::string::npos;
       at = shown.find(kModulePrefix)) {
    shown.erase(at, kModulePrefix.size());
  }
  return shown;
}

}  // namespace steplens::analysis::compare
