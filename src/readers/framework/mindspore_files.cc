#include "readers/framework/mindspore_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.h"
#include "format/framework_mindspore.h"
#include "readers/framework/mindspore_names.h"
#include "readers/framework/sheet_builder.h"

namespace steplens::readers {
namespace {

using store::kNone;
using store::TrackId;

constexpr double kNsPerMs = 1e6;

// Processes and threads as MindSpore's trace has them: its pids are small numbers.
class Lanes {
 public:
  Lanes(store::TraceStore& out, std::string_view name, int64_t pid) : out_(out) {
    store::TrackTable::Row row;
    row.kind = out.strings.Intern("process");
    row.pid = out.strings.Intern(std::to_string(pid));
    row.name = out.strings.Intern(name);
    row.label = out.strings.Intern("CPU");
    row.sort_index = pid;
    row_ = row;
  }
  TrackId Thread(uint64_t tid) {
    const auto [place, is_new] = threads_.try_emplace(tid, store::kNoTrack);
    if (!is_new) return place->second;
    if (process_ == store::kNoTrack) process_ = Append(row_);
    store::TrackTable::Row row;
    row.parent = process_;
    row.kind = out_.strings.Intern("thread");
    row.pid = row_.pid;
    row.tid = out_.strings.Intern(std::to_string(tid));
    row.name = out_.strings.Intern(fmt::format("Thread {}", tid));
    row.sort_index = static_cast<int64_t>(tid);
    return place->second = Append(row);
  }

 private:
  TrackId Append(const store::TrackTable::Row& row) {
    out_.tracks.Append(row);
    return TrackId{static_cast<uint32_t>(out_.tracks.size() - 1)};
  }
  store::TraceStore& out_;
  store::TrackTable::Row row_;
  TrackId process_ = store::kNoTrack;
  std::map<uint64_t, TrackId> threads_;
};

struct RangeTexts {
  std::string_view name, full_name, module_graph, event_graph, custom_info;
};

std::string RangeName(const format::MindSporeOpRange& range, const RangeTexts& texts) {
  if (range.is_stack) return std::string(texts.name);
  if (range.is_graph_data)
    return fmt::format("{}::{}::{}", texts.module_graph, texts.event_graph, texts.name);
  if (range.is_stage) return std::string(MindSporeStageName(range.stage));
  if (texts.name == "flow") return std::string(texts.full_name);
  return fmt::format("{}::{}::{}", MindSporeModuleName(range.module),
                     MindSporeEventName(range.event), texts.full_name);
}

class RangeReader {
 public:
  explicit RangeReader(FrameworkContext& ctx) : ctx_(ctx), lanes_(ctx.out, "MindSpore", 1) {}

  bool Add(format::Bytes value) {
    format::MindSporeOpRange range;
    RangeTexts texts;
    if (!Decode(value, &range)) return false;
    const bool is_whole = ForEachField(value, format::MindSporeOpRange::kFixedBytes,
                                       [&](uint16_t tag, std::string_view text) {
                                         if (tag == format::kMindSporeName) texts.name = text;
                                         if (tag == format::kMindSporeFullName)
                                           texts.full_name = text;
                                         if (tag == format::kMindSporeModuleGraph)
                                           texts.module_graph = text;
                                         if (tag == format::kMindSporeEventGraph)
                                           texts.event_graph = text;
                                         if (tag == format::kMindSporeCustomInfo)
                                           texts.custom_info = text;
                                       });
    if (!is_whole) return false;
    if (range.start != 0) AddRange(range, texts);
    return true;
  }

  void Finish() {
    const StringId kind = ctx_.out.strings.Intern("async_mindspore");
    for (const auto& [id, flow] : flows_) {
      if (flow.starts != 1 || flow.ends != 1) continue;
      ctx_.out.flows.Append({kind, flow.from.track, flow.from.ts_ns, flow.to.track, flow.to.ts_ns});
    }
    custom_infos_.Finish(ctx_.out);
  }

 private:
  struct Point {
    TrackId track = store::kNoTrack;
    int64_t ts_ns = 0;
  };
  struct Flow {
    size_t starts = 0;
    size_t ends = 0;
    Point from, to;
  };

  void AddRange(const format::MindSporeOpRange& range, const RangeTexts& texts) {
    const int64_t begin_ns = ctx_.Ns(range.start);
    const TrackId track = lanes_.Thread(range.thread_id);
    const bool is_flow_start = texts.name == "flow" && range.start != range.end;
    if (range.flow_id != format::MindSporeOpRange::kNoFlow) {
      Flow& flow = flows_[range.flow_id];
      (is_flow_start ? flow.from : flow.to) = {track, begin_ns};
      ++(is_flow_start ? flow.starts : flow.ends);
    }
    if (is_flow_start) return;  // says where an arrow begins, nothing else
    const StringId name = ctx_.Text(RangeName(range, texts));
    const StringId category = range.is_stack ? python_function_ : StringId::kEmpty;
    if (range.start == range.end) {
      ctx_.out.instants.Append({track, begin_ns, name, category});
      return;
    }
    store::SliceTable::Row row;
    row.track = track;
    row.name = name;
    row.category = category;
    const store::SliceId slice = ctx_.AppendSlice(row, begin_ns, ctx_.Ns(range.end));
    AddStep(texts, begin_ns, slice);
    if (!texts.custom_info.empty())
      custom_infos_.Number(static_cast<double>(slice)).Text(ctx_.Text(texts.custom_info));
  }

  void AddStep(const RangeTexts& texts, int64_t begin_ns, store::SliceId slice) {
    constexpr std::string_view kMark = "ProfilerStep#";
    const std::string_view name = texts.full_name.empty() ? texts.name : texts.full_name;
    const size_t at = name.find(kMark);
    if (at == std::string_view::npos) return;
    const auto step = ParseInt64(name.substr(at + kMark.size()));
    if (!step) return;
    const int64_t dur_ns = ctx_.out.slices.dur_ns[static_cast<size_t>(slice)];
    ctx_.out.steps.Append({*step, begin_ns, AddSaturating(begin_ns, dur_ns)});
  }

  FrameworkContext& ctx_;
  Lanes lanes_;
  std::map<uint64_t, Flow> flows_;  // by flow id
  const StringId python_function_ = ctx_.out.strings.Intern("python_function");
  SheetBuilder custom_infos_{"mindspore_custom_info", {"Slice", "Custom Info"}};
};

// Visits each framed record; false from `add` rejects it.
Status ForEachRecord(RecordReader& reader, const std::function<bool(format::Bytes)>& add) {
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) return {};
    if (!add(reader.value())) reader.Reject("a record is too short, or its fields are damaged");
  }
}

// Visits each line of a text file. A last line without a line end is also read.
Status ForEachLine(RecordReader& reader, const std::function<bool(std::string_view)>& add) {
  std::string line;
  const auto give = [&] {
    if (!Trim(line).empty() && !add(Trim(line))) reader.Reject("a line cannot be read");
    line.clear();
  };
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_byte, reader.NextFixed(1));
    if (!has_byte) break;
    const auto byte = static_cast<char>(reader.value()[0]);
    if (byte == '\n') {
      give();
    } else {
      line += byte;
    }
  }
  give();
  return {};
}

// The parts of a text between separators.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

struct RawMemoryEvent {
  format::MindSporeMemory raw;
  StringId owner = StringId::kEmpty;

  int64_t Number(format::MindSporeMemoryNumber which) const {
    return static_cast<int64_t>(raw.numbers[which]);
  }
  int64_t ts_ns() const { return Number(format::kMsCreatedAtNs); }
  bool is_free() const { return raw.numbers[format::kMsSize] == format::MindSporeMemory::kFreed; }
};

store::AllocationTable::Row ToRow(const RawMemoryEvent& event, StringId device) {
  store::AllocationTable::Row row;
  row.name = event.owner;
  row.size_bytes = event.Number(format::kMsSize);
  row.alloc_ns = event.ts_ns();
  row.alloc_total_allocated_bytes = event.Number(format::kMsUsed);
  row.alloc_total_reserved_bytes = event.Number(format::kMsAllocated);
  row.alloc_total_active_bytes = event.Number(format::kMsUsed);
  row.stream_ptr = static_cast<int64_t>(event.raw.numbers[10]);
  row.address = event.Number(format::kMsAddress);
  row.device = device;
  return row;
}

}  // namespace

Status ReadMindSporeRanges(RecordReader& reader, FrameworkContext& ctx) {
  RangeReader ranges(ctx);
  const Status status =
      ForEachRecord(reader, [&](format::Bytes value) { return ranges.Add(value); });
  ranges.Finish();
  return status;
}

Status ReadMindSporeShapes(RecordReader& reader, FrameworkContext& ctx) {
  return ForEachRecord(reader, [&](format::Bytes value) {
    store::OperatorDetailTable::Row row;
    const bool is_whole = ForEachField(value, 0, [&](uint16_t tag, std::string_view text) {
      if (tag == format::kMindSporeShapesName) row.name = ctx.Text(text);
      if (tag == format::kMindSporeInputShapes) row.input_shapes = ctx.Text(text);
    });
    if (is_whole) ctx.out.operator_details.Append(row);
    return is_whole;
  });
}

Status ReadMindSporeMemory(RecordReader& reader, FrameworkContext& ctx,
                           std::optional<int64_t> only_device) {
  std::vector<RawMemoryEvent> events;
  const Status status = ForEachRecord(reader, [&](format::Bytes value) {
    RawMemoryEvent event;
    if (!Decode(value, &event.raw)) return false;
    const bool is_whole = ForEachField(value, format::MindSporeMemory::kFixedBytes,
                                       [&](uint16_t tag, std::string_view text) {
                                         if (tag == format::kMindSporeOwner)
                                           event.owner = ctx.Text(text);
                                       });
    if (is_whole) events.push_back(event);
    return is_whole;
  });
  std::stable_sort(
      events.begin(), events.end(),
      [](const RawMemoryEvent& a, const RawMemoryEvent& b) { return a.ts_ns() < b.ts_ns(); });
  store::TraceStore& out = ctx.out;
  const bool has_samples = out.memory_samples.size() > 0;
  const StringId pta = out.strings.Intern("PTA");
  std::vector<store::AllocationTable::Row> blocks;
  std::map<int64_t, size_t> open;  // by address: a block that was not freed yet
  for (const RawMemoryEvent& event : events) {
    const int64_t number = only_device.value_or(event.raw.device);
    if (out.info.device == kNone) out.info.device = number;
    const StringId device = out.strings.Intern(fmt::format("NPU:{}", number));
    const int64_t used = event.Number(format::kMsUsed);
    const int64_t reserved = event.Number(format::kMsAllocated);
    if (!has_samples)
      out.memory_samples.Append({pta, event.ts_ns(), used, reserved, used, kNone, device});
    const int64_t address = event.Number(format::kMsAddress);
    if (!event.is_free()) {
      open[address] = blocks.size();
      blocks.push_back(ToRow(event, device));
      continue;
    }
    const auto block = open.find(address);
    if (block == open.end()) continue;  // older than the capture
    store::AllocationTable::Row& row = blocks[block->second];
    row.release_ns = event.ts_ns();
    row.dur_ns = SubtractSaturating(row.release_ns, row.alloc_ns);
    row.release_total_allocated_bytes = row.release_total_active_bytes = used;
    row.release_total_reserved_bytes = reserved;
    open.erase(block);
  }
  for (const store::AllocationTable::Row& row : blocks) out.allocations.Append(row);
  return status;
}

Status ReadMindSporeCpuOps(RecordReader& reader, FrameworkContext& ctx) {
  Lanes lanes(ctx.out, "CPU OP", 2);
  return ForEachLine(reader, [&](std::string_view line) {
    const auto parts = Split(line, ';');
    if (parts.size() != 3) return false;
    store::SliceTable::Row row;
    row.name = ctx.Text(parts[0]);
    row.category = ctx.Text(parts[1]);
    for (const std::string_view run : Split(parts[2], ' ')) {
      if (Trim(run).empty()) continue;
      const auto numbers = Split(Trim(run), ',');
      if (numbers.size() != 3) return false;
      const auto start_ns = ParseInt64(numbers[0]);
      const auto dur_ms = ParseDouble(numbers[1]);
      const auto tid = ParseInt64(numbers[2]);
      if (!start_ns || !dur_ms || !tid || *dur_ms < 0 || *dur_ms > 1e12) return false;
      row.track = lanes.Thread(static_cast<uint64_t>(*tid));
      const auto dur_ns = static_cast<int64_t>(std::llround(*dur_ms * kNsPerMs));
      ctx.AppendSlice(row, *start_ns, AddSaturating(*start_ns, dur_ns));
    }
    return true;
  });
}

Status ReadMindSporeMemoryText(RecordReader& reader, FrameworkContext& ctx) {
  store::TraceStore& out = ctx.out;
  const StringId pta = out.strings.Intern("PTA");
  const int64_t number = out.info.device == kNone ? 0 : out.info.device;
  const StringId device = out.strings.Intern(fmt::format("NPU:{}", number));
  return ForEachLine(reader, [&](std::string_view line) {
    if (line.starts_with("Timestamp")) return true;  // the header
    std::array<int64_t, 4> numbers{};
    const auto cells = Split(line, ',');
    if (cells.size() != numbers.size()) return false;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const auto value = ParseInt64(cells[i]);
      if (!value) return false;
      numbers[i] = *value;
    }
    out.memory_samples.Append({pta, numbers[0], numbers[1], numbers[2], numbers[3], kNone, device});
    return true;
  });
}

}  // namespace steplens::readers
