#include "store/sound.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace steplens::store {
namespace {

constexpr std::string_view kNowhere = "leads nowhere";

// Whether all values of a column hold; rows that are only counted are asked once.
template <typename T, typename Holds>
bool AllHold(const Column<T>& column, const Holds& holds) {
  if (column.same_rows() > 0 && !holds(column[0])) return false;
  const std::span<const T> stored = column.stored();
  return std::all_of(stored.begin(), stored.end(), holds);
}

bool IsDuration(std::string_view table, std::string_view column) {
  return column == "dur_ns" && IsAlwaysKnown(table, column);
}

class SoundnessCheck {
 public:
  explicit SoundnessCheck(const TraceStore& store) : store_(store) {
    store.ForEachTable([&](const auto& table) {
      table.ForEachColumn([&](std::string_view name, std::string_view, const auto& column) {
        const std::string where = fmt::format("{}.{}", table.kName, name);
        const size_t rows = table.size();
        Add(where, "has another length than its table",
            [&column, rows] { return column.size() == rows; });
        AddValues(table.kName, name, where, column);
      });
    });
    Add("tracks.parent", "leads in a circle", [this] { return HasNoCircle(); });
    AddDynamic("kernel_metrics", store.kernel_metrics, store.kernels.size());
    for (const DynamicTable& sheet : store.sheets)
      AddDynamic(sheet.name, sheet.columns, sheet.size());
  }

  std::string Run(ThreadPool& pool) const {
    std::vector<char> holds(checks_.size());
    pool.ParallelFor(checks_.size(),
                     [&](size_t i) { holds[i] = static_cast<char>(checks_[i].holds()); });
    for (size_t i = 0; i < checks_.size(); ++i) {
      if (holds[i] == 0) return fmt::format("{} {}", checks_[i].where, checks_[i].fault);
    }
    return {};
  }

 private:
  struct Check {
    std::string where;
    std::string_view fault;
    std::function<bool()> holds;
  };

  void Add(std::string where, std::string_view fault, std::function<bool()> holds) {
    checks_.push_back({std::move(where), fault, std::move(holds)});
  }

  template <typename T>
  void AddValues(std::string_view table, std::string_view name, const std::string& where,
                 const Column<T>& column) {
    if constexpr (std::is_same_v<T, StringId>) {
      AddTexts(where, column);
    } else if constexpr (std::is_same_v<T, TrackId>) {
      const size_t tracks = store_.tracks.size();
      Add(where, kNowhere, [&column, tracks] {
        return AllHold(column, [tracks](TrackId id) {
          return id == kNoTrack || static_cast<size_t>(id) < tracks;
        });
      });
    } else if constexpr (std::is_same_v<T, SliceId>) {
      const size_t slices = store_.slices.size();
      Add(where, kNowhere, [&column, slices] {
        return AllHold(column, [slices](SliceId id) {
          return id == kNoSlice || static_cast<size_t>(id) < slices;
        });
      });
    } else if constexpr (std::is_same_v<T, uint32_t>) {
      if (name != "bandwidth_row") return;
      const size_t rows = store_.comm_bandwidths.size();
      Add(where, kNowhere,
          [&column, rows] { return AllHold(column, [rows](uint32_t row) { return row < rows; }); });
    } else if constexpr (std::is_same_v<T, int64_t>) {
      if (!IsAlwaysKnown(table, name)) return;
      const int64_t least = IsDuration(table, name) ? 0 : kNone + 1;
      Add(where, "is not known, or negative", [&column, least] {
        return AllHold(column, [least](int64_t value) { return value >= least; });
      });
    }
  }

  void AddTexts(const std::string& where, const Column<StringId>& column) {
    const size_t texts = store_.strings.size();
    Add(where, kNowhere, [&column, texts] {
      return AllHold(column, [texts](StringId id) { return static_cast<size_t>(id) < texts; });
    });
  }

  void AddDynamic(const std::string& table, const std::vector<DynamicColumn>& columns,
                  size_t rows) {
    for (const DynamicColumn& column : columns) {
      const std::string where = fmt::format("{}.{}", table, column.name);
      Add(where, "has another length than its table",
          [&column, rows] { return column.size() == rows; });
      AddTexts(where, column.texts);
    }
  }

  bool HasNoCircle() const {
    constexpr int kDeepest = 64;
    const Column<TrackId>& parents = store_.tracks.parent;
    for (size_t track = 0; track < parents.size(); ++track) {
      TrackId up = parents[track];
      for (int depth = 0; up != kNoTrack; ++depth) {
        if (depth == kDeepest || static_cast<size_t>(up) >= parents.size()) return false;
        up = parents[static_cast<size_t>(up)];
      }
    }
    return true;
  }

  const TraceStore& store_;
  std::vector<Check> checks_;
};

}  // namespace

std::string FindUnsound(const TraceStore& store, ThreadPool& pool) {
  return SoundnessCheck(store).Run(pool);
}

}  // namespace steplens::store
