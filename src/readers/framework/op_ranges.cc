#include "readers/framework/op_ranges.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/cancel.h"
#include "base/number.h"
#include "readers/framework/sheet_builder.h"

namespace steplens::readers {
namespace {

using store::kNone;
using store::SliceId;
using store::TraceStore;

// Where an era keeps what. 0: it has no such field.
struct Layout {
  size_t fixed_bytes;
  bool has_scope;
  uint16_t name, dtypes, shapes, tensors, lists, scalars, stack, modules;
};
constexpr Layout kNow{format::OpRange::kFixedBytes,
                      true,
                      format::kOpName,
                      format::kOpDtypes,
                      format::kOpShapes,
                      format::kOpTensors,
                      format::kOpTensorLists,
                      format::kOpScalars,
                      format::kOpCallStack,
                      format::kOpModules};
constexpr Layout kUntil2024{57, false, 3, 4, 5, 0, 0, 0, 6, 7};

// The fields of one record; views of it.
struct Fields {
  std::string_view name, dtypes, shapes, tensors, lists, scalars, stack, modules;
  bool has_name = false;
  bool has_collective = false;
};
using Collective = std::array<std::string_view, 7>;  // tags 32 to 38

// The layout is known when this is compiled: it is called for every record.
template <const Layout& kLayout>
bool ParseFields(format::Bytes value, Fields& fields, Collective& collective) {
  if (value.size() < kLayout.fixed_bytes) return false;
  fields = {};
  const bool is_whole =
      ForEachField(value, kLayout.fixed_bytes, [&](uint16_t tag, std::string_view text) {
        if (tag == kLayout.name) {
          fields.name = text;
          fields.has_name = true;
        } else if (tag == kLayout.dtypes) {
          fields.dtypes = text;
        } else if (tag == kLayout.shapes) {
          fields.shapes = text;
        } else if (tag == kLayout.stack) {
          fields.stack = text;
        } else if (tag == kLayout.modules) {
          fields.modules = text;
        } else if (tag >= format::kOpGroupName && tag <= format::kOpPeer) {
          if (!fields.has_collective) collective = {};
          collective[tag - format::kOpGroupName] = text;
          fields.has_collective = true;
        } else if (tag == kLayout.tensors) {
          fields.tensors = text;
        } else if (tag == kLayout.lists) {
          fields.lists = text;
        } else if (tag == kLayout.scalars) {
          fields.scalars = text;
        }
      });
  return is_whole && fields.has_name;
}

// The fixed part. Records without a scope are those before it was inserted.
format::OpRange DecodeFixed(format::Bytes value, const Layout& layout) {
  std::array<uint8_t, format::OpRange::kFixedBytes> fixed{};
  const size_t shared = layout.has_scope ? fixed.size() : 56;
  std::memcpy(fixed.data(), value.data(), shared);
  if (!layout.has_scope) fixed[57] = value[56];
  format::OpRange op;
  Decode(fixed, &op);
  return op;
}

class OpReader {
 public:
  OpReader(FrameworkContext& ctx, RecordReader& reader) : ctx_(ctx), reader_(reader) {}

  void Add(format::Bytes value) {
    if (!Parse(value, layout_)) {
      const Layout* const other = layout_ == &kNow ? &kUntil2024 : &kNow;
      if (!Parse(value, other)) return Reject(value);
      layout_ = other;
    }
    const format::OpRange op = DecodeFixed(value, *layout_);
    if (ctx_.process_id == 0) ctx_.process_id = op.process_id;
    const int64_t begin_ns = ctx_.Ns(op.start);
    const int64_t end_ns = ctx_.Ns(op.end);
    store::SliceTable::Row row;
    row.track = ctx_.PythonThread(op.process_id, op.start_thread);
    row.name = ctx_.Text(fields_.name);
    row.category = cpu_op_;
    const SliceId slice = ctx_.AppendSlice(row, begin_ns, end_ns);
    AppendHostOp(op, slice);
    AppendStep(slice, begin_ns);
    AppendSheets(slice);
  }

  void Finish() {
    tensors_.Finish(ctx_.out);
    collectives_.Finish(ctx_.out);
  }

 private:
  bool Parse(format::Bytes value, const Layout* layout) {
    return layout == &kNow ? ParseFields<kNow>(value, fields_, collective_)
                           : ParseFields<kUntil2024>(value, fields_, collective_);
  }

  void Reject(format::Bytes value) {
    reader_.Reject(value.size() < kUntil2024.fixed_bytes
                       ? "an operator's record is too short"
                       : "the fields of an operator's record do not fit into it");
  }

  void AppendHostOp(const format::OpRange& op, SliceId slice) {
    store::HostOpTable::Row row;
    row.slice = slice;
    row.sequence_number = op.sequence;
    row.fwd_thread = static_cast<int64_t>(op.forward_thread);
    row.input_shapes = ctx_.Text(fields_.shapes);
    row.input_types = ctx_.Text(fields_.dtypes);
    row.call_stack = ctx_.Text(fields_.stack);
    row.module_hierarchy = ctx_.Text(fields_.modules);
    row.scope = op.scope;
    ctx_.out.host_ops.Append(row);
  }

  void AppendStep(SliceId slice, int64_t begin_ns) {
    constexpr std::string_view kPrefix = "ProfilerStep#";
    if (!fields_.name.starts_with(kPrefix)) return;
    const auto step = ParseInt64(fields_.name.substr(kPrefix.size()));
    if (!step) return;
    const int64_t dur_ns = ctx_.out.slices.dur_ns[static_cast<size_t>(slice)];
    ctx_.out.steps.Append({*step, begin_ns, AddSaturating(begin_ns, dur_ns)});
  }

  void AppendSheets(SliceId slice) {
    const auto row = static_cast<double>(slice);
    const bool has_tensors =
        !fields_.tensors.empty() || !fields_.lists.empty() || !fields_.scalars.empty();
    if (has_tensors && ctx_.wants_tensors) {
      tensors_.Number(row)
          .Text(ctx_.Text(fields_.tensors))
          .Text(ctx_.Text(fields_.lists))
          .Text(ctx_.Text(fields_.scalars));
    }
    if (!fields_.has_collective) return;
    collectives_.Number(row);
    for (const std::string_view text : collective_) collectives_.Text(ctx_.Text(text));
  }

  FrameworkContext& ctx_;
  RecordReader& reader_;
  const Layout* layout_ = &kNow;
  Fields fields_;
  Collective collective_;  // where fields_.has_collective
  const StringId cpu_op_ = ctx_.out.strings.Intern("cpu_op");
  SheetBuilder tensors_{"framework_tensors", {"Slice", "Input Tensors", "Tensor Lists", "Scalars"}};
  SheetBuilder collectives_{
      "framework_collectives",
      {"Slice", "Group", "Size(B)", "Count", "Data Type", "Ranks", "Kind", "Peer"}};
};

// Room for the operators of a file whose first records have this size, and a few more. Slices of
// other files and of the device follow: room for as many again saves copying all of them once or
// twice, and costs no memory before it is used.
void ReserveFor(FrameworkContext& ctx, uint64_t size_bytes, uint64_t bytes_per_op) {
  const auto expected = static_cast<size_t>(size_bytes / std::max<uint64_t>(bytes_per_op, 1));
  const size_t room = expected + expected / 32;
  ctx.out.slices.Reserve(ctx.out.slices.size() + 2 * room);
  ctx.out.host_ops.Reserve(ctx.out.host_ops.size() + room);
}

}  // namespace

Status ReadOpRanges(RecordReader& reader, FrameworkContext& ctx, uint64_t size_bytes) {
  OpReader ops(ctx, reader);
  constexpr size_t kCheckEvery = 1 << 16;
  constexpr size_t kSample = 1 << 12;
  for (size_t i = 0;; ++i) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) break;
    ops.Add(reader.value());
    if (i == kSample) ReserveFor(ctx, size_bytes, reader.offset() / kSample);
    if (i % kCheckEvery == 0 && IsCancelled()) {
      return Error{ErrorCode::kCancelled, "interrupted"};
    }
  }
  ops.Finish();
  return {};
}

void AppendForwardBackwardFlows(TraceStore& out) {
  constexpr uint32_t kNothing = std::numeric_limits<uint32_t>::max();
  struct Pair {
    uint32_t forward = kNothing;
    uint32_t backward = kNothing;
  };
  const auto begin_ns = out.slices.begin_ns.span();
  tsl::robin_map<int64_t, Pair> pairs;
  std::vector<int64_t> order;  // sequence numbers by first appearance
  for (size_t i = 0; i < out.host_ops.size(); ++i) {
    const int64_t sequence = out.host_ops.sequence_number[i];
    if (sequence < 0) continue;
    const auto [found, is_new] = pairs.insert({sequence, Pair{}});
    if (is_new) order.push_back(sequence);
    uint32_t& place =
        out.host_ops.fwd_thread[i] == 0 ? found.value().forward : found.value().backward;
    const auto slice = static_cast<uint32_t>(out.host_ops.slice[i]);
    if (place == kNothing || begin_ns[slice] >= begin_ns[place]) place = slice;
  }
  const StringId kind = out.strings.Intern("fwdbwd");
  for (const int64_t sequence : order) {
    const Pair pair = pairs.find(sequence)->second;
    if (pair.forward == kNothing || pair.backward == kNothing) continue;
    const store::TrackId from = out.slices.track[pair.forward];
    const store::TrackId to = out.slices.track[pair.backward];
    // A CPU's gradients are computed by the thread that asks for them.
    const int64_t forward_end_ns = begin_ns[pair.forward] + out.slices.dur_ns[pair.forward];
    if (from == to && begin_ns[pair.backward] < forward_end_ns) continue;
    out.flows.Append({kind, from, begin_ns[pair.forward], to, begin_ns[pair.backward]});
  }
}

}  // namespace steplens::readers
