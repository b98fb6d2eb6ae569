#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "readers/chrome/event_parser.h"

namespace steplens::readers::testing_support {

// What a parser makes of the text of an array, as text: equal texts mean equal batches.
inline std::string DescribeParse(EventParser& parser, const std::string& array) {
  std::string padded = array;
  padded.append(kParserPadding, '\0');
  EventBatch batch;
  if (!parser.Parse({padded.data(), array.size()}, 1000, batch)) return "not well formed";
  std::string out;
  const auto text = [&](uint32_t id) {
    return id == EventBatch::kNoText ? std::string("-")
                                     : fmt::format("'{}'", batch.strings.Get(id));
  };
  const auto track = [&](uint32_t id) {
    return text(batch.tracks[id].pid) + "/" + text(batch.tracks[id].tid);
  };
  for (const auto& s : batch.slices) {
    out += fmt::format("slice {} {} {} {} {} {} {} {}\n", s.begin_ns, s.dur_ns, s.correlation,
                       s.args_offset, s.args_size, track(s.track), text(s.name), text(s.category));
  }
  for (const auto& op : batch.host_ops) {
    out += fmt::format("op {} {} {} {} {} {} {} {}\n", op.slice, text(op.input_shapes),
                       text(op.input_types), text(op.call_stack), op.sequence_number, op.fwd_thread,
                       text(op.input_strides), text(op.concrete_inputs));
  }
  for (const auto& c : batch.comms) {
    out += fmt::format("comm {} {} {} {} {} {} {} {} ", c.slice, text(c.data_type),
                       text(c.alg_type), text(c.op_type), text(c.group_name), text(c.transport),
                       text(c.link), text(c.rdma_type));
    out += fmt::format("{} {} {} {} {} {} {} {}\n", c.count, c.size_bytes, c.src_rank, c.dst_rank,
                       c.notify_id, c.stream, c.task_id, c.is_master);
  }
  for (const auto& k : batch.kernels) {
    out += fmt::format("kernel {} {} {}\n", k.slice, k.device, k.stream);
  }
  for (const auto& c : batch.copies) {
    out += fmt::format("copy {} {} {}\n", c.slice, c.size_bytes, c.bandwidth_gbps);
  }
  for (const auto& m : batch.markers) {
    out += fmt::format("marker {} {} {}\n", m.slice, m.event_type, text(m.domain));
  }
  for (const auto& f : batch.flows) {
    out += fmt::format("flow {} {} {} {} {} {}\n", f.key_high, f.key_low, f.ts_ns, track(f.track),
                       text(f.kind), f.is_start);
  }
  for (const auto& c : batch.counters) {
    const EventBatch::Series& series = batch.series[c.series];
    out += fmt::format("counter {} {} {} {} {}\n", c.ts_ns, c.value, text(series.pid),
                       text(series.name), text(series.label));
  }
  for (const auto& i : batch.instants) {
    out += fmt::format("instant {} {} {} {}\n", i.ts_ns, track(i.track), text(i.name),
                       text(i.category));
  }
  for (const auto& e : batch.edges) {
    out += fmt::format("edge {} {} {} {} {}\n", e.ts_ns, track(e.track), text(e.name),
                       text(e.category), e.is_begin);
  }
  for (const auto& m : batch.memories) {
    out += fmt::format("memory {} {} {} {} {} {} {}\n", m.ts_ns, m.bytes, m.address, m.device_type,
                       m.device_id, m.total_allocated, m.total_reserved);
  }
  for (const auto& m : batch.metas) {
    out += fmt::format("meta {} {} {} {} {}\n", static_cast<int>(m.kind), text(m.pid), text(m.tid),
                       text(m.text), m.sort_index);
  }
  for (size_t i = 0; i < static_cast<size_t>(store::IssueKind::kCount); ++i) {
    const auto& entry = batch.issues.entry(static_cast<store::IssueKind>(i));
    if (entry.count > 0) out += fmt::format("issue {} {} {}\n", i, entry.count, entry.example);
  }
  return out;
}

}  // namespace steplens::readers::testing_support
