#include "export/text/communication_files.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <unordered_map>

#include "base/json_writer.h"
#include "export/text/append.h"
#include "export/text/file_out.h"

namespace steplens::exporting {
namespace {

using analysis::CommunicationClass;
using analysis::CommunicationStep;
using analysis::LinkFacts;
using analysis::MatrixEntry;
using analysis::OperationFacts;
using analysis::TransportFacts;

void AppendField(JsonWriter& json, std::string_view key, double value) {
  if (std::isnan(value)) return;
  std::string text;
  AppendJsonNumber(text, value);
  json.Key(key).Raw(text);
}

std::string GroupKey(const std::string& name, const std::string& group) {
  return group.empty() ? name : name + "@" + group;
}

void AppendTransport(JsonWriter& json, const TransportFacts& transport) {
  json.Key(transport.transport).BeginObject();
  const bool is_total = std::isnan(transport.bandwidth_gbps);  // which has the time first
  if (is_total) AppendField(json, "Transit Time(ms)", transport.transit_ms);
  AppendField(json, "Transit Size(MB)", transport.transit_size_mb);
  if (!is_total) AppendField(json, "Transit Time(ms)", transport.transit_ms);
  AppendField(json, "Bandwidth(GB/s)", transport.bandwidth_gbps);
  AppendField(json, "Large Packet Ratio", transport.large_packet_ratio);
  json.Key("Size Distribution").BeginObject();
  for (const analysis::PacketFacts& packet : transport.packets) {
    std::string count;
    AppendJsonNumber(count, packet.count);
    std::string total;
    AppendJsonNumber(total, packet.total_ms);
    json.Key(NumberText(packet.size_mb)).BeginArray().Raw(count).Raw(total).EndArray();
  }
  json.EndObject().EndObject();
}

void AppendOperation(JsonWriter& json, const std::string& key, const OperationFacts& operation) {
  json.Key(key).BeginObject();
  json.Key("Communication Time Info").BeginObject();
  AppendField(json, "Start Timestamp(us)", operation.start_us);
  AppendField(json, "Elapse Time(ms)", operation.elapse_ms);
  AppendField(json, "Transit Time(ms)", operation.transit_ms);
  AppendField(json, "Wait Time(ms)", operation.wait_ms);
  AppendField(json, "Synchronization Time(ms)", operation.synchronization_ms);
  AppendField(json, "Idle Time(ms)", operation.idle_ms);
  AppendField(json, "Wait Time Ratio", operation.wait_ratio);
  AppendField(json, "Synchronization Time Ratio", operation.synchronization_ratio);
  json.EndObject().Key("Communication Bandwidth Info").BeginObject();
  for (const TransportFacts& transport : operation.transports) AppendTransport(json, transport);
  json.EndObject().EndObject();
}

void AppendOperations(JsonWriter& json, std::string_view key, const CommunicationClass& of) {
  json.Key(key).BeginObject();
  // GPU traces call all operations of a kind alike. A key must be there once, or readers see one.
  std::unordered_map<std::string, int> seen;
  for (const OperationFacts& operation : of.operations) {
    const int number = ++seen[GroupKey(operation.name, operation.group)];
    const std::string name =
        number == 1 ? operation.name : fmt::format("{}__{}", operation.name, number);
    AppendOperation(json, GroupKey(name, operation.group), operation);
  }
  if (!of.operations.empty())
    AppendOperation(json, GroupKey(of.total.name, of.total.group), of.total);
  json.EndObject();
}

void AppendMatrix(JsonWriter& json, std::string_view key, const CommunicationClass& of,
                  bool is_mindspore) {
  json.Key(key).BeginObject();
  for (const MatrixEntry& entry : of.matrix) {
    json.Key(GroupKey(entry.name, entry.group)).BeginObject();
    for (const LinkFacts& link : entry.links) {
      json.Key(std::to_string(link.src_rank) + "-" + std::to_string(link.dst_rank)).BeginObject();
      json.Key("Transport Type").String(link.transport);
      AppendField(json, "Transit Size(MB)", link.transit_size_mb);
      AppendField(json, "Transit Time(ms)", link.transit_ms);
      AppendField(json, "Bandwidth(GB/s)", link.bandwidth_gbps);
      if (!link.picked_op.empty())
        json.Key(is_mindspore ? "op_name" : "Op Name").String(link.picked_op);
      json.EndObject();
    }
    json.EndObject();
  }
  json.EndObject();
}

}  // namespace

Status WriteCommunicationFiles(const std::vector<CommunicationStep>& steps, bool is_mindspore,
                               const std::string& dir) {
  JsonWriter operations;
  JsonWriter matrix;
  bool has_operations = false;
  bool has_links = false;
  operations.BeginObject();
  matrix.BeginObject();
  for (const CommunicationStep& step : steps) {
    operations.Key(step.step).BeginObject();
    AppendOperations(operations, "p2p", step.p2p);
    AppendOperations(operations, "collective", step.collective);
    operations.EndObject();
    matrix.Key(step.step).BeginObject();
    AppendMatrix(matrix, "p2p", step.p2p, is_mindspore);
    AppendMatrix(matrix, "collective", step.collective, is_mindspore);
    matrix.EndObject();
    has_operations |= !step.p2p.operations.empty() || !step.collective.operations.empty();
    has_links |= !step.p2p.matrix.empty() || !step.collective.matrix.empty();
  }
  if (has_operations)
    SL_RETURN_IF_ERROR(WriteWholeFile(dir + "/communication.json", operations.EndObject().Take()));
  if (has_links)
    SL_RETURN_IF_ERROR(
        WriteWholeFile(dir + "/communication_matrix.json", matrix.EndObject().Take()));
  return {};
}

}  // namespace steplens::exporting
