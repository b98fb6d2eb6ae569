#pragma once

#include <array>
#include <cstdint>
#include <map>
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

  // The arrows of one kind, as the framework writes them: ids are numbers or, of launches by
  // MindSpore, times.
  void WriteFramework(std::string_view kind);
  // All arrows of kinds that are not written elsewhere (fwdbwd, async_npu, async_task_queue).
  void WriteOthers();

 private:
  // What the arrows of a kind share.
  struct Kind {
    std::array<PaddedView, 2> heads;  // of start and end, up to the id, or to the id in the name
    PaddedView between;               // the id in the name and the id
    PaddedView after_id;
    PaddedView tail;  // from the time to the end
    bool has_id_in_name = false;
    bool has_time_as_id = false;  // the id is a time in ns, written as times are
  };
  const Kind& KindOf(StringId kind, bool is_framework);
  void Write(size_t flow, const Kind& kind);

  const store::TraceStore& store_;
  TraceEvents& events_;
  std::vector<uint64_t> ids_;
  std::map<StringId, Kind> kinds_;
};

}  // namespace steplens::exporting
