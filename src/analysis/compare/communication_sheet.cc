#include "analysis/compare/communication_sheet.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/time_math.h"

namespace steplens::analysis::compare {
namespace {

using store::kNone;

// What the reference calls a collective: the part of the name before or behind the first '_'.
std::string NamePart(std::string_view name) {
  const std::string lower = LowerCase(name);
  const size_t first = lower.find('_');
  if (first == std::string::npos) return {};
  if (lower.substr(0, first) != "hcom") return lower.substr(0, first);
  return lower.substr(first + 1, lower.find('_', first + 1) - first - 1);
}

// allreduce, allgather, ... whichever library it is.
std::string CanonicalName(std::string_view name) {
  std::string lower = LowerCase(name);
  std::erase(lower, '_');
  // One that holds another comes before it.
  constexpr std::array<std::string_view, 13> kNames{
      "allreduce", "reducescatter", "allgather", "alltoall", "broadcast", "sendrecv", "gather",
      "scatter",   "barrier",       "reduce",    "receive",  "recv",      "send"};
  for (const std::string_view known : kNames) {
    if (lower.find(known) == std::string::npos) continue;
    return known == "receive" ? "recv" : std::string(known);
  }
  const std::string part = NamePart(name);
  return part.empty() ? lower : part;
}

struct Op {
  std::string name;
  int64_t begin_ns;
  int64_t end_ns;
  StringId group;
  store::TrackId track;
};

// Rows of a db that do not say the type of a collective: the reference leaves them out.
bool KnowsType(const Side& side, size_t op) {
  const store::KernelTable& kernels = side.store.kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels.name[i] == side.store.comm_ops.name[op] &&
        kernels.begin_ns[i] == side.store.comm_ops.begin_ns[op]) {
      return kernels.type[i] != StringId::kEmpty;
    }
  }
  return true;
}

std::vector<Op> CollectOps(const Side& side, bool compat) {
  std::vector<Op> ops;
  const store::CommOpTable& rows = side.store.comm_ops;
  // Text: the step's range on the host filters collectives even where nothing else is filtered.
  const auto is_in_step = [&](int64_t begin_ns) {
    if (!compat || !side.step) return side.IsDeviceTime(begin_ns);
    return begin_ns >= side.step->host_begin_ns && begin_ns <= side.step->host_end_ns;
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!is_in_step(rows.begin_ns[i])) continue;
    const std::string_view name = side.store.Text(rows.name[i]);
    std::string kind;
    if (compat && side.is_db) {
      kind = KnowsType(side, i) ? NamePart(side.store.Text(rows.op_type[i])) : std::string();
    } else if (compat) {
      const bool is_nccl = LowerCase(name).starts_with("nccl");
      kind = side.is_gpu && !is_nccl ? std::string() : NamePart(name);
    } else {
      kind = CanonicalName(name);
    }
    if (kind.empty()) continue;
    ops.push_back({kind, rows.begin_ns[i], EndNs(rows.begin_ns[i], rows.dur_ns[i]),
                   rows.group_name[i], rows.track[i]});
  }
  std::stable_sort(ops.begin(), ops.end(),
                   [](const Op& a, const Op& b) { return a.begin_ns < b.begin_ns; });
  if (compat && side.is_db) {
    // A db lists its collectives group by group.
    std::map<StringId, size_t> place;
    for (const Op& op : ops) place.try_emplace(op.group, place.size());
    std::stable_sort(ops.begin(), ops.end(), [&](const Op& a, const Op& b) {
      return place.at(a.group) < place.at(b.group);
    });
  }
  return ops;
}

class CollectiveCollector {
 public:
  CollectiveCollector(const Side& side, bool compat)
      : side_(side), compat_(compat), ops_(CollectOps(side, compat)) {}

  std::vector<CollectiveTotals> Collect() {
    for (const Op& op : ops_) TotalsOf(op.name).ops.Add(op.end_ns - op.begin_ns);
    if (compat_ && !side_.is_db) {
      AddTasksByTime();
    } else {
      AddTasksByGroup();
    }
    return std::move(totals_);
  }

 private:
  CollectiveTotals& TotalsOf(const std::string& name) {
    const auto [place, is_new] = index_.try_emplace(name, totals_.size());
    if (is_new) totals_.push_back({name, {}, {}});
    return totals_[place->second];
  }
  void AddTask(const std::string& op, uint32_t task) {
    CollectiveTotals& totals = TotalsOf(op);
    const std::string name(side_.store.Text(side_.store.comm_tasks.name[task]));
    auto found = std::find_if(totals.tasks.begin(), totals.tasks.end(),
                              [&](const auto& one) { return one.name == name; });
    if (found == totals.tasks.end()) found = totals.tasks.insert(totals.tasks.end(), {name, {}});
    found->totals.Add(side_.store.comm_tasks.dur_ns[task]);
  }
  std::vector<uint32_t> TasksByBegin() const {
    const store::CommTaskTable& tasks = side_.store.comm_tasks;
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < tasks.size(); ++i) {
      const bool is_in_step = compat_ && side_.step
                                  ? tasks.begin_ns[i] >= side_.step->host_begin_ns &&
                                        tasks.begin_ns[i] <= side_.step->host_end_ns
                                  : side_.IsDeviceTime(tasks.begin_ns[i]);
      if (is_in_step) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return tasks.begin_ns[a] < tasks.begin_ns[b]; });
    return order;
  }

  // The reference's rule: a task belongs to the first collective during which it starts, whatever
  // its group.
  void AddTasksByTime() {
    const std::vector<uint32_t> tasks = TasksByBegin();
    const auto& begin_ns = side_.store.comm_tasks.begin_ns;
    size_t next = 0;
    for (const Op& op : ops_) {
      while (next < tasks.size() && begin_ns[tasks[next]] < op.begin_ns) ++next;
      for (; next < tasks.size() && begin_ns[tasks[next]] <= op.end_ns; ++next) {
        AddTask(op.name, tasks[next]);
      }
    }
  }

  void AddTasksByGroup() {
    std::map<StringId, std::vector<const Op*>> ops_of;  // by group
    for (const Op& op : ops_) ops_of[op.group].push_back(&op);
    // In the order of the collectives, then of their tasks.
    std::map<const Op*, std::vector<uint32_t>> tasks_of;
    for (const uint32_t task : TasksByBegin()) {
      const auto group = ops_of.find(side_.store.comm_tasks.group_name[task]);
      if (group == ops_of.end()) continue;
      const int64_t begin_ns = side_.store.comm_tasks.begin_ns[task];
      const auto after =
          std::upper_bound(group->second.begin(), group->second.end(), begin_ns,
                           [](int64_t ns, const Op* op) { return ns < op->begin_ns; });
      if (after == group->second.begin() || begin_ns > (*(after - 1))->end_ns) continue;
      tasks_of[*(after - 1)].push_back(task);
    }
    for (const Op& op : ops_) {
      const auto tasks = tasks_of.find(&op);
      if (tasks == tasks_of.end()) continue;
      // A db lists the tasks of a plane one after the other.
      if (compat_) std::sort(tasks->second.begin(), tasks->second.end());
      for (const uint32_t task : tasks->second) AddTask(op.name, task);
    }
  }

  const Side& side_;
  const bool compat_;
  std::vector<Op> ops_;
  std::map<std::string, size_t> index_;
  std::vector<CollectiveTotals> totals_;
};

void WriteTotals(SheetWriter& out, std::string_view name, std::string_view task,
                 const CommTotals* totals) {
  if (totals == nullptr) {
    out.Text("").Text("").Empty().Double(0).Empty(3);
    return;
  }
  out.Text(name).Text(task).Int(totals->count).Double(Us(totals->total_ns));
  out.Double(Us(totals->total_ns) / static_cast<double>(totals->count));
  out.Double(Us(totals->max_ns)).Double(Us(totals->min_ns));
}

using TaskPair = std::pair<const CollectiveTotals::Task*, const CollectiveTotals::Task*>;

// The reference puts the first task beside the first, whatever they are.
std::vector<TaskPair> PairTasks(const CollectiveTotals* base, const CollectiveTotals* comparison,
                                bool compat) {
  std::vector<TaskPair> pairs;
  const size_t base_count = base == nullptr ? 0 : base->tasks.size();
  const size_t comparison_count = comparison == nullptr ? 0 : comparison->tasks.size();
  if (compat) {
    for (size_t i = 0; i < std::max(base_count, comparison_count); ++i) {
      pairs.emplace_back(i < base_count ? &base->tasks[i] : nullptr,
                         i < comparison_count ? &comparison->tasks[i] : nullptr);
    }
    return pairs;
  }
  for (size_t i = 0; i < base_count; ++i) pairs.emplace_back(&base->tasks[i], nullptr);
  for (size_t i = 0; i < comparison_count; ++i) {
    const CollectiveTotals::Task& task = comparison->tasks[i];
    const auto partner = std::find_if(pairs.begin(), pairs.end(), [&](const TaskPair& pair) {
      return pair.first != nullptr && pair.first->name == task.name;
    });
    if (partner != pairs.end()) {
      partner->second = &task;
    } else {
      pairs.emplace_back(nullptr, &task);
    }
  }
  return pairs;
}

}  // namespace

void CommTotals::Add(int64_t ns) {
  min_ns = count == 0 ? ns : std::min(min_ns, ns);
  max_ns = std::max(max_ns, ns);
  total_ns += ns;
  ++count;
}

std::vector<CollectiveTotals> CollectCollectives(const Side& side, bool compat) {
  return CollectiveCollector(side, compat).Collect();
}

ResultSheet CommunicationSheet(const std::vector<CollectiveTotals>& base,
                               const std::vector<CollectiveTotals>& comparison, bool compat) {
  ResultSheet sheet("CommunicationCompare");
  sheet.base = {1, 7};
  sheet.comparison = {8, 14};
  SheetWriter out(sheet);
  out.AddColumns({"iOrder Id", "tCommunication OP Name", "tTask Name", "iCalls",
                  "dTotal Duration(us)", "dAvg Duration(us)", "dMax Duration(us)",
                  "dMin Duration(us)", "tCommunication OP Name", "tTask Name", "iCalls",
                  "dTotal Duration(us)", "dAvg Duration(us)", "dMax Duration(us)",
                  "dMin Duration(us)", "dDiff Duration(us)", "dDiff Ratio"});
  const auto find = [](const std::vector<CollectiveTotals>& list, const std::string& name) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
    return found == list.end() ? nullptr : &*found;
  };
  const auto write = [&](const CollectiveTotals* a, const CollectiveTotals* b) {
    const double base_us = a == nullptr ? 0 : Us(a->ops.total_ns);
    const double comparison_us = b == nullptr ? 0 : Us(b->ops.total_ns);
    out.Order();
    WriteTotals(out, a == nullptr ? "" : a->name, "", a == nullptr ? nullptr : &a->ops);
    WriteTotals(out, b == nullptr ? "" : b->name, "", b == nullptr ? nullptr : &b->ops);
    out.Double(Diff(base_us, comparison_us)).Double(Ratio(base_us, comparison_us));
    for (const auto& [task_a, task_b] : PairTasks(a, b, compat)) {
      out.Order();
      WriteTotals(out, "|", task_a == nullptr ? "" : task_a->name,
                  task_a == nullptr ? nullptr : &task_a->totals);
      WriteTotals(out, "|", task_b == nullptr ? "" : task_b->name,
                  task_b == nullptr ? nullptr : &task_b->totals);
      out.Empty(2);
    }
  };
  for (const CollectiveTotals& one : base) write(&one, find(comparison, one.name));
  for (const CollectiveTotals& one : comparison) {
    if (find(base, one.name) == nullptr) write(nullptr, &one);
  }
  return sheet;
}

}  // namespace steplens::analysis::compare
