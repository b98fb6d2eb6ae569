#include "server/store_view.h"

#include <type_traits>
#include <vector>

namespace steplens::server {
namespace {

// Both have the same columns in the same order.
template <typename Table>
void AttachTable(const Table& from, Table& to) {
  std::vector<const void*> columns;
  from.ForEachColumn(
      [&](std::string_view, std::string_view, const auto& column) { columns.push_back(&column); });
  size_t at = 0;
  to.ForEachColumn([&](std::string_view, std::string_view, auto& column) {
    using Column = std::remove_reference_t<decltype(column)>;
    column.Attach(static_cast<const Column*>(columns[at++])->span());
  });
}

std::vector<store::DynamicColumn> ViewsOf(const std::vector<store::DynamicColumn>& columns) {
  std::vector<store::DynamicColumn> out;
  for (const store::DynamicColumn& column : columns) {
    store::DynamicColumn& view = out.emplace_back();
    view.name = column.name;
    view.numbers.Attach(column.numbers.span());
    view.texts.Attach(column.texts.span());
  }
  return out;
}

}  // namespace

store::TraceStore ViewOf(const store::TraceStore& store) {
  store::TraceStore out;
  out.info = store.info;
  out.issues = store.issues;
  // A pool that is well formed, as every pool is, can be attached to.
  [[maybe_unused]] const bool attached =
      out.strings.Attach(store.strings.offsets(), store.strings.bytes());
#define SL_ATTACH_(Table, member, COLUMNS) AttachTable(store.member, out.member);
  SL_TABLES(SL_ATTACH_)
#undef SL_ATTACH_
  out.kernel_metrics = ViewsOf(store.kernel_metrics);
  for (const store::DynamicTable& sheet : store.sheets)
    out.sheets.push_back({sheet.name, ViewsOf(sheet.columns)});
  return out;
}

}  // namespace steplens::server
