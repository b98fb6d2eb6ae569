#include "server/api/api.h"

#include <fmt/format.h>

#include <array>

#include "base/cancel.h"
#include "server/api/handlers.h"

namespace steplens::server {
namespace {

using Handler = Result<Response> (*)(const Ask&);

struct Route {
  std::string_view method;
  std::string_view path;  // behind /ds/{ds}
  Handler handler;
  bool needs_job = false;  // waits until all ranks are read
};

Result<Response> PostFocus(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(std::vector<int64_t> ranks, ask.params.Ints("ranks"));
  ask.open.dataset->Focus(std::move(ranks));
  Response response;
  response.status = 204;
  return response;
}

Result<Response> PostStop(const Ask& ask) {
  ask.open.dataset->StopReading();
  Response response;
  response.status = 204;
  return response;
}

constexpr std::array kRoutes = {
    Route{"GET", "", GetDataset},
    Route{"GET", "/tracks", GetTracks},
    Route{"GET", "/strings", GetTopStrings},
    Route{"POST", "/strings", PostStrings},
    Route{"GET", "/tile", GetTile},
    Route{"GET", "/modules", GetModules},
    Route{"GET", "/slice", GetSlice},
    Route{"GET", "/at", GetAt},
    Route{"GET", "/peers", GetPeers, true},
    Route{"POST", "/merge", PostMerge},
    Route{"POST", "/lanes", PostLanes},
    Route{"POST", "/range", PostRange},
    Route{"POST", "/hist", PostHist},
    Route{"POST", "/search", PostSearch},
    Route{"POST", "/next", PostNext},
    Route{"POST", "/flows", PostFlows},
    Route{"POST", "/table", PostTable, true},
    Route{"POST", "/export", PostExport, true},
    Route{"GET", "/export", PostExport, true},
    Route{"POST", "/sql", PostSql, true},
    Route{"POST", "/sql_lanes", PostSqlLanes, true},
    Route{"GET", "/schema", GetSchema, true},
    Route{"POST", "/metric", PostMetric, true},
    Route{"POST", "/align", PostAlign},
    Route{"POST", "/explain", PostExplain, true},
    Route{"POST", "/compare", PostCompare, true},
    Route{"POST", "/snapshot", PostSnapshot},
    Route{"POST", "/trace", PostTrace},
    Route{"GET", "/trace", PostTrace},
    Route{"POST", "/focus", PostFocus},
    Route{"POST", "/stop", PostStop},
    Route{"POST", "/ranks", PostRanks},
    Route{"POST", "/view", PostView},
};
constexpr std::string_view kViewPrefix = "/view/";

Result<Params> ParamsOf(const Request& request) {
  if (request.method == "GET") {
    const auto body = request.query.find("body");
    if (body == request.query.end()) return Params::FromQuery(request.query);
    return Params::FromBody(body->second);
  }
  if (request.body.empty()) return Params::FromBody("{}");
  return Params::FromBody(request.body);
}

Response Answered(Result<Response> result) {
  if (!result.ok()) return ErrorResponse(result.error());
  return *std::move(result);
}

Response NoSuchRequest(const Request& request) {
  return ErrorResponse(404, "not_found",
                       fmt::format("there is no request {} {}", request.method, request.path));
}

const Route* FindRoute(std::string_view method, std::string_view path) {
  for (const Route& route : kRoutes) {
    if (route.method == method && route.path == path) return &route;
  }
  return nullptr;
}

Result<Response> Answer(Workspace& workspace, OpenDataset& open, const Request& request,
                        const Params& params, const Route* route, std::string_view rest) {
  if (route != nullptr && route->needs_job) open.dataset->WaitReady(kPatience);
  const Dataset::View view(*open.dataset);
  Ask ask{workspace, open, view, params, request};
  SL_ASSIGN_OR_RETURN(const int64_t align, params.IntOr("align", 0));
  ask.align = static_cast<uint32_t>(align);
  for (size_t slot = 0; slot < view.ranks().size(); ++slot) {
    const auto base_ns = view.BaseNs(slot, ask.align);
    if (!base_ns || align < 0 || align > UINT32_MAX)
      return Error{ErrorCode::kInvalidArgument, fmt::format("there is no alignment {}", align)};
    ask.base_ns.push_back(*base_ns);
  }
  // Cancelled loops just end; their result is discarded.
  const CancelScope until_gone(request.is_gone);
  Result<Response> response =
      route != nullptr ? route->handler(ask) : GetView(ask, rest.substr(kViewPrefix.size()));
  if (IsCancelled()) return Error{ErrorCode::kCancelled, "the client went away"};
  return response;
}

}  // namespace

Response Api::Handle(const Request& request) {
  constexpr std::string_view kDataset = "/ds/";
  const std::string_view path = request.path;
  if (path.starts_with(kDataset)) return HandleDataset(request, path.substr(kDataset.size()));
  if (request.method == "GET" && path == "/info") return Answered(GetInfo(workspace_));
  const Result<Params> params = ParamsOf(request);
  if (!params.ok()) return ErrorResponse(params.error());
  if (request.method == "GET" && path == "/fs") return Answered(GetFiles(workspace_, *params));
  if (request.method == "POST" && path == "/open") return Answered(PostOpen(workspace_, *params));
  if (request.method == "POST" && path == "/upload")
    return Answered(PostUpload(workspace_, *params));
  if (request.method == "POST" && path == "/tiles") {
    const Result<std::string> id = params->Text("ds");
    if (!id.ok()) return ErrorResponse(id.error());
    OpenDataset* open = workspace_.Find(*id);
    if (open == nullptr) return ErrorResponse(404, "not_found", "there is no data set " + *id);
    static constexpr Route kTiles{"POST", "/tiles", PostTiles};
    return Answered(Answer(workspace_, *open, request, *params, &kTiles, {}));
  }
  return NoSuchRequest(request);
}

Response Api::HandleDataset(const Request& request, std::string_view rest) {
  const std::string_view id = rest.substr(0, rest.find('/'));
  rest.remove_prefix(id.size());
  OpenDataset* open = workspace_.Find(id);
  if (open == nullptr)
    return ErrorResponse(404, "not_found", fmt::format("there is no data set '{}'", id),
                         "it may belong to another run of the server");
  const Route* route = FindRoute(request.method, rest);
  const bool is_view = request.method == "GET" && rest.starts_with(kViewPrefix);
  if (route == nullptr && !is_view) return NoSuchRequest(request);
  const Result<Params> params = ParamsOf(request);
  if (!params.ok()) return ErrorResponse(params.error());
  return Answered(Answer(workspace_, *open, request, *params, route, rest));
}

}  // namespace steplens::server
