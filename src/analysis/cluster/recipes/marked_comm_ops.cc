#include "analysis/cluster/recipes/marked_comm_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/classify/classify.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/step_window.h"
#include "analysis/time_math.h"
#include "base/json.h"
#include "base/number.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using store::TraceStore;
using table::CellType;

// What the message of a mark says.
struct Mark {
  std::string op;
  std::string group;
  std::string data_type;
  int64_t count = kNone;
  std::string stream;  // empty if it does not say
};

std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '"') continue;
    out += text[i];
  }
  return out;
}

std::optional<Mark> ParseObject(std::string_view message) {
  const Result<JsonDocument> document = JsonDocument::Parse(Unescaped(message), "mark");
  if (!document.ok()) return std::nullopt;
  const JsonValue root = document->root();
  for (const char* key : {"streamId", "count", "dataType", "groupName", "opName"}) {
    if (!root[key].exists()) return std::nullopt;
  }
  return Mark{root["opName"].ToText(), root["groupName"].ToText(), root["dataType"].ToText(),
              root["count"].AsInt().value_or(kNone), root["streamId"].ToText()};
}

// "comm:hcclAllReduce,<group id>,fp32,1024"
std::optional<Mark> ParseList(std::string_view message) {
  constexpr size_t kNameAt = 9;
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= message.size();) {
    const size_t end = std::min(message.find(',', begin), message.size());
    words.emplace_back(message.substr(begin, end - begin));
    begin = end + 1;
  }
  if (words.size() != 4 || words[0].size() <= kNameAt) return std::nullopt;
  const auto count = ParseInt64(words[3]);
  if (!count) return std::nullopt;
  return Mark{"hcom_" + words[0].substr(kNameAt), words[1], words[2], *count, ""};
}

std::optional<Mark> ParseMark(std::string_view message) {
  return message.starts_with('{') ? ParseObject(message) : ParseList(message);
}

// The tasks of the device, by connection and by stream, each in order of start.
class Tasks {
 public:
  explicit Tasks(const TraceStore& rank) : slices_(rank.slices) {
    const std::vector<TrackKind> tracks = ClassifyTracks(rank);
    for (size_t i = 0; i < slices_.size(); ++i) {
      const auto track = static_cast<size_t>(slices_.track[i]);
      if (track >= tracks.size() || tracks[track] != TrackKind::kDevice) continue;
      if (slices_.correlation[i] != kNone) by_connection_[slices_.correlation[i]].push_back(i);
      by_stream_[std::string(rank.Text(rank.tracks.tid[track]))].push_back(i);
    }
    const auto earlier = [&](size_t a, size_t b) {
      return slices_.begin_ns[a] < slices_.begin_ns[b];
    };
    for (auto& [connection, rows] : by_connection_)
      std::stable_sort(rows.begin(), rows.end(), earlier);
    for (auto& [stream, rows] : by_stream_) std::stable_sort(rows.begin(), rows.end(), earlier);
  }

  std::vector<size_t> Of(int64_t connection, const std::string& stream, int64_t mark_ns) const {
    if (const auto place = by_connection_.find(connection); place != by_connection_.end())
      return place->second;
    const auto place = by_stream_.find(stream);
    if (place == by_stream_.end()) return {};
    const auto first =
        std::lower_bound(place->second.begin(), place->second.end(), mark_ns,
                         [&](size_t row, int64_t ts_ns) { return slices_.begin_ns[row] < ts_ns; });
    if (first == place->second.end()) return {};
    return {*first};
  }

  std::vector<size_t> AllOf(int64_t connection, const std::string& stream) const {
    std::vector<size_t> rows;
    if (const auto place = by_connection_.find(connection); place != by_connection_.end())
      rows = place->second;
    if (const auto place = by_stream_.find(stream); place != by_stream_.end())
      rows.insert(rows.end(), place->second.begin(), place->second.end());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

 private:
  const store::SliceTable& slices_;
  std::map<int64_t, std::vector<size_t>> by_connection_;
  std::map<std::string, std::vector<size_t>> by_stream_;
};

// Names carry a running number per group and operator.
void NameOps(std::vector<MarkedCommOp>& ops) {
  std::stable_sort(ops.begin(), ops.end(), [](const MarkedCommOp& a, const MarkedCommOp& b) {
    return a.begin_ns < b.begin_ns;
  });
  std::map<std::pair<std::string, std::string>, int64_t> numbers;
  for (MarkedCommOp& op : ops) {
    const std::string group_name = GroupName(op.group);
    op.name =
        fmt::format("{}_{}_{}_1", op.type, GroupSuffix(group_name), numbers[{op.group, op.type}]++);
  }
}

}  // namespace

std::vector<MarkedCommOp> FindMarkedCommOps(const TraceStore& rank, const Options& options) {
  std::vector<MarkedCommOp> ops;
  if (rank.comm_ops.size() > 0) return ops;
  const Tasks tasks(rank);
  const StepWindow window = FindStepWindow(rank, options);
  for (size_t i = 0; i < rank.markers.size(); ++i) {
    const auto slice = static_cast<size_t>(rank.markers.slice[i]);
    if (slice >= rank.slices.size()) continue;
    const int64_t mark_ns = rank.slices.begin_ns[slice];
    const std::optional<Mark> mark = ParseMark(rank.Text(rank.slices.name[slice]));
    if (!mark || !window.Contains(mark_ns)) continue;
    const int64_t connection = rank.markers.correlation[i];
    for (const size_t task : options.compat ? tasks.AllOf(connection, mark->stream)
                                            : tasks.Of(connection, mark->stream, mark_ns)) {
      const int64_t begin_ns = rank.slices.begin_ns[task];
      ops.push_back({"", mark->op + "_", mark->group, mark->data_type, mark->count, begin_ns,
                     EndNs(begin_ns, rank.slices.dur_ns[task]), connection});
    }
  }
  NameOps(ops);
  return ops;
}

RankEdit CommOpEdit(int64_t rank, const std::vector<MarkedCommOp>& ops) {
  RankEdit edit{rank, RankEdit::Kind::kTable, table::Table("COMMUNICATION_OP")};
  table::Table& table = edit.table;
  const std::pair<const char*, CellType> columns[] = {
      {"opId", CellType::kInt},    {"opName", CellType::kText},      {"startNs", CellType::kInt},
      {"endNs", CellType::kInt},   {"connectionId", CellType::kInt}, {"groupName", CellType::kText},
      {"relay", CellType::kInt},   {"retry", CellType::kInt},        {"dataType", CellType::kText},
      {"algType", CellType::kInt}, {"count", CellType::kInt},        {"opType", CellType::kText}};
  for (const auto& [name, type] : columns) table.AddColumn(name, type);
  for (size_t i = 0; i < ops.size(); ++i) {
    const MarkedCommOp& op = ops[i];
    table.AppendInt(0, static_cast<int64_t>(i));
    table.AppendText(1, op.name);
    table.AppendInt(2, op.begin_ns);
    table.AppendInt(3, op.end_ns);
    table.AppendInt(4, op.correlation);
    table.AppendText(5, op.group);
    table.AppendInt(6, table::kNull);
    table.AppendInt(7, table::kNull);
    table.AppendText(8, op.data_type);
    table.AppendInt(9, table::kNull);
    table.AppendInt(10, op.count);
    table.AppendText(11, op.type);
  }
  return edit;
}

}  // namespace steplens::analysis::cluster
