#include "analysis/still_wanted.h"
#include "export/export.h"
#include "export/perfetto/rank_packets.h"

namespace steplens::exporting {

Status WritePerfetto(const store::Job& job, const std::string& path) {
  FileOut out(path);
  TraceNumbers numbers;
  for (const store::TraceStore& rank : job.ranks) {
    SL_RETURN_IF_ERROR(analysis::StillWanted());
    RankPackets(rank, numbers, out).Write();
  }
  return out.Commit();
}

}  // namespace steplens::exporting
