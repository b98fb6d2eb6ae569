#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/text/trace_events.h"

namespace steplens::exporting {

// The arrows of the store as pairs of events.
class FlowEvents {
 public:
  // Both must outlive this.
  FlowEvents(const store::TraceStore& store, TraceEvents& events);

  // The arrows of one kind, as the framework writes them: ids are numbers.
  void WriteFramework(std::string_view kind);
  // All arrows of kinds that are not written elsewhere (fwdbwd, async_npu, async_task_queue).
  void WriteOthers();

 private:
  // What the arrows of a kind share.
  struct Kind {
    std::string name;  // JSON text without its closing quote
    bool has_id_in_name = false;
    std::string category;  // JSON text
  };
  Kind KindOf(StringId kind) const;
  void Write(size_t flow, const Kind& kind, bool is_framework);

  const store::TraceStore& store_;
  TraceEvents& events_;
  std::vector<uint64_t> ids_;
};

}  // namespace steplens::exporting
