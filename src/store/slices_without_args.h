#pragma once

#include <cstddef>

#include "store/trace_store.h"

namespace steplens::store {

// For stores that are written to result files and forgotten: no trace text has their slices' args,
// so args_offset and args_size stay empty columns.

inline void ReserveWithoutArgs(SliceTable& slices, size_t rows) {
  slices.track.Reserve(rows);
  slices.begin_ns.Reserve(rows);
  slices.dur_ns.Reserve(rows);
  slices.name.Reserve(rows);
  slices.category.Reserve(rows);
  slices.correlation.Reserve(rows);
}

inline void AppendWithoutArgs(SliceTable& slices, const SliceTable::Row& row) {
  slices.track.Append(row.track);
  slices.begin_ns.Append(row.begin_ns);
  slices.dur_ns.Append(row.dur_ns);
  slices.name.Append(row.name);
  slices.category.Append(row.category);
  slices.correlation.Append(row.correlation);
}

}  // namespace steplens::store
