#include "readers/ascend_db/flows.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace steplens::readers {
namespace {

using store::kNone;

// Link ids of the framework start here since CANN 8.1; before, they are raw and may equal those of
// launches.
constexpr int64_t kFrameworkLinks = int64_t{5} << 28;

// One row of CONNECTION_IDS with what it is attached to.
struct Link {
  int64_t connection;
  ApiRow api;
  bool is_queue() const { return api.host_op == kNoRow; }
};

Result<std::vector<Link>> ReadLinks(DbContext& db, const HostSlices& host) {
  std::vector<Link> links;
  links.reserve(db.file.EstimateRows("CONNECTION_IDS"));
  SL_RETURN_IF_ERROR(ReadTable(db, "CONNECTION_IDS", {"id", "connectionId"}, [&](Scan& row) {
    const int64_t id = row.Int(0);
    const int64_t connection = row.Int(1);
    const ApiRow api = id == kNone ? ApiRow{} : host.by_link.Find(id);
    if (api.slice == kNoRow || connection < 0) return false;
    links.push_back({connection, api});
    return true;
  }));
  if (links.empty()) CountLostTable(db, "CONNECTION_IDS", "PYTORCH_API", host.linked_rows);
  // Queue items first: their ids have nothing to do with the equal ids of operators.
  std::stable_sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::pair(!a.is_queue(), a.connection) < std::pair(!b.is_queue(), b.connection);
  });
  return links;
}

class FlowWriter {
 public:
  FlowWriter(DbContext& db, const std::vector<LaunchTarget>& targets)
      : db_(db), targets_(targets) {}

  // The rows of one link id that are items of the task queue: the i-th enqueue goes with the i-th
  // dequeue.
  void AddQueue(std::span<const Link> links) {
    std::vector<uint32_t> enqueues;
    std::vector<uint32_t> dequeues;
    for (const Link& link : links) {
      const int64_t id = link.connection;
      db_.out.slices.correlation.Set(link.api.slice,
                                     id >= kFrameworkLinks ? id - kFrameworkLinks : id);
      const bool is_dequeue = db_.out.slices.category[link.api.slice] == dequeue_;
      (is_dequeue ? dequeues : enqueues).push_back(link.api.slice);
    }
    for (size_t i = 0; i < std::min(enqueues.size(), dequeues.size()); ++i) {
      Append(async_task_queue_, enqueues[i], SliceTrack(dequeues[i]), SliceBegin(dequeues[i]));
    }
  }

  // The rows of one link id that are operators: a forward and a backward op, an op and what it
  // launched, or, with raw ids, by chance both.
  void AddOps(std::span<const Link> links) {
    if (links.size() > kMaxOpsPerLink) {
      db_.out.issues.Add(store::IssueKind::kDbRowInvalid,
                         fmt::format("{}: table 'CONNECTION_IDS': {} operators share connection {}",
                                     db_.file.name(), links.size(), links[0].connection));
      return;
    }
    const auto [forward, backward] = FindPair(links);
    if (forward != nullptr) {
      Append(fwdbwd_, forward->api.slice, SliceTrack(backward->api.slice),
             SliceBegin(backward->api.slice));
    }
    for (const Link& link : links) {
      if (&link != forward && &link != backward && link.connection < kFrameworkLinks)
        AddLaunch(link);
    }
  }

  // HostToDevice and MsTx, in the order of the targets' starts within a connection.
  void AddTargets(const HostSlices& host) {
    for (const LaunchTarget& target : targets_) {
      if (const uint32_t api = host.cann.Find(target.connection); api != kNoRow) {
        Append(host_to_device_, api, target.track, target.begin_ns);
      } else if (const uint32_t marker = host.markers.Find(target.connection); marker != kNoRow) {
        Append(mstx_, marker, target.track, target.begin_ns);
      }
    }
  }

 private:
  // A pair and a launch by chance under the same id are three; more than these are damage.
  static constexpr size_t kMaxOpsPerLink = 8;

  std::pair<const Link*, const Link*> FindPair(std::span<const Link> links) const {
    for (const Link& a : links) {
      for (const Link& b : links) {
        if (IsForwardOf(a, b)) return {&a, &b};
      }
    }
    // Captures without sequence numbers: two operators that share an id which launched nothing.
    if (links.size() != 2 || IsLaunch(links[0].connection)) return {nullptr, nullptr};
    const bool in_order = SliceBegin(links[0].api.slice) <= SliceBegin(links[1].api.slice);
    return {&links[in_order ? 0 : 1], &links[in_order ? 1 : 0]};
  }

  bool IsLaunch(int64_t connection) const {
    const auto target = FirstTarget(connection);
    return target != targets_.end() && target->connection == connection;
  }

  std::vector<LaunchTarget>::const_iterator FirstTarget(int64_t connection) const {
    return std::lower_bound(targets_.begin(), targets_.end(), connection,
                            [](const LaunchTarget& candidate, int64_t wanted) {
                              return candidate.connection < wanted;
                            });
  }

  bool IsForwardOf(const Link& a, const Link& b) const {
    const store::HostOpTable& ops = db_.out.host_ops;
    const size_t first = a.api.host_op;
    const size_t second = b.api.host_op;
    return ops.sequence_number[first] >= 0 &&
           ops.sequence_number[first] == ops.sequence_number[second] &&
           ops.fwd_thread[first] == 0 && ops.fwd_thread[second] != 0;
  }

  void AddLaunch(const Link& link) {
    for (auto target = FirstTarget(link.connection);
         target != targets_.end() && target->connection == link.connection; ++target) {
      Append(async_npu_, link.api.slice, target->track, target->begin_ns);
    }
  }

  store::TrackId SliceTrack(uint32_t slice) const { return db_.out.slices.track[slice]; }
  int64_t SliceBegin(uint32_t slice) const { return db_.out.slices.begin_ns[slice]; }
  void Append(StringId kind, uint32_t from_slice, store::TrackId to_track, int64_t to_ns) {
    db_.out.flows.Append({kind, SliceTrack(from_slice), SliceBegin(from_slice), to_track, to_ns});
  }

  DbContext& db_;
  const std::vector<LaunchTarget>& targets_;  // sorted by connection
  const StringId dequeue_ = db_.Intern("dequeue");
  const StringId async_task_queue_ = db_.Intern("async_task_queue");
  const StringId fwdbwd_ = db_.Intern("fwdbwd");
  const StringId async_npu_ = db_.Intern("async_npu");
  const StringId host_to_device_ = db_.Intern("HostToDevice");
  const StringId mstx_ = db_.Intern("MsTx");
};

}  // namespace

Status ReadFlows(DbContext& db, const HostSlices& host, std::vector<LaunchTarget> targets) {
  SL_ASSIGN_OR_RETURN(const std::vector<Link> links, ReadLinks(db, host));
  std::stable_sort(
      targets.begin(), targets.end(), [](const LaunchTarget& a, const LaunchTarget& b) {
        return std::pair(a.connection, a.begin_ns) < std::pair(b.connection, b.begin_ns);
      });
  FlowWriter writer(db, targets);
  for (size_t first = 0; first < links.size();) {
    size_t last = first;
    while (last < links.size() && links[last].connection == links[first].connection &&
           links[last].is_queue() == links[first].is_queue()) {
      ++last;
    }
    const std::span group(&links[first], last - first);
    links[first].is_queue() ? writer.AddQueue(group) : writer.AddOps(group);
    first = last;
  }
  writer.AddTargets(host);
  return {};
}

}  // namespace steplens::readers
