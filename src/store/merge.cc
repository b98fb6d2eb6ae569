#include "store/merge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/number.h"

namespace steplens::store {
namespace {

// What the values of the appended part become.
struct Shift : NewIds {
  using NewIds::operator();
  int64_t operator()(int64_t value) const { return value; }
  double operator()(double value) const { return value; }
  uint32_t operator()(uint32_t value) const { return value; }
};

template <typename T>
void AppendColumn(Column<T>& into, const Column<T>& part, const Shift& shift) {
  if (part.is_unknown()) return into.AppendUnknown(part.size());
  into.Reserve(into.size() + part.size());
  for (size_t i = 0; i < part.size(); ++i) into.Append(shift(part[i]));
}

// Row numbers of another table, from row `first` on: its rows have moved by as many.
void ShiftRows(Column<int64_t>& rows, size_t first, int64_t by) {
  for (size_t i = first; by != 0 && i < rows.size(); ++i) {
    if (rows[i] != kNone) rows.Set(i, rows[i] + by);
  }
}

// Rows of a dynamic column that the other side does not have.
void PadTo(DynamicColumn& column, size_t rows) {
  if (column.size() >= rows) return;
  const size_t missing = rows - column.size();
  column.is_text() ? column.texts.AppendUnknown(missing) : column.numbers.AppendUnknown(missing);
}

// Numbers as the texts they were, for a column that is text on the other side.
Column<StringId> AsTexts(const Column<double>& numbers, StringPool& strings) {
  Column<StringId> out;
  for (const double value : numbers) {
    out.Append(std::isnan(value) ? StringId::kEmpty : strings.Intern(FormatDouble(value)));
  }
  return out;
}

// Appends named columns to those of the same name; a column that only one side has is padded.
void AppendColumns(std::vector<DynamicColumn>& into, size_t rows_before,
                   const std::vector<DynamicColumn>& part, size_t part_rows, const Shift& shift,
                   StringPool& strings) {
  for (const DynamicColumn& source : part) {
    auto target = std::find_if(into.begin(), into.end(),
                               [&](const DynamicColumn& c) { return c.name == source.name; });
    if (target == into.end()) {
      target = into.insert(into.end(), DynamicColumn{});
      target->name = source.name;
    }
    PadTo(*target, rows_before);
    if (source.is_text() && !target->is_text()) {
      target->texts = AsTexts(target->numbers, strings);
      target->numbers = {};
    }
    if (!source.is_text() && target->is_text()) {
      target->texts.Append(AsTexts(source.numbers, strings).span());
      continue;
    }
    AppendColumn(target->numbers, source.numbers, shift);
    AppendColumn(target->texts, source.texts, shift);
  }
  for (DynamicColumn& column : into) PadTo(column, rows_before + part_rows);
}

// Files repeat each other's facts; each is kept once.
void DropRepeatedMeta(TraceStore& store) {
  MetaTable kept;
  std::set<std::pair<StringId, StringId>> seen;
  for (size_t i = 0; i < store.meta.size(); ++i) {
    if (seen.insert({store.meta.name[i], store.meta.value[i]}).second)
      kept.Append(store.meta.Get(i));
  }
  if (kept.size() < store.meta.size()) store.meta = std::move(kept);
}

// What makes two tracks the same one; the name tells counters of a process apart.
using TrackKey = std::tuple<TrackId, StringId, StringId, StringId, StringId>;
TrackKey KeyOf(const TrackTable::Row& track) {
  return {track.parent, track.kind, track.pid, track.tid, track.name};
}

// Appends the tracks that `into` does not have; an exporter cuts a long timeline into several
// files, and each has the tracks of what is in it. Processes come before what runs in them.
void AppendTracks(TrackTable& into, const TrackTable& part, Shift& shift) {
  std::map<TrackKey, TrackId> known;
  for (size_t i = 0; i < into.size(); ++i) {
    if (into.pid[i] != StringId::kEmpty)
      known.try_emplace(KeyOf(into.Get(i)), TrackId{static_cast<uint32_t>(i)});
  }
  shift.tracks.assign(part.size(), kNoTrack);
  for (const bool with_parent : {false, true}) {
    for (size_t i = 0; i < part.size(); ++i) {
      if ((part.parent[i] != kNoTrack) != with_parent) continue;
      TrackTable::Row track = part.Get(i);
      track.parent = shift(track.parent);
      track.kind = shift(track.kind);
      track.pid = shift(track.pid);
      track.tid = shift(track.tid);
      track.name = shift(track.name);
      track.label = shift(track.label);
      const auto found = known.find(KeyOf(track));
      shift.tracks[i] =
          found != known.end() ? found->second : TrackId{static_cast<uint32_t>(into.size())};
      if (found == known.end()) into.Append(track);
    }
  }
}

void AppendSheet(TraceStore& into, const DynamicTable& sheet, const Shift& shift) {
  const auto found = std::find_if(into.sheets.begin(), into.sheets.end(),
                                  [&](const DynamicTable& s) { return s.name == sheet.name; });
  DynamicTable& target = found == into.sheets.end() ? into.sheets.emplace_back() : *found;
  target.name = sheet.name;
  AppendColumns(target.columns, target.size(), sheet.columns, sheet.size(), shift, into.strings);
}

}  // namespace

NewIds AppendStore(TraceStore& into, const TraceStore& part) {
  Shift shift;
  shift.slices_before = static_cast<uint32_t>(into.slices.size());
  shift.strings.reserve(part.strings.size());
  for (uint32_t id = 0; id < part.strings.size(); ++id) {
    shift.strings.push_back(into.strings.Intern(part.strings.Get(StringId{id})));
  }
  AppendTracks(into.tracks, part.tracks, shift);
  const size_t kernels_before = into.kernels.size();
  const auto bandwidths_before = static_cast<uint32_t>(into.comm_bandwidths.size());
  const size_t packets_before = into.comm_packets.size();
  const size_t comm_tasks_before = into.comm_tasks.size();
  const auto comm_ops_before = static_cast<int64_t>(into.comm_ops.size());
  const auto device_tasks_before = static_cast<int64_t>(into.device_tasks.size());

#define SL_APPEND_COLUMN_(type, field, doc) AppendColumn(target.field, source.field, shift);
#define SL_APPEND_TABLE_(Table, member, COLUMNS)      \
  if constexpr (!std::is_same_v<Table, TrackTable>) { \
    Table& target = into.member;                      \
    const Table& source = part.member;                \
    COLUMNS(SL_APPEND_COLUMN_)                        \
  }
  SL_TABLES(SL_APPEND_TABLE_)
#undef SL_APPEND_TABLE_
#undef SL_APPEND_COLUMN_

  for (size_t row = packets_before; row < into.comm_packets.size(); ++row) {
    into.comm_packets.bandwidth_row.Set(row,
                                        into.comm_packets.bandwidth_row[row] + bandwidths_before);
  }
  ShiftRows(into.kernels.device_task, kernels_before, device_tasks_before);
  ShiftRows(into.comm_tasks.device_task, comm_tasks_before, device_tasks_before);
  ShiftRows(into.comm_tasks.comm_op, comm_tasks_before, comm_ops_before);
  AppendColumns(into.kernel_metrics, kernels_before, part.kernel_metrics, part.kernels.size(),
                shift, into.strings);
  for (const DynamicTable& sheet : part.sheets) AppendSheet(into, sheet, shift);
  DropRepeatedMeta(into);
  into.issues.Merge(part.issues);
  return shift;
}

}  // namespace steplens::store
