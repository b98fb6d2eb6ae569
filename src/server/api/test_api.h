#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "server/api/api.h"

namespace steplens::server {

// Requests to a workspace whose data set "d" is a job in memory.
class TestApi {
 public:
  explicit TestApi(store::Job job) { workspace_.Adopt("d", std::move(job)); }

  Response Send(Request request) { return Api(workspace_).Handle(request); }
  Response Ask(std::string method, std::string path, std::string body = "") {
    Request request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.body = std::move(body);
    return Send(std::move(request));
  }
  static JsonDocument Json(const Response& response) {
    EXPECT_EQ(response.status, 200) << response.body;
    Result<JsonDocument> document = JsonDocument::Parse(response.body, "answer");
    EXPECT_TRUE(document.ok());
    return *std::move(document);
  }
  JsonDocument Post(std::string path, std::string body) {
    return Json(Ask("POST", "/ds/d/" + std::move(path), std::move(body)));
  }
  // The id of a lane.
  int64_t TrackOf(std::string_view path) {
    const JsonDocument tracks = Json(Ask("GET", "/ds/d/tracks"));
    int64_t id = 0;
    tracks.root()["rows"].ForEachElement([&](JsonValue row) {
      std::vector<JsonValue> cells;
      row.ForEachElement([&](JsonValue cell) { cells.push_back(cell); });
      if (cells[4].AsString() == path) id = *cells[0].AsInt();
    });
    EXPECT_NE(id, 0) << path;
    return id;
  }

 private:
  Workspace workspace_{{}};
};

}  // namespace steplens::server
