#pragma once

#include "server/api/context.h"

namespace steplens::server {

// One function a request of docs/api.md, in the file of its topic.

// meta.cc
Result<Response> GetInfo(Workspace& workspace);
Result<Response> GetDataset(const Ask& ask);
// tracks.cc
Result<Response> GetTracks(const Ask& ask);
Result<Response> GetTopStrings(const Ask& ask);
Result<Response> PostStrings(const Ask& ask);
// tiles.cc
inline constexpr size_t kMaxTiles = 256;  // a request
Result<Response> PostTiles(const Ask& ask);
Result<Response> GetTile(const Ask& ask);
Result<Response> GetModules(const Ask& ask);
// Names the tiles of this run of the server; another name, other tiles.
std::string TileSet(const Ask& ask);
// lanes.cc
Result<Response> PostMerge(const Ask& ask);
Result<Response> PostLanes(const Ask& ask);
// slice.cc, next.cc, peers.cc
Result<Response> GetSlice(const Ask& ask);
Result<Response> GetAt(const Ask& ask);
Result<Response> PostNext(const Ask& ask);
Result<Response> GetPeers(const Ask& ask);
// range.cc, hist.cc
Result<Response> PostRange(const Ask& ask);
Result<Response> PostHist(const Ask& ask);
// search.cc, flows.cc
Result<Response> PostSearch(const Ask& ask);
Result<Response> PostFlows(const Ask& ask);
// table.cc, sql.cc, metric.cc
Result<Response> PostTable(const Ask& ask);
Result<Response> PostExport(const Ask& ask);
Result<Response> PostSql(const Ask& ask);
Result<Response> PostSqlLanes(const Ask& ask);
Result<Response> GetSchema(const Ask& ask);
Result<Response> PostMetric(const Ask& ask);
// align.cc, explain.cc, explain_number.cc, compare.cc, snapshot.cc, trace.cc
Result<Response> PostAlign(const Ask& ask);
Result<Response> PostExplain(const Ask& ask);
Result<Response> ExplainNumber(const Ask& ask);
Result<Response> PostCompare(const Ask& ask);
Result<Response> PostSnapshot(const Ask& ask);
Result<Response> PostTrace(const Ask& ask);
// files.cc
Result<Response> GetFiles(Workspace& workspace, const Params& params);
Result<Response> PostOpen(Workspace& workspace, const Params& params);
Result<Response> PostUpload(Workspace& workspace, const Params& params);
Result<Response> PostRanks(const Ask& ask);
Result<Response> PostView(const Ask& ask);
Result<Response> GetView(const Ask& ask, std::string_view id);

}  // namespace steplens::server
