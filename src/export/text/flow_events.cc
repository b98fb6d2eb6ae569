#include "export/text/flow_events.h"

#include "export/text/flow_ids.h"

namespace steplens::exporting {

FlowEvents::FlowEvents(const store::TraceStore& store, TraceEvents& events)
    : store_(store), events_(events), ids_(MakeFlowIds(store)) {}

FlowEvents::Kind FlowEvents::KindOf(StringId kind) const {
  const std::string_view text = store_.Text(kind);
  Kind out;
  out.name = JsonText(text == "async_npu" ? "torch_to_npu" : text);
  out.name.pop_back();
  out.has_id_in_name = text == "HostToDevice" || text == "MsTx";
  if (text == "MsTx") out.name += '_';
  out.category = JsonText(text);
  return out;
}

void FlowEvents::WriteFramework(std::string_view kind) {
  const auto id = store_.strings.Find(kind);
  if (!id) return;
  const Kind facts = KindOf(*id);
  for (size_t i = 0; i < store_.flows.size(); ++i) {
    if (store_.flows.kind[i] == *id) Write(i, facts, true);
  }
}

void FlowEvents::WriteOthers() {
  StringId last = StringId::kEmpty;
  Kind facts = KindOf(last);
  for (size_t i = 0; i < store_.flows.size(); ++i) {
    const StringId kind = store_.flows.kind[i];
    const std::string_view text = store_.Text(kind);
    if (text == "fwdbwd" || text == "async_npu" || text == "async_task_queue") continue;
    if (kind != last) facts = KindOf(last = kind);
    Write(i, facts, false);
  }
}

void FlowEvents::Write(size_t flow, const Kind& kind, bool is_framework) {
  const store::FlowTable& flows = store_.flows;
  TextBuffer& out = events_.text();
  for (const bool is_start : {true, false}) {
    events_.Begin();
    out += is_start ? std::string_view("\"ph\": \"s\", \"bp\": \"e\", \"name\": ")
                    : std::string_view("\"ph\": \"f\", \"bp\": \"e\", \"name\": ");
    out += kind.name;
    if (kind.has_id_in_name) out.Uint(ids_[flow]);
    out += is_framework ? std::string_view("\", \"id\": ") : std::string_view("\", \"id\": \"");
    out.Uint(ids_[flow]);
    out += is_framework ? std::string_view(", ") : std::string_view("\", ");
    events_.Place(is_start ? flows.from_track[flow] : flows.to_track[flow]);
    events_.Ts(is_start ? flows.from_ns[flow] : flows.to_ns[flow]);
    out += ", \"cat\": ";
    out += kind.category;
    out += '}';
  }
}

}  // namespace steplens::exporting
