#include "readers/framework/queue_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace steplens::readers {
namespace {

using store::kNone;
using store::TrackId;

struct Mark {
  int64_t ts_ns;
  int64_t correlation;
  TrackId track;
  StringId name;
  bool is_dequeue;
  bool is_end;
};

struct Item {
  int64_t begin_ns;
  int64_t end_ns;
  int64_t correlation;
  TrackId track;
  StringId name;
};

struct Items {
  std::vector<Item> enqueue;
  std::vector<Item> dequeue;
};

Items PairMarks(const std::vector<Mark>& marks, store::IssueLog& issues) {
  Items items;
  std::map<std::tuple<TrackId, StringId, bool>, int64_t> open;  // the latest start
  for (const Mark& mark : marks) {
    const std::tuple key(mark.track, mark.name, mark.is_dequeue);
    if (!mark.is_end) {
      open[key] = mark.ts_ns;
      continue;
    }
    const auto start = open.find(key);
    if (start == open.end()) {
      issues.Add(store::IssueKind::kCallWithoutReturn,
                 fmt::format("torch.op_mark: an end at {} ns has no start", mark.ts_ns));
      continue;
    }
    (mark.is_dequeue ? items.dequeue : items.enqueue)
        .push_back({start->second, mark.ts_ns, mark.correlation, mark.track, mark.name});
    open.erase(start);
  }
  return items;
}

// "Dequeue@aten::add" from "aten::add", each made once.
class PrefixedNames {
 public:
  PrefixedNames(FrameworkContext& ctx, std::string_view prefix) : ctx_(ctx), prefix_(prefix) {}
  StringId operator()(StringId name) {
    const auto [place, is_new] = names_.try_emplace(name, StringId::kEmpty);
    if (is_new) {
      place->second = ctx_.out.strings.Intern(fmt::format("{}@{}", prefix_, ctx_.out.Text(name)));
    }
    return place->second;
  }

 private:
  FrameworkContext& ctx_;
  std::string_view prefix_;
  std::unordered_map<StringId, StringId> names_;
};

void ShowLast(const std::vector<Item>& dequeues, store::TraceStore& out) {
  int64_t last = 0;
  for (const int64_t index : out.tracks.sort_index) last = std::max(last, index);
  std::set<TrackId> threads;
  for (const Item& item : dequeues) threads.insert(item.track);
  for (const TrackId track : threads) {
    out.tracks.sort_index.Set(static_cast<size_t>(track), last + 1);
  }
}

void AppendItems(const Items& items, FrameworkContext& ctx) {
  PrefixedNames dequeue_name(ctx, "Dequeue");
  PrefixedNames enqueue_name(ctx, "Enqueue");
  std::unordered_map<int64_t, const Item*> dequeue_of;
  const auto append = [&](const Item& item, StringId name, StringId category) {
    store::SliceTable::Row row;
    row.track = item.track;
    row.name = name;
    row.category = category;
    row.correlation = item.correlation;
    ctx.AppendSlice(row, item.begin_ns, item.end_ns);
  };
  const StringId dequeue = ctx.out.strings.Intern("dequeue");
  for (const Item& item : items.dequeue) {
    append(item, dequeue_name(item.name), dequeue);
    dequeue_of.try_emplace(item.correlation, &item);
  }
  const StringId enqueue = ctx.out.strings.Intern("enqueue");
  const StringId unknown = ctx.out.strings.Intern("Enqueue");
  const StringId flow = ctx.out.strings.Intern("async_task_queue");
  for (const Item& item : items.enqueue) {
    const auto taken = dequeue_of.find(item.correlation);
    const bool is_known = taken != dequeue_of.end();
    append(item, is_known ? enqueue_name(taken->second->name) : unknown, enqueue);
    if (!is_known) continue;
    ctx.out.flows.Append(
        {flow, item.track, item.begin_ns, taken->second->track, taken->second->begin_ns});
  }
  ShowLast(items.dequeue, ctx.out);
}

}  // namespace

Status ReadQueueItems(RecordReader& reader, FrameworkContext& ctx) {
  std::vector<Mark> marks;
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) break;
    format::OpMark mark;
    std::string_view name;
    const bool is_whole =
        Decode(reader.value(), &mark) && ForEachField(reader.value(), format::OpMark::kFixedBytes,
                                                      [&](uint16_t tag, std::string_view text) {
                                                        if (tag == format::kOpMarkName) name = text;
                                                      });
    if (!is_whole || mark.category > 3) {
      reader.Reject("an op mark is too short, or its category or its fields are damaged");
      continue;
    }
    marks.push_back({ctx.Ns(mark.time), static_cast<int64_t>(mark.correlation_id),
                     ctx.PythonThread(mark.process_id, mark.thread_id), ctx.Text(name),
                     mark.category >= 2, mark.category % 2 == 1});
  }
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark& a, const Mark& b) { return a.ts_ns < b.ts_ns; });
  AppendItems(PairMarks(marks, ctx.out.issues), ctx);
  return {};
}

}  // namespace steplens::readers
