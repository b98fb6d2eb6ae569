#include "analysis/cluster/communication/time_texts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>

#include "analysis/cluster/communication/time_totals.h"
#include "base/json_writer.h"

namespace steplens::analysis::cluster {
namespace {

using Uses = OperationTexts::Uses;

void AppendField(std::string& out, std::string_view key_and_colon, double value) {
  out += key_and_colon;
  AppendJsonFloat(out, value);
}

void AppendTimes(std::string& out, const CommTimes& times, double wait_ratio,
                 double synchronization_ratio) {
  AppendField(out, "\"Elapse Time(ms)\": ", times.elapse);
  AppendField(out, ", \"Transit Time(ms)\": ", times.transit);
  AppendField(out, ", \"Wait Time(ms)\": ", times.wait);
  AppendField(out, ", \"Synchronization Time(ms)\": ", times.synchronization);
  AppendField(out, ", \"Idle Time(ms)\": ", times.idle);
  AppendField(out, ", \"Wait Time Ratio\": ", wait_ratio);
  AppendField(out, ", \"Synchronization Time Ratio\": ", synchronization_ratio);
}

void AppendCount(std::string& out, double count) {
  char buffer[40];
  const auto result =
      std::to_chars(buffer, buffer + sizeof buffer, count, std::chars_format::fixed);
  out.append(buffer, result.ptr);
}

void AppendPackets(std::string& out, const std::vector<CommPacket>& packets) {
  out += "\"Size Distribution\": {";
  for (size_t i = 0; i < packets.size(); ++i) {
    out += i == 0 ? "\"" : ", \"";
    AppendJsonFloat(out, packets[i].size_mb);
    out += "\": [";
    AppendCount(out, packets[i].count);
    out += ", ";
    AppendJsonFloat(out, packets[i].total_ms);
    out += ']';
  }
  out += '}';
}

// The profiler writes integers for a transport that carried nothing, and for the share of large
// packets of one that only repeats others (SDMA).
void AppendTransport(std::string& out, const CommBandwidthRow& row) {
  if (row.size_mb == 0 && row.time_ms == 0 && row.packets.empty()) {
    out +=
        "{\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, \"Bandwidth(GB/s)\": 0, \"Large Packet "
        "Ratio\": 0, \"Size Distribution\": {}}";
    return;
  }
  AppendField(out, "{\"Transit Size(MB)\": ", row.size_mb);
  AppendField(out, ", \"Transit Time(ms)\": ", row.time_ms);
  AppendField(out, ", \"Bandwidth(GB/s)\": ", row.bandwidth_gbps);
  out += ", \"Large Packet Ratio\": ";
  if (row.packets.empty() && row.large_packet_ratio == 0) {
    out += '0';
  } else {
    AppendJsonFloat(out, row.large_packet_ratio);
  }
  out += ", ";
  AppendPackets(out, row.packets);
  out += '}';
}

void AppendTransport(std::string& out, const CommTraffic& total) {
  if (total.size_mb == 0 && total.time_ms == 0 && total.packets.empty()) {
    out +=
        "{\"Transit Time(ms)\": 0, \"Transit Size(MB)\": 0, \"Size Distribution\": {}, "
        "\"Bandwidth(GB/s)\": 0}";
    return;
  }
  AppendField(out, "{\"Transit Time(ms)\": ", total.time_ms);
  AppendField(out, ", \"Transit Size(MB)\": ", total.size_mb);
  out += ", ";
  AppendPackets(out, total.packets);
  AppendField(out, ", \"Bandwidth(GB/s)\": ", total.gbps());
  out += '}';
}

// An operation's rows in the part.
struct Operation {
  uint32_t group = 0;
  uint32_t step = 0;
  uint32_t op = 0;
  bool is_p2p = false;
  const CommTimeRow* times = nullptr;
  std::vector<const CommBandwidthRow*> bandwidths{};
};

// The operations of a part, in the order of first sight.
class Operations {
 public:
  explicit Operations(const CommunicationPart& part) {
    for (const CommTimeRow& row : part.times) Find(row).times = &row;
    for (const CommBandwidthRow& row : part.bandwidths) Find(row).bandwidths.push_back(&row);
  }
  const std::vector<Operation>& list() const { return list_; }

 private:
  template <typename Row>
  Operation& Find(const Row& row) {
    // Rows of an operation stand together, and in the order of operations.
    const auto fits = [&](const Operation& one) {
      return std::tie(one.op, one.step, one.group, one.is_p2p) ==
             std::tie(row.op, row.step, row.group, row.is_p2p);
    };
    for (const size_t guess : {last_, last_ + 1}) {
      if (guess < list_.size() && fits(list_[guess])) return list_[last_ = guess];
    }
    const auto [place, is_new] =
        places_.try_emplace(std::tuple(row.group, row.step, row.op, row.is_p2p), list_.size());
    if (is_new) list_.push_back({row.group, row.step, row.op, row.is_p2p});
    return list_[last_ = place->second];
  }

  std::vector<Operation> list_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, bool>, size_t> places_;
  size_t last_ = 0;
};

void AppendOperation(std::string& out, const CommunicationPart& part, const Operation& operation) {
  out += '{';
  if (operation.times != nullptr) {
    const CommTimeRow& row = *operation.times;
    CommTimes times;
    times.Add(row);
    AppendField(out, "\"Communication Time Info\": {\"Start Timestamp(us)\": ", row.start_us);
    out += ", ";
    AppendTimes(out, times, row.wait_ratio, row.synchronization_ratio);
    out += "}, ";
  }
  out += "\"Communication Bandwidth Info\": {";
  for (size_t i = 0; i < operation.bandwidths.size(); ++i) {
    if (i > 0) out += ", ";
    AppendJsonString(out, part.Text(operation.bandwidths[i]->transport));
    out += ": ";
    AppendTransport(out, *operation.bandwidths[i]);
  }
  out += "}}";
}

void AppendTotal(std::string& out, const CommunicationPart& part,
                 const std::vector<const Operation*>& operations) {
  CommTimes times;
  std::vector<std::pair<uint32_t, CommTraffic>> traffic;  // by transport, as they come
  for (const Operation* operation : operations) {
    if (operation->times != nullptr) times.Add(*operation->times);
    for (const CommBandwidthRow* row : operation->bandwidths) {
      auto place = std::find_if(traffic.begin(), traffic.end(),
                                [&](const auto& one) { return one.first == row->transport; });
      if (place == traffic.end()) place = traffic.insert(place, {row->transport, CommTraffic()});
      place->second.Add(*row);
    }
  }
  out += "{\"Communication Time Info\": {";
  AppendTimes(out, times, times.WaitRatio(), times.SynchronizationRatio());
  out += "}, \"Communication Bandwidth Info\": {";
  for (size_t i = 0; i < traffic.size(); ++i) {
    if (i > 0) out += ", ";
    AppendJsonString(out, part.Text(traffic[i].first));
    out += ": ";
    AppendTransport(out, traffic[i].second);
  }
  out += "}}";
}

}  // namespace

TimeTexts RenderTimes(int64_t rank, const CommunicationPart& part, std::string& json) {
  TimeTexts out;
  out.texts = part.texts;
  const std::string key = "\"" + std::to_string(rank) + "\": ";
  const Operations operations(part);
  // (group, step) -> operations of collective and of point-to-point use
  std::map<std::pair<uint32_t, uint32_t>, std::array<std::vector<const Operation*>, 2>> groups;
  json.reserve(operations.list().size() * 1024);
  const auto text_of = [&](const auto& append) {
    const size_t begin = json.size();
    json += key;
    append();
    return json.size() - begin;
  };
  for (const Operation& operation : operations.list()) {
    groups[{operation.group, operation.step}][operation.is_p2p ? 1 : 0].push_back(&operation);
    const size_t size = text_of([&] { AppendOperation(json, part, operation); });
    out.operations.push_back(
        {operation.group, operation.step, operation.op, operation.is_p2p, size});
  }
  for (auto& [group, by_use] : groups) {
    for (const int uses : {Uses::kCollective, Uses::kP2p, Uses::kBoth}) {
      std::vector<const Operation*> chosen;
      if ((uses & Uses::kCollective) != 0) chosen = by_use[0];
      if ((uses & Uses::kP2p) != 0) chosen.insert(chosen.end(), by_use[1].begin(), by_use[1].end());
      if (chosen.empty() || (uses == Uses::kBoth && (by_use[0].empty() || by_use[1].empty())))
        continue;
      const size_t size = text_of([&] { AppendTotal(json, part, chosen); });
      out.totals.push_back({group.first, group.second, static_cast<uint8_t>(uses), size});
    }
  }
  return out;
}

bool AddTimeTexts(int64_t rank, const TimeTexts& texts, const FilePiece& json,
                  OperationTexts& file) {
  std::vector<uint32_t> numbers;
  for (const std::string& text : texts.texts) numbers.push_back(file.Number(text));
  const auto number = [&](uint32_t id) { return numbers[id < numbers.size() ? id : 0]; };
  if (numbers.empty()) return texts.operations.empty();
  PieceCutter cutter(json);
  for (const TimeTexts::Operation& one : texts.operations)
    file.Add(number(one.group), one.is_p2p, number(one.step), number(one.op),
             cutter.Take(one.size));
  for (const TimeTexts::Total& one : texts.totals) {
    file.AddTotal(rank, number(one.group), static_cast<Uses>(one.uses & Uses::kBoth),
                  number(one.step), cutter.Take(one.size));
  }
  return cutter.is_used_up();
}

}  // namespace steplens::analysis::cluster
