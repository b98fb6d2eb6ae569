#include "store/merge.h"

#include <vector>

namespace steplens::store {
namespace {

// What the ids of the appended part become.
struct Shift {
  std::vector<StringId> strings;  // old id -> new id
  uint32_t tracks = 0;
  uint32_t slices = 0;

  int64_t operator()(int64_t value) const { return value; }
  double operator()(double value) const { return value; }
  uint32_t operator()(uint32_t value) const { return value; }
  StringId operator()(StringId id) const { return strings[static_cast<size_t>(id)]; }
  TrackId operator()(TrackId id) const {
    return id == kNoTrack ? id : TrackId{static_cast<uint32_t>(id) + tracks};
  }
  SliceId operator()(SliceId id) const {
    return id == kNoSlice ? id : SliceId{static_cast<uint32_t>(id) + slices};
  }
};

template <typename T>
void AppendColumn(Column<T>& into, const Column<T>& part, const Shift& shift) {
  into.Reserve(into.size() + part.size());
  for (const T value : part) into.Append(shift(value));
}

// Rows of a dynamic column that the other side does not have.
void PadTo(DynamicColumn& column, size_t rows) {
  while (column.size() < rows) {
    if (column.is_text()) {
      column.texts.Append(StringId::kEmpty);
    } else {
      column.numbers.Append(NotKnown<double>());
    }
  }
}

void AppendMetrics(TraceStore& into, const TraceStore& part, size_t rows_before, const Shift& shift) {
  for (const DynamicColumn& source : part.kernel_metrics) {
    DynamicColumn* target = nullptr;
    for (DynamicColumn& candidate : into.kernel_metrics) {
      if (candidate.name == source.name) target = &candidate;
    }
    if (target == nullptr) {
      target = &into.kernel_metrics.emplace_back();
      target->name = source.name;
    }
    PadTo(*target, rows_before);
    AppendColumn(target->numbers, source.numbers, shift);
    AppendColumn(target->texts, source.texts, shift);
  }
  for (DynamicColumn& column : into.kernel_metrics) PadTo(column, into.kernels.size());
}

}  // namespace

void AppendStore(TraceStore& into, const TraceStore& part) {
  Shift shift;
  shift.tracks = static_cast<uint32_t>(into.tracks.size());
  shift.slices = static_cast<uint32_t>(into.slices.size());
  shift.strings.reserve(part.strings.size());
  for (uint32_t id = 0; id < part.strings.size(); ++id) {
    shift.strings.push_back(into.strings.Intern(part.strings.Get(StringId{id})));
  }
  const size_t kernels_before = into.kernels.size();
  const auto bandwidths_before = static_cast<uint32_t>(into.comm_bandwidths.size());
  const size_t packets_before = into.comm_packets.size();

#define SL_APPEND_COLUMN_(type, field, doc) AppendColumn(target.field, source.field, shift);
#define SL_APPEND_TABLE_(Table, member, COLUMNS) \
  {                                              \
    Table& target = into.member;                 \
    const Table& source = part.member;           \
    COLUMNS(SL_APPEND_COLUMN_)                   \
  }
  SL_TABLES(SL_APPEND_TABLE_)
#undef SL_APPEND_TABLE_
#undef SL_APPEND_COLUMN_

  for (size_t row = packets_before; row < into.comm_packets.size(); ++row) {
    into.comm_packets.bandwidth_row.Set(row, into.comm_packets.bandwidth_row[row] + bandwidths_before);
  }
  AppendMetrics(into, part, kernels_before, shift);
  for (const DynamicTable& sheet : part.sheets) {
    DynamicTable& copy = into.sheets.emplace_back();
    copy.name = sheet.name;
    for (const DynamicColumn& column : sheet.columns) {
      DynamicColumn& target = copy.columns.emplace_back();
      target.name = column.name;
      AppendColumn(target.numbers, column.numbers, shift);
      AppendColumn(target.texts, column.texts, shift);
    }
  }
  into.issues.Merge(part.issues);
}

}  // namespace steplens::store
