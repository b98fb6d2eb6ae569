#include "readers/prof/host_tasks.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "format/prof/host_records.h"
#include "readers/prof/enum_names.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;

// What is asked of a task's type, found once for each.
struct TaskTypeFacts {
  bool is_kernel = false;  // KERNEL_*, or a task of STARS
  bool is_ffts = false;
  bool is_copy = false;
  bool may_have_contexts = false;
  bool stands_alone = false;  // is an operator even without a node around it
  uint32_t op_task_type = 0;  // then
};

TaskTypeFacts DescribeType(std::string_view name) {
  TaskTypeFacts facts;
  facts.is_kernel = name.starts_with("KERNEL") || name == "STARS_COMMON";
  facts.is_ffts = name == "FFTS_PLUS";
  facts.is_copy = name == "MEMCPY_ASYNC";
  const std::pair<std::string_view, uint32_t> kAlone[] = {
      {"KERNEL_AICORE", kOpAiCore},      {"KERNEL_AICPU", kOpAiCpu},
      {"KERNEL_AIVEC", kOpAiVectorCore}, {"KERNEL_SIMT", kOpAiVectorCore},
      {"KERNEL_MIX_AIC", kOpMixAic},     {"KERNEL_MIX_AIV", kOpMixAiv}};
  for (const auto& [type, op_type] : kAlone) {
    if (name != type) continue;
    facts.stands_alone = true;
    facts.op_task_type = op_type;
  }
  facts.may_have_contexts = facts.is_ffts || (facts.stands_alone && name != "KERNEL_AICPU");
  return facts;
}

// Several records of one operator's tensors become one.
void JoinTensors(HostRecords& records) {
  std::vector<NodeTensors>& rows = records.tensors;
  size_t kept = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    size_t same = kept;
    while (same > 0 && rows[same - 1].thread == rows[i].thread &&
           rows[same - 1].time == rows[i].time && rows[same - 1].name != rows[i].name) {
      --same;
    }
    const bool is_found =
        same > 0 && rows[same - 1].thread == rows[i].thread && rows[same - 1].time == rows[i].time;
    if (is_found) {
      NodeTensors& row = rows[same - 1];
      row.tensors = records.tensor_sets.Join(row.tensors, rows[i].tensors);
    } else {
      rows[kept++] = rows[i];
    }
  }
  rows.resize(kept);
}

class HostTaskAssembler {
 public:
  HostTaskAssembler(const ApiTree& tree, HostRecords& records, Dictionary& names,
                    store::IssueLog& issues)
      : tree_(tree), records_(records), names_(names), issues_(issues) {}

  HostTasks Assemble() {
    AttachRecords();
    FindKernelCalls();
    for (const StreamCapture& capture : records_.captures)
      captures_[{capture.device, capture.stream}].push_back(&capture);
    for (auto& [stream, list] : captures_) {
      std::stable_sort(
          list.begin(), list.end(),
          [](const StreamCapture* a, const StreamCapture* b) { return a->time < b->time; });
    }
    for (const CapturedOp& op : records_.captured_ops)
      captured_ops_[{op.device, op.stream, op.task}] = &op;
    big_of_node_.assign(tree_.LevelNodes(raw::kLevelNode).size(), kNoRow);
    SortByThread(records_.tasks);
    const std::vector<uint32_t> places = PlaceTasks(tree_, records_.tasks);
    out_.tasks.reserve(records_.tasks.size());
    out_.ops.reserve(records_.nodes.size());
    for (size_t i = 0; i < records_.tasks.size(); ++i) AddTask(records_.tasks[i], places[i]);
    MeasureCopies();
    return std::move(out_);
  }

 private:
  void AttachRecords() {
    uint64_t lost = 0;
    const auto all = [](const auto&) { return true; };
    SortByThread(records_.nodes);
    nodes_ = Attach(tree_, raw::kLevelNode, records_.nodes, /*inner=*/true, lost, all);
    SortByThread(records_.tensors);
    JoinTensors(records_);
    tensors_ = Attach(tree_, raw::kLevelNode, records_.tensors, false, lost, all);
    SortByThread(records_.attributes);
    attributes_ = Attach(tree_, raw::kLevelNode, records_.attributes, false, lost, all);
    SortByThread(records_.node_contexts);
    node_contexts_ = Attach(tree_, raw::kLevelNode, records_.node_contexts, false, lost,
                            [](const NodeContexts& row) { return row.level == raw::kLevelNode; });
    comm_contexts_ =
        Attach(tree_, raw::kLevelCommunication, records_.node_contexts, false, lost,
               [](const NodeContexts& row) { return row.level == raw::kLevelCommunication; });
    SortByThread(records_.comm_ops);
    comm_ops_ = Attach(tree_, raw::kLevelNode, records_.comm_ops, false, lost, all);
    SortByThread(records_.comm_tasks);
    comm_tasks_ = Attach(tree_, raw::kLevelCommunication, records_.comm_tasks, false, lost, all);
    if (lost > 0) {
      issues_.Add(store::IssueKind::kCallWithoutReturn,
                  "a record of the host lies outside of the calls it could belong to", lost);
    }
  }

  // Divides the bytes of each copy among its tasks, which have its thread and time.
  void MeasureCopies() {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < out_.tasks.size(); ++row) {
      if (TypeFacts(out_.tasks[row].type).is_copy) rows.push_back(row);
    }
    const auto place = [&](uint32_t row) {
      const HostTask& task = out_.tasks[row];
      return std::tuple(task.thread, task.time, task.key, row);
    };
    std::sort(rows.begin(), rows.end(),
              [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
    std::vector<CopyInfo>& copies = records_.copies;
    std::stable_sort(copies.begin(), copies.end(), [](const CopyInfo& a, const CopyInfo& b) {
      return std::tie(a.thread, a.time) < std::tie(b.thread, b.time);
    });
    constexpr uint16_t kOther = 65535;
    constexpr uint16_t kLastKnown = 7;
    size_t next = 0;
    for (const uint32_t row : rows) {
      const HostTask& task = out_.tasks[row];
      const auto is_before = [&](const CopyInfo& copy) {
        return std::tie(copy.thread, copy.time) < std::tie(task.thread, task.time);
      };
      while (next < copies.size() && is_before(copies[next])) ++next;
      CopySize& size = out_.copies[row] = {0, kOther};
      if (next == copies.size() || copies[next].thread != task.thread ||
          copies[next].time != task.time)
        continue;
      CopyInfo& copy = copies[next];
      size.bytes = copy.max_size == 0 ? copy.size : std::min(copy.size, copy.max_size);
      size.direction = copy.direction > kLastKnown ? kOther : copy.direction;
      copy.size -= size.bytes;
    }
  }

  // The last call of a node inside each call of a node.
  void FindKernelCalls() {
    const std::vector<uint32_t>& nodes = tree_.LevelNodes(raw::kLevelNode);
    kernel_calls_.assign(nodes.size(), 0);
    for (const uint32_t node : nodes) {
      const uint32_t parent = tree_.nodes()[node].parent;
      const uint32_t outer = parent == kNoNode ? kNoNode : tree_.Ancestor(parent, raw::kLevelNode);
      if (outer != kNoNode) kernel_calls_[tree_.nodes()[outer].ordinal] = tree_.Connection(node);
    }
  }

  const TaskTypeFacts& TypeFacts(uint32_t type) {
    const auto [place, is_new] = types_.try_emplace(type);
    if (is_new) place->second = DescribeType(names_.TypeText(raw::kLevelRuntime, type));
    return place->second;
  }

  bool IsOperatorCall(uint32_t node) {
    const Api& api = tree_.ApiOf(node);
    return names_.TypeText(raw::kLevelNode, api.type) != "step_info" &&
           !names_.HashText(api.item).starts_with("Lccl");
  }

  uint32_t CapturedModel(const LaunchedTask& task) const {
    const auto found = captures_.find({task.device, task.stream});
    if (found == captures_.end()) return kNoModel;
    uint32_t model = kNoModel;
    for (const StreamCapture* capture : found->second) {
      if (capture->time > task.time) break;
      model = capture->is_end ? kNoModel : capture->model;
    }
    return model;
  }

  void AddTask(const LaunchedTask& task, uint32_t place) {
    const TaskTypeFacts& type = TypeFacts(task.type);
    const uint32_t comm = tree_.Ancestor(place, raw::kLevelCommunication);
    const uint32_t node = tree_.Ancestor(place, raw::kLevelNode);
    const uint32_t model = tree_.Ancestor(place, raw::kLevelModel);
    HostTask host;
    host.key = MakeTaskKey(task.stream, task.batch, task.task, kNoContext);
    host.time = task.time;
    host.kernel = task.kernel;
    host.thread = task.thread;
    host.type = task.type;
    host.device = task.device;
    host.model =
        model == kNoNode ? CapturedModel(task) : static_cast<uint32_t>(tree_.ApiOf(model).item);
    const bool is_comm = comm != kNoNode && node != kNoNode;
    const bool is_compute = node != kNoNode &&
                            (type.is_kernel || (type.is_ffts && comm == kNoNode)) &&
                            IsOperatorCall(node);
    if (is_compute || is_comm) {
      host.connection = tree_.Connection(node);
    } else if (place != kNoNode) {
      host.connection = tree_.Connection(place);
    }
    if (is_compute) AddCompute(task, type, host, node, comm);
    if (is_comm) AddCommunication(host, node, comm, !is_compute);
    if (!is_compute && !is_comm) AddOther(task, type, host);
  }

  void Add(const HostTask& host, uint32_t context, uint32_t op) {
    HostTask& row = out_.tasks.emplace_back(host);
    row.key = (host.key & ~TaskKey{0xFFFF}) | (context & 0xFFFF);
    row.op = op;
  }

  // One operator of a node: the records with its name.
  struct Named {
    uint64_t name;
    const NodeInfo* info = nullptr;
    uint32_t tensors = TensorSets::kEmpty;
    uint64_t attributes = 0;
    const NodeContexts* contexts = nullptr;
  };

  Named& Find(uint64_t name) {
    for (Named& op : named_) {
      if (op.name == name) return op;
    }
    return named_.emplace_back(Named{name});
  }

  void AddCompute(const LaunchedTask& task, const TaskTypeFacts& type, const HostTask& host,
                  uint32_t node, uint32_t comm) {
    const uint32_t ordinal = tree_.nodes()[node].ordinal;
    named_.clear();
    for (const uint32_t row : nodes_.Of(ordinal))
      Find(records_.nodes[row].name).info = &records_.nodes[row];
    for (const uint32_t row : tensors_.Of(ordinal))
      Find(records_.tensors[row].name).tensors = records_.tensors[row].tensors;
    for (const uint32_t row : attributes_.Of(ordinal))
      Find(records_.attributes[row].name).attributes = records_.attributes[row].text;
    bool has_contexts = false;
    if (type.may_have_contexts) {
      for (const uint32_t row : node_contexts_.Of(ordinal)) {
        Find(records_.node_contexts[row].name).contexts = &records_.node_contexts[row];
        has_contexts = true;
      }
    }
    // A graph of sub-tasks has an entry of its own, which does not run.
    std::erase_if(named_, [](const Named& op) {
      return op.info != nullptr && op.info->task_type == kOpFftsPlus;
    });
    if (has_contexts) Add(host, kNoContext, kNoRow);
    if (named_.empty()) named_.push_back({tree_.ApiOf(node).item});
    for (const Named& named : named_) {
      const uint32_t op = AddOp(task, type, named, comm);
      if (named.contexts == nullptr || named.contexts->count == 0) {
        Add(host, kNoContext, op);
      } else {
        for (uint16_t i = 0; i < named.contexts->count; ++i)
          Add(host, records_.contexts[named.contexts->first + i], op);
      }
    }
  }

  uint32_t AddOp(const LaunchedTask& task, const TaskTypeFacts& type, const Named& named,
                 uint32_t comm) {
    ComputeOp op;
    op.name = comm == kNoNode ? named.name : tree_.ApiOf(comm).item;
    if (named.info != nullptr) {
      const NodeInfo& info = *named.info;
      op.has_type = true;
      op.has_task_type = true;
      op.type = info.type;
      op.task_type = info.task_type;
      op.is_static = info.is_static;
      op.is_hf32 = info.is_hf32;
      op.blocks = info.blocks;
      op.mix_blocks = static_cast<uint16_t>(info.blocks * info.mix_ratio);
      const bool is_aicpu = type.stands_alone && type.op_task_type == kOpAiCpu;
      const bool is_aicore = type.stands_alone && type.op_task_type == kOpAiCore;
      if (comm != kNoNode) {
        if (is_aicpu) op.task_type = kOpHcclAiCpu;
        if (is_aicore) op.task_type = kOpCommunication;
      } else if (is_aicpu && op.task_type == kOpCommunication) {
        op.task_type = kOpAiCpu;
      }
    }
    op.tensors = named.tensors;
    op.attributes = named.attributes;
    TakeBlocks(task, op);
    out_.ops.push_back(op);
    return static_cast<uint32_t>(out_.ops.size() - 1);
  }

  static void TakeBlocks(const LaunchedTask& task, ComputeOp& op) {
    if (!task.has_blocks) return;
    op.blocks = task.blocks;
    op.mix_blocks = static_cast<uint16_t>(task.blocks * task.mix_ratio);
  }

  void AddCommunication(const HostTask& host, uint32_t node, uint32_t comm, bool adds_task) {
    const uint32_t ordinal = tree_.nodes()[comm].ordinal;
    SmallOp small;
    small.key = host.key;
    small.time = host.time;
    small.thread = host.thread;
    small.device = host.device;
    small.is_master = names_.TypeText(raw::kLevelCommunication, tree_.ApiOf(comm).type) == "master";
    small.big = BigOpOf(node, host);
    const std::span<const uint32_t> infos = comm_tasks_.Of(ordinal);
    const std::span<const uint32_t> contexts = comm_contexts_.Of(ordinal);
    if (adds_task) Add(host, kNoContext, kNoRow);
    if (contexts.empty()) {
      for (const uint32_t info : infos) {
        small.info = info;
        out_.small_ops.push_back(small);
      }
      if (infos.empty()) out_.small_ops.push_back(small);
      return;
    }
    for (const uint32_t row : contexts)
      AddSubTasks(host, records_.node_contexts[row], infos, small);
  }

  // A range of sub-tasks, each with the record that names it.
  void AddSubTasks(const HostTask& host, const NodeContexts& contexts,
                   std::span<const uint32_t> infos, SmallOp small) {
    if (contexts.count == 0) return;
    const uint32_t first = records_.contexts[contexts.first];
    const uint32_t last = contexts.count == 2 ? records_.contexts[contexts.first + 1] : first;
    for (uint32_t context = first; context <= last && context < kNoContext; ++context) {
      Add(host, context, kNoRow);
      small.key = (host.key & ~TaskKey{0xFFFF}) | context;
      const auto info = std::find_if(infos.begin(), infos.end(), [&](uint32_t candidate) {
        return records_.comm_tasks[candidate].context == context;
      });
      small.info = info == infos.end() ? kNoRow : *info;
      out_.small_ops.push_back(small);
    }
  }

  uint32_t BigOpOf(uint32_t node, const HostTask& host) {
    const uint32_t ordinal = tree_.nodes()[node].ordinal;
    uint32_t& row = big_of_node_[ordinal];
    if (row != kNoRow) return row;
    row = static_cast<uint32_t>(out_.big_ops.size());
    const Api& api = tree_.ApiOf(node);
    BigOp& op = out_.big_ops.emplace_back();
    op.begin = api.begin;
    op.end = api.end;
    op.name = api.item;
    op.thread = api.thread;
    op.model = host.model;
    op.connection = tree_.Connection(node);
    op.kernel_connection = kernel_calls_[ordinal];
    if (const auto infos = nodes_.Of(ordinal); !infos.empty()) {
      op.has_type = true;
      op.type = records_.nodes[infos.front()].type;
    }
    if (const auto infos = comm_ops_.Of(ordinal); !infos.empty()) op.info = infos.front();
    return row;
  }

  // A task that no node launched.
  void AddOther(const LaunchedTask& task, const TaskTypeFacts& type, const HostTask& host) {
    const bool is_mix =
        type.stands_alone && (type.op_task_type == kOpMixAic || type.op_task_type == kOpMixAiv);
    const uint32_t context = is_mix ? 0 : kNoContext;
    if (!type.stands_alone) return Add(host, context, kNoRow);
    const auto captured = captured_ops_.find({task.device, task.stream, task.task});
    ComputeOp op;
    op.has_task_type = true;
    op.task_type = type.op_task_type;
    if (captured != captured_ops_.end()) {
      const CapturedOp& info = *captured->second;
      op.name = info.name;
      op.type = info.type;
      op.has_type = true;
      op.task_type = info.task_type;
      op.is_hf32 = info.is_hf32;
      op.tensors = info.tensors;
      op.attributes = info.attributes;
      op.blocks = info.blocks;
      op.mix_blocks = static_cast<uint16_t>(info.blocks * info.mix_ratio);
    } else if (task.kernel != 0) {
      op.name = task.kernel;
    } else {
      return Add(host, context, kNoRow);
    }
    TakeBlocks(task, op);
    out_.ops.push_back(op);
    Add(host, context, static_cast<uint32_t>(out_.ops.size() - 1));
  }

  const ApiTree& tree_;
  HostRecords& records_;
  Dictionary& names_;
  store::IssueLog& issues_;
  HostTasks out_;
  Attached nodes_;
  Attached tensors_;
  Attached attributes_;
  Attached node_contexts_;
  Attached comm_contexts_;
  Attached comm_ops_;
  Attached comm_tasks_;
  std::vector<uint32_t> kernel_calls_;  // ordinal of a node -> connection of the last one inside
  std::vector<uint32_t> big_of_node_;
  std::map<uint32_t, TaskTypeFacts> types_;
  std::map<std::pair<uint16_t, uint32_t>, std::vector<const StreamCapture*>> captures_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, const CapturedOp*> captured_ops_;
  std::vector<Named> named_;
};

}  // namespace

HostTasks AssembleHostTasks(const ApiTree& tree, HostRecords& records, Dictionary& names,
                            store::IssueLog& issues) {
  return HostTaskAssembler(tree, records, names, issues).Assemble();
}

}  // namespace steplens::readers::prof
