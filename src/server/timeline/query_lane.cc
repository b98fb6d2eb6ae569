#include "server/timeline/query_lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "server/bad_request.h"
#include "server/timeline/lane_tree.h"

namespace steplens::server {
namespace {

using table::CellType;

constexpr size_t kMaxLanesOfAQuery = 64;

// The first column that has one of the names; null if none has.
const table::Column* FindAny(const table::Table& result,
                             std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const table::Column* column = result.Find(name)) return column;
  }
  return nullptr;
}

// The cell of a column of whole numbers; kNull if it is empty or there is no column.
int64_t IntAt(const table::Column* column, size_t row) {
  return column == nullptr || column->ints.empty() ? table::kNull : column->ints[row];
}

struct ResultColumns {
  const table::Column* begin = nullptr;
  const table::Column* dur = nullptr;
  const table::Column* name = nullptr;
  const table::Column* lane = nullptr;
  const table::Column* rank = nullptr;
};

Result<ResultColumns> ColumnsOf(const table::Table& result) {
  ResultColumns out;
  out.begin = FindAny(result, {"ts", "begin_ns", "start_ns", "begin", "start", "alloc_ns"});
  out.dur = FindAny(result, {"dur", "dur_ns", "duration_ns"});
  out.name = FindAny(result, {"name"});
  out.lane = FindAny(result, {"lane"});
  out.rank = FindAny(result, {"rank"});
  if (out.begin == nullptr)
    return Bad("the result has no column ts, begin_ns or start_ns with the start in ns");
  for (const table::Column* column : {out.begin, out.dur, out.rank}) {
    if (column != nullptr && column->type != CellType::kInt)
      return Bad(fmt::format("the column {} must hold whole numbers", column->name));
  }
  return out;
}

// Gathers the slices of one lane.
class Gatherer {
 public:
  Gatherer(int64_t rank, std::string_view title) : out_(std::make_unique<QueryLane>()) {
    out_->rank = rank;
    out_->lane.kind = LaneKind::kSlices;
    out_->lane.flags = kDerivedLane | kQueryLane;
    out_->lane.name = title;
    out_->lane.path = Slug(title);
  }

  void Add(int64_t begin_ns, int64_t dur_ns, uint32_t name) {
    const auto [known, is_new] = places_.emplace(name, static_cast<uint32_t>(out_->name_id.size()));
    if (is_new) out_->name_id.push_back(name);
    out_->begin_ns.push_back(begin_ns);
    out_->dur_ns.push_back(std::max<int64_t>(0, dur_ns));
    out_->name.push_back(StringId{known->second});
  }

  std::unique_ptr<QueryLane> Take() {
    std::vector<uint32_t> slices(out_->begin_ns.size());
    for (size_t i = 0; i < slices.size(); ++i) slices[i] = static_cast<uint32_t>(i);
    out_->lane.count = slices.size();
    out_->lane.rows =
        LaneRows({out_->begin_ns, out_->dur_ns, out_->name, out_->name_id}, std::move(slices));
    out_->lane.cover = LaneCover(out_->lane.rows);
    return std::move(out_);
  }

 private:
  std::unique_ptr<QueryLane> out_;
  std::map<uint32_t, uint32_t> places_;  // by number of the name
};

}  // namespace

Result<std::vector<std::unique_ptr<QueryLane>>> LanesOfResult(const table::Table& result,
                                                              std::string_view title,
                                                              const NamePool& names) {
  SL_ASSIGN_OR_RETURN(const ResultColumns columns, ColumnsOf(result));
  std::vector<Gatherer> lanes;
  std::map<std::pair<int64_t, std::string>, size_t> index;
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t row = 0; row < result.rows(); ++row) {
    const int64_t begin_ns = IntAt(columns.begin, row);
    if (begin_ns == table::kNull) continue;
    const int64_t rank = IntAt(columns.rank, row);
    std::string lane = columns.lane != nullptr ? CellText(*columns.lane, row) : "";
    if (lane.empty()) lane = title;
    const auto [at, is_new] = index.try_emplace({rank, lane}, lanes.size());
    if (is_new) {
      if (lanes.size() == kMaxLanesOfAQuery)
        return Bad(fmt::format("the result makes more than {} lanes", kMaxLanesOfAQuery));
      order.emplace_back(rank, lanes.size());
      lanes.emplace_back(rank == table::kNull ? store::kNone : rank, lane);
    }
    std::string name = columns.name != nullptr ? CellText(*columns.name, row) : "";
    const int64_t dur_ns = IntAt(columns.dur, row);
    lanes[at->second].Add(begin_ns, dur_ns == table::kNull ? 0 : dur_ns,
                          names.InternLate(name.empty() ? title : std::string_view(name)));
  }
  if (lanes.empty()) return Bad("the result has no row with a start");
  std::sort(order.begin(), order.end());
  std::vector<std::unique_ptr<QueryLane>> out;
  for (const auto& [rank, place] : order) out.push_back(lanes[place].Take());
  return out;
}

}  // namespace steplens::server
