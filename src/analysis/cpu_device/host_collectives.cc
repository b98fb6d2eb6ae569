#include "analysis/cpu_device/host_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/classify/text_memo.h"
#include "base/hash.h"
#include "base/number.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::TraceStore;

// "gloo:all_reduce", "_allgather_base" -> "allreduce", "allgatherbase"
std::string PlainKind(std::string_view text) {
  std::string out;
  for (const char c : text.substr(text.find_last_of(':') + 1)) {
    if (c >= 'A' && c <= 'Z') out += static_cast<char>(c + ('a' - 'A'));
    if (c >= 'a' && c <= 'z') out += c;
  }
  return out;
}

// As HCCL spells it; the longer beginnings first.
std::string_view HcclName(std::string_view plain) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"allreduce", "allReduce"}, {"allgather", "allGather"}, {"alltoallv", "alltoallv"},
      {"alltoall", "alltoall"},   {"broadcast", "broadcast"}, {"reducescatter", "reduceScatter"},
      {"reduce", "reduce"},       {"scatter", "scatter"},     {"gather", "gather"},
      {"send", "send"},           {"recv", "receive"},        {"receive", "receive"},
      {"barrier", "barrier"},
  };
  for (const auto& [prefix, name] : kNames) {
    if (plain.starts_with(prefix)) return name;
  }
  return plain;
}

std::string DataType(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"float", "FP32"},          {"double", "FP64"},      {"half", "FP16"},
      {"c10::Half", "FP16"},      {"Half", "FP16"},        {"c10::BFloat16", "BFP16"},
      {"BFloat16", "BFP16"},      {"bfloat16", "BFP16"},   {"int", "INT32"},
      {"long int", "INT64"},      {"long", "INT64"},       {"short", "INT16"},
      {"short int", "INT16"},     {"signed char", "INT8"}, {"char", "INT8"},
      {"unsigned char", "UINT8"}, {"bool", "UINT8"},       {"float32", "FP32"},
      {"float64", "FP64"},        {"float16", "FP16"},     {"int32", "INT32"},
      {"int64", "INT64"},         {"int16", "INT16"},      {"int8", "INT8"},
      {"uint8", "UINT8"},
  };
  for (const auto& [from, to] : kTypes) {
    if (text == from) return std::string(to);
  }
  std::string upper(text);  // "fp32", as mstx spells it
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - ('a' - 'A'));
  }
  return upper;
}

// Three digits that every rank of the group agrees on: the last of its number, or of a hash.
std::string GroupDigits(const std::string& group) {
  const bool is_number = group.size() >= 3 && std::all_of(group.end() - 3, group.end(), [](char c) {
                           return c >= '0' && c <= '9';
                         });
  if (is_number) return group.substr(group.size() - 3);
  return fmt::format("{:03}", Hash64(group) % 1000);
}

void NameByOrder(std::vector<HostCollective>& collectives) {
  std::map<std::string, uint32_t> next;
  for (HostCollective& one : collectives) {
    one.name = fmt::format("hcom_{}__{}_{}_1", one.op, GroupDigits(one.group), next[one.group]++);
  }
}

// "0,1,2"; nothing if one of them is not a number.
std::vector<int64_t> ParseRanks(std::string_view text) {
  std::vector<int64_t> ranks;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const auto rank = ParseInt64(text.substr(0, end));
    if (!rank) return {};
    ranks.push_back(*rank);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return ranks;
}

std::vector<HostCollective> FromSheet(const TraceStore& store, const store::DynamicTable& sheet) {
  constexpr size_t kColumns = 8;  // Slice, Group, Size(B), Count, Data Type, Ranks, Kind, Peer
  std::vector<HostCollective> out;
  if (sheet.columns.size() != kColumns || sheet.columns[0].is_text()) return out;
  const auto text = [&](size_t column, size_t row) {
    const store::DynamicColumn& cells = sheet.columns[column];
    return row < cells.texts.size() ? store.Text(cells.texts[row]) : std::string_view();
  };
  for (size_t row = 0; row < sheet.size(); ++row) {
    HostCollective one;
    one.slice = static_cast<uint32_t>(sheet.columns[0].numbers[row]);
    if (one.slice >= store.slices.size()) continue;
    one.group = text(1, row).empty() ? "gloo" : std::string(text(1, row));
    one.size_bytes = ParseInt64(text(2, row)).value_or(kNone);
    one.count = ParseInt64(text(3, row)).value_or(kNone);
    one.data_type = DataType(text(4, row));
    one.ranks = ParseRanks(text(5, row));
    one.peer = ParseInt64(text(7, row)).value_or(kNone);
    const std::string_view kind = text(6, row);
    one.op = HcclName(PlainKind(kind.empty() ? store.Text(store.slices.name[one.slice]) : kind));
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<HostCollective> FromNames(const TraceStore& store) {
  std::vector<HostCollective> out;
  TextMemo is_work(store, IsDistributedWork);
  for (uint32_t i = 0; i < store.slices.size(); ++i) {
    if (!is_work(store.slices.name[i])) continue;
    HostCollective one;
    one.slice = i;
    one.group = "gloo";
    one.op = HcclName(PlainKind(store.Text(store.slices.name[i])));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::vector<HostLink> LinksOf(const HostCollective& collective, int64_t rank) {
  const auto self = std::find(collective.ranks.begin(), collective.ranks.end(), rank);
  const auto count = static_cast<int64_t>(collective.ranks.size());
  const int64_t size_bytes = collective.size_bytes;
  if (self == collective.ranks.end() || size_bytes <= 0 || count < 2) return {};
  const int64_t place = self - collective.ranks.begin();
  const std::string_view op = collective.op;
  if (op == "send" || op == "receive") {
    if (collective.peer < 0) return {};
    return {op == "send" ? HostLink{place, collective.peer, size_bytes}
                         : HostLink{collective.peer, place, size_bytes}};
  }
  const auto to_next = [&](int64_t bytes) {
    return std::vector<HostLink>{{place, (place + 1) % count, bytes}};
  };
  if (op == "allReduce") return to_next(2 * (size_bytes - size_bytes / count));
  if (op == "reduceScatter") return to_next(size_bytes - size_bytes / count);
  if (op == "allGather") return to_next(size_bytes * (count - 1));
  if (op != "alltoall" && op != "alltoallv") return {};
  std::vector<HostLink> links;
  for (int64_t other = 0; other < count; ++other) {
    if (other != place && size_bytes / count > 0)
      links.push_back({place, other, size_bytes / count});
  }
  return links;
}

bool IsDistributedWork(std::string_view name) {
  return name.starts_with("gloo:") || name.starts_with("mpi:");
}

bool IsDistributedOp(std::string_view name) {
  return IsDistributedWork(name) || name.starts_with("c10d::") || name == "record_param_comms";
}

std::vector<HostCollective> TakeHostCollectives(TraceStore& store) {
  std::vector<HostCollective> out;
  const auto sheet = std::find_if(
      store.sheets.begin(), store.sheets.end(),
      [](const store::DynamicTable& one) { return one.name == "framework_collectives"; });
  if (sheet != store.sheets.end()) {
    out = FromSheet(store, *sheet);
    store.sheets.erase(sheet);
  }
  if (out.empty()) out = FromNames(store);
  std::stable_sort(out.begin(), out.end(), [&](const HostCollective& a, const HostCollective& b) {
    return store.slices.begin_ns[a.slice] < store.slices.begin_ns[b.slice];
  });
  NameByOrder(out);
  return out;
}

}  // namespace steplens::analysis
