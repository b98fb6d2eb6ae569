#include "export/text/flow_events.h"

#include "export/text/flow_ids.h"

namespace steplens::exporting {

namespace {

// What the arrows of a kind are called.
std::string_view NameOf(std::string_view kind, bool is_mindspore) {
  if (kind == "async_npu") return is_mindspore ? "mindspore_to_npu" : "torch_to_npu";
  return kind == "async_mindspore" ? "mindspore_to_self" : kind;
}

}  // namespace

FlowEvents::FlowEvents(const store::TraceStore& store, TraceEvents& events)
    : store_(store), events_(events), ids_(MakeFlowIds(store)) {}

const FlowEvents::Kind& FlowEvents::KindOf(StringId kind, bool is_framework) {
  const auto [known, is_new] = kinds_.try_emplace(kind);
  Kind& out = known->second;
  if (!is_new) return out;
  const std::string_view text = store_.Text(kind);
  const bool is_mindspore = store::IsMindSpore(store_.info.source);
  std::string name = JsonText(NameOf(text, is_mindspore));
  name.pop_back();
  if (text == "MsTx") name += '_';
  out.has_time_as_id = is_mindspore && text == "async_npu";
  const bool is_number = is_framework && !out.has_time_as_id;
  const std::string id_key = is_number ? "\", \"id\": " : "\", \"id\": \"";
  out.has_id_in_name = text == "HostToDevice" || text == "MsTx";
  out.between = events_.Keep(id_key);
  out.after_id = events_.Keep(is_number ? ", " : "\", ");
  const std::string_view category = text == "mindspore_to_mstx" ? "MsTx" : text;
  out.tail = events_.Keep("\", \"cat\": " + JsonText(category) + "}");
  for (size_t i = 0; i < out.heads.size(); ++i) {
    std::string head = i == 0 ? "\"ph\": \"s\"" : "\"ph\": \"f\"";
    head += ", \"bp\": \"e\", \"name\": ";
    head += name;
    if (!out.has_id_in_name) head += id_key;
    out.heads[i] = events_.Keep(head);
  }
  return out;
}

void FlowEvents::WriteFramework(std::string_view kind) {
  const auto id = store_.strings.Find(kind);
  if (!id) return;
  const Kind& facts = KindOf(*id, true);
  for (size_t i = 0; i < store_.flows.size(); ++i) {
    if (store_.flows.kind[i] == *id) Write(i, facts);
  }
}

void FlowEvents::WriteOthers() {
  StringId last = StringId::kEmpty;
  const Kind* facts = nullptr;
  for (size_t i = 0; i < store_.flows.size(); ++i) {
    const StringId kind = store_.flows.kind[i];
    const std::string_view text = store_.Text(kind);
    if (text == "fwdbwd" || text == "async_npu" || text == "async_task_queue") continue;
    if (facts == nullptr || kind != last) facts = &KindOf(last = kind, false);
    Write(i, *facts);
  }
}

void FlowEvents::Write(size_t flow, const Kind& kind) {
  const store::FlowTable& flows = store_.flows;
  for (const bool is_start : {true, false}) {
    const PaddedView head = kind.heads[is_start ? 0 : 1];
    const PaddedView place =
        events_.UntilTs(is_start ? flows.from_track[flow] : flows.to_track[flow]);
    events_.Begin();
    Pen pen(events_.text(), head.size() + place.size() + kind.tail.size() + 3 * kMaxNumberBytes);
    pen += head;
    if (kind.has_id_in_name) {
      pen.Uint(ids_[flow]);
      pen += kind.between;
    }
    kind.has_time_as_id ? pen.Us(static_cast<int64_t>(ids_[flow])) : pen.Uint(ids_[flow]);
    pen += kind.after_id;
    pen += place;
    pen.Us(is_start ? flows.from_ns[flow] : flows.to_ns[flow]);
    pen += kind.tail;
  }
}

}  // namespace steplens::exporting
