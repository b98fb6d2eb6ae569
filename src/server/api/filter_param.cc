#include "server/api/filter_param.h"

#include "server/filter_json.h"

namespace steplens::server {

Result<SliceFilter> FilterParam(const Ask& ask) {
  if (ask.params.Has("filter")) {
    SL_ASSIGN_OR_RETURN(const std::string terms, FilterText(ask.params.Raw("filter")));
    return SliceFilter::Parse(terms, MatchMode::kContains);
  }
  SL_ASSIGN_OR_RETURN(const std::string text, ask.params.Text("q"));
  SL_ASSIGN_OR_RETURN(const std::string mode_name, ask.params.TextOr("mode", "contains"));
  SL_ASSIGN_OR_RETURN(const MatchMode mode, ParseMatchMode(mode_name));
  return SliceFilter::Parse(text, mode);
}

}  // namespace steplens::server
