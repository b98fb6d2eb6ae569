#include "readers/ascend_text/communication.h"

#include <fmt/format.h>

#include <functional>
#include <unordered_set>
#include <utility>

#include "base/json.h"
#include "base/number.h"

namespace steplens::readers {
namespace {

using store::IssueKind;

// Which operation of the file is being read.
struct Operation {
  StringId step = StringId::kEmpty;
  StringId kind = StringId::kEmpty;
  StringId name = StringId::kEmpty;
  StringId group = StringId::kEmpty;
};

// Walks the operations of one file and names them in issues.
class CommunicationFile {
 public:
  CommunicationFile(const TextInput& input, store::TraceStore& out)
      : file_name_(input.base_name()), out_(out) {}

  using Visit = std::function<void(const Operation&, JsonValue)>;
  void ForEachOperation(JsonValue root, const Visit& visit) {
    Keys steps;
    root.ForEachMember([&](std::string_view key, JsonValue value) {
      CountRepeated(key, steps);
      const bool is_step = value["p2p"].exists() || value["collective"].exists();
      if (!is_step) return VisitOperation({}, key, value, visit);
      value.ForEachMember([&](std::string_view kind, JsonValue operations) {
        const Operation common{out_.strings.Intern(key), out_.strings.Intern(kind)};
        if (!operations.IsObject()) return AddIssue(fmt::format("{}.{}", key, kind), operations);
        Keys names;
        operations.ForEachMember([&](std::string_view operation, JsonValue info) {
          CountRepeated(operation, names);
          VisitOperation(common, operation, info, visit);
        });
      });
    });
  }

  // Not known if absent; counted if it is there and not a number.
  double Number(JsonValue object, std::string_view key) {
    const JsonValue value = object[key];
    const auto number = value.AsDouble();
    if (!number && value.exists()) AddIssue(key, value);
    return number.value_or(store::NotKnown<double>());
  }

  void AddIssue(std::string_view where, JsonValue found) {
    constexpr size_t kMaxQuoted = 60;
    if (!out_.issues.IsFirst(IssueKind::kJsonFieldInvalid)) {
      return out_.issues.Add(IssueKind::kJsonFieldInvalid, {});
    }
    out_.issues.Add(IssueKind::kJsonFieldInvalid,
                    fmt::format("{}: operation '{}', field '{}': '{}'", file_name_, operation_key_,
                                where, found.ToText().substr(0, kMaxQuoted)));
  }

 private:
  using Keys = std::unordered_set<std::string_view>;

  void CountRepeated(std::string_view key, Keys& keys) {
    if (keys.insert(key).second) return;
    out_.issues.Add(IssueKind::kJsonKeyRepeated,
                    fmt::format("{}: the key '{}' is there twice", file_name_, key));
  }

  void VisitOperation(Operation operation, std::string_view key, JsonValue info,
                      const Visit& visit) {
    operation_key_ = key;
    if (!info.IsObject()) return AddIssue("", info);
    const size_t at = std::min(key.rfind('@'), key.size());
    // The exporter of CANN has another name for the sum of all.
    const std::string_view name = key.substr(0, at);
    operation.name = out_.strings.Intern(
        name == "Total HCCL Operators" ? std::string_view("Total Op Info") : name);
    operation.group = out_.strings.Intern(key.substr(std::min(at + 1, key.size())));
    visit(operation, info);
  }

  std::string_view file_name_;
  store::TraceStore& out_;
  std::string_view operation_key_;
};

bool HasMembers(JsonValue object) {
  bool has_member = false;
  object.ForEachMember([&](std::string_view, JsonValue) { has_member = true; });
  return has_member;
}

void AppendTimes(CommunicationFile& file, const Operation& operation, JsonValue info,
                 store::TraceStore& out) {
  if (!HasMembers(info)) return file.AddIssue("Communication Time Info", info);
  out.comm_times.Append({
      .step = operation.step,
      .kind = operation.kind,
      .op_name = operation.name,
      .group_name = operation.group,
      .start_us = file.Number(info, "Start Timestamp(us)"),
      .elapse_ms = file.Number(info, "Elapse Time(ms)"),
      .transit_ms = file.Number(info, "Transit Time(ms)"),
      .wait_ms = file.Number(info, "Wait Time(ms)"),
      .synchronization_ms = file.Number(info, "Synchronization Time(ms)"),
      .idle_ms = file.Number(info, "Idle Time(ms)"),
      .wait_ratio = file.Number(info, "Wait Time Ratio"),
      .synchronization_ratio = file.Number(info, "Synchronization Time Ratio"),
  });
}

// {"2.064384": [12, 1.57]}: packet size in MB, number of packets, their time in ms.
void AppendPackets(CommunicationFile& file, JsonValue distribution, store::TraceStore& out) {
  const auto bandwidth_row = static_cast<uint32_t>(out.comm_bandwidths.size() - 1);
  distribution.ForEachMember([&](std::string_view size, JsonValue counts) {
    double values[2] = {store::NotKnown<double>(), store::NotKnown<double>()};
    size_t found = 0;
    counts.ForEachElement([&](JsonValue value) {
      if (found < 2) values[found] = value.AsDouble().value_or(values[found]);
      ++found;
    });
    const auto package_size_mb = ParseDouble(size);
    if (!package_size_mb || found != 2) return file.AddIssue(size, counts);
    out.comm_packets.Append({.bandwidth_row = bandwidth_row,
                             .package_size_mb = *package_size_mb,
                             .count = values[0],
                             .total_ms = values[1]});
  });
}

void AppendBandwidths(CommunicationFile& file, const Operation& operation, JsonValue transports,
                      store::TraceStore& out) {
  transports.ForEachMember([&](std::string_view transport, JsonValue info) {
    if (!info.IsObject()) return file.AddIssue(transport, info);
    out.comm_bandwidths.Append({
        .step = operation.step,
        .kind = operation.kind,
        .op_name = operation.name,
        .group_name = operation.group,
        .transport = out.strings.Intern(transport),
        .transit_size_mb = file.Number(info, "Transit Size(MB)"),
        .transit_ms = file.Number(info, "Transit Time(ms)"),
        .bandwidth_gbps = file.Number(info, "Bandwidth(GB/s)"),
        .large_packet_ratio = file.Number(info, "Large Packet Ratio"),
    });
    AppendPackets(file, info["Size Distribution"], out);
  });
}

// "0-7" -> {0, 7}
std::optional<std::pair<int64_t, int64_t>> ParseLink(std::string_view link) {
  const size_t dash = link.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto src = ParseInt64(link.substr(0, dash));
  const auto dst = ParseInt64(link.substr(dash + 1));
  if (!src || !dst) return std::nullopt;
  return std::pair(*src, *dst);
}

void AppendLink(CommunicationFile& file, const Operation& operation, std::string_view link,
                JsonValue info, store::TraceStore& out) {
  const auto ranks = ParseLink(link);
  if (!ranks || !info.IsObject()) return file.AddIssue(link, info);
  const JsonValue picked =
      info["Op Name"].exists() ? info["Op Name"] : info["op_name"];  // MindSpore's
  out.comm_links.Append({
      .step = operation.step,
      .kind = operation.kind,
      .op_name = operation.name,
      .group_name = operation.group,
      .src_rank = ranks->first,
      .dst_rank = ranks->second,
      .transport = out.strings.Intern(info["Transport Type"].AsString().value_or("")),
      .transit_size_mb = file.Number(info, "Transit Size(MB)"),
      .transit_ms = file.Number(info, "Transit Time(ms)"),
      .bandwidth_gbps = file.Number(info, "Bandwidth(GB/s)"),
      .picked_op = out.strings.Intern(picked.AsString().value_or("")),
  });
}

Status CheckRoot(JsonValue root, const TextInput& input) {
  if (!root.IsObject()) {
    return Error{
        ErrorCode::kCorruptData,
        fmt::format("{}: a JSON object with one member per step was expected", input.path)};
  }
  if (HasMembers(root)) return {};
  return Error{ErrorCode::kCorruptData,
               fmt::format("{}: the file has neither steps nor operations; a file without them is "
                           "never written, so they were lost",
                           input.path)};
}

}  // namespace

Status ReadCommunication(const TextInput& input, store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(const JsonDocument document, input.ParseJson(kMaxWholeFile));
  SL_RETURN_IF_ERROR(CheckRoot(document.root(), input));
  CommunicationFile file(input, out);
  file.ForEachOperation(document.root(), [&](const Operation& operation, JsonValue info) {
    AppendTimes(file, operation, info["Communication Time Info"], out);
    AppendBandwidths(file, operation, info["Communication Bandwidth Info"], out);
  });
  return {};
}

Status ReadCommunicationMatrix(const TextInput& input, store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(const JsonDocument document, input.ParseJson(kMaxWholeFile));
  SL_RETURN_IF_ERROR(CheckRoot(document.root(), input));
  CommunicationFile file(input, out);
  file.ForEachOperation(document.root(), [&](const Operation& operation, JsonValue links) {
    links.ForEachMember([&](std::string_view link, JsonValue info) {
      AppendLink(file, operation, link, info, out);
    });
  });
  return {};
}

}  // namespace steplens::readers
