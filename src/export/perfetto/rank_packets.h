#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "export/perfetto/proto_message.h"
#include "export/perfetto/row_events.h"
#include "export/text/file_out.h"
#include "store/trace_store.h"

namespace steplens::exporting {

// What is unique in the whole trace.
struct TraceNumbers {
  uint64_t next_uuid = 1;
  uint64_t next_flow = 1;
  uint32_t next_sequence = 1;
  std::set<int64_t> pids{};
};

// Writes one rank as packets of Perfetto: tracks, slices, arrows, moments and counters, as a
// sequence of its own, whose names are written once.
class RankPackets {
 public:
  RankPackets(const store::TraceStore& store, TraceNumbers& numbers, FileOut& out);
  void Write();

 private:
  struct Process {
    int64_t pid = 0;
    uint64_t uuid = 0;
    std::set<int64_t> tids{};
  };
  // A text with a number of its own in the sequence.
  struct Interned {
    uint32_t field;             // of InternedData
    std::vector<bool> known{};  // by StringId
  };
  struct Event {
    int64_t ts_ns = 0;
    uint64_t uuid = 0;
    StringId name = StringId::kEmpty;
    StringId category = StringId::kEmpty;
  };
  struct Arrow {
    uint32_t slice;
    uint64_t flow;
    bool is_target;
  };

  bool IsCounter(size_t track) const;
  Process& ProcessOf(store::TrackId track);
  Process MakeProcess(std::string_view pid, const std::string& name, std::string_view label);
  uint64_t ThreadTrack(Process& process, std::string_view tid, const std::string& name);
  uint64_t ChildTrack(uint64_t parent, const std::string& name, bool is_counter);
  // The tracks of the rows of one track; the first is there, others are made when they are needed.
  uint64_t RowTrack(std::vector<uint64_t>& rows, size_t row, uint64_t parent,
                    const std::string& name);
  void FindArrows();
  void WriteTrack(store::TrackId track);
  void WriteSlices(store::TrackId track, std::vector<uint64_t>& rows, uint64_t parent,
                   const std::string& name);
  void WriteLoneKernels();
  void WriteInstants();
  void WriteCounters();
  void WriteBegin(const Event& event, uint32_t slice);
  void WriteEnd(uint64_t uuid, int64_t ts_ns);
  void Intern(Interned& names, StringId text, ProtoMessage& data);
  void WritePacket(int64_t ts_ns, uint32_t field, const ProtoMessage& message,
                   const ProtoMessage& interned);

  const store::TraceStore& store_;
  const analysis::RankView view_;
  TraceNumbers& numbers_;
  FileOut& out_;
  const uint32_t sequence_;
  bool is_first_ = true;
  Interned names_{2};
  Interned categories_{1};
  std::vector<Process> processes_;  // by track of a process
  std::vector<uint64_t> uuids_;     // by track; 0: not written
  Process own_;                     // of tracks without a process
  std::vector<Arrow> arrows_;       // by slice
};

}  // namespace steplens::exporting
