// Requests to the viewer's API, past the socket: the first byte chooses the request, the rest is
// its body or query. Whatever is asked, the answer is whole and its status one of HTTP. 255: the
// headers that decide who is let in; 254: bytes as they come from a socket.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analysis/testing/store_builder.h"
#include "server/admission.h"
#include "server/api/api.h"
#include "server/http_message.h"

namespace {

using namespace steplens;          // NOLINT
using namespace steplens::server;  // NOLINT

// Two ranks with every kind of lane.
store::Job SmallJob() {
  store::Job job;
  for (int64_t rank = 0; rank < 2; ++rank) {
    analysis::StoreBuilder builder;
    const auto host = builder.ThreadOf("Python", "Thread 1");
    const auto stream = builder.ThreadOf("Ascend Hardware", "Stream 2");
    const auto group = builder.ThreadOf("HCCL", "Group 0 Communication");
    for (int64_t i = 0; i < 40; ++i) {
      const int64_t t = 1000 + i * 100 + rank;
      builder.Slice(host, t, t + 90, "aten::op", "cpu_op");
      builder.Slice(host, t + 10, t + 20, "f", "python_function");
      builder.Slice(stream, t + 30, t + 80, "kernel", "AI_CORE");
      builder.Flow("async_npu", host, t, stream, t + 30);
      builder.Kernel("kernel", "MatMul", "AI_CORE", t + 30, t + 80);
    }
    builder.Slice(group, 1500, 1800, "hcom_allReduce__1");
    builder.CommOp("hcom_allReduce__1", 1500, 1800, group);
    builder.Step(1, 1000, 3000);
    builder.store.info.rank = rank;
    job.ranks.push_back(std::move(builder.store));
  }
  return job;
}

// Not /sql: a query may run as long as its time allows, and SQLite is fuzzed by its authors.
constexpr const char* kPosts[] = {"/tiles",       "/open",        "/ds/d/range",   "/ds/d/hist",
                                  "/ds/d/search", "/ds/d/next",   "/ds/d/flows",   "/ds/d/table",
                                  "/ds/d/export", "/ds/d/metric", "/ds/d/align",   "/ds/d/explain",
                                  "/ds/d/view",   "/ds/d/focus",  "/ds/d/strings", "/ds/d/snapshot",
                                  "/ds/d/merge",  "/ds/d/lanes",  "/ds/d/trace"};
constexpr const char* kGets[] = {"/info",        "/fs",           "/ds/d",
                                 "/ds/d/tracks", "/ds/d/strings", "/ds/d/slice",
                                 "/ds/d/at",     "/ds/d/schema",  "/ds/d/peers"};

// "a=1&b=2" without escapes.
void ParseQuery(const std::string& text, Request& request) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('&', at), text.size());
    const std::string pair = text.substr(at, end - at);
    const size_t equals = std::min(pair.find('='), pair.size());
    request.query[pair.substr(0, equals)] = pair.substr(std::min(equals + 1, pair.size()));
    at = end + 1;
  }
}

// In two pieces, as in one, the parser comes to the same end and keeps to its limits.
void FuzzParser(const std::string& text) {
  HttpRequestParser whole;
  HttpRequestParser parts;
  const auto feed = [](HttpRequestParser& parser, std::string& input) {
    HttpRequestParser::State before;
    do {
      before = parser.state();
    } while (parser.Advance(input) != before);
  };
  std::string input = text;
  feed(whole, input);
  input = text.substr(0, text.size() / 2);
  feed(parts, input);
  input += text.substr(text.size() / 2);
  feed(parts, input);
  if (whole.state() != parts.state() || whole.request().body != parts.request().body ||
      whole.request().body.size() > kMaxBodyBytes)
    std::abort();
}

void FuzzHead(const std::string& text) {
  std::string parts[10];
  size_t part = 0;
  for (const char c : text) {
    if (c == '\n' && part + 1 < std::size(parts)) {
      ++part;
    } else {
      parts[part] += c;
    }
  }
  Refuse({parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], parts[7], parts[8],
          parts[9]},
         {"127.0.0.1", "0123", "steplens_1"});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Workspace* const workspace = [] {
    auto* made = new Workspace({});
    made->Adopt("d", SmallJob());
    return made;
  }();
  static Api api(*workspace);
  if (size == 0) return 0;
  const std::string rest(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] == 255) {
    FuzzHead(rest);
    return 0;
  }
  if (data[0] == 254) {
    FuzzParser(rest);
    return 0;
  }
  Request request;
  const size_t choice = data[0] % (std::size(kPosts) + std::size(kGets) + 1);
  if (choice < std::size(kPosts)) {
    request.method = "POST";
    request.path = kPosts[choice];
    request.body = rest;
  } else if (choice < std::size(kPosts) + std::size(kGets)) {
    request.method = "GET";
    request.path = kGets[choice - std::size(kPosts)];
    ParseQuery(rest, request);
  } else {
    request.method = "GET";
    request.path = rest;
  }
  const Response response = api.Handle(request);
  if (response.status < 200 || response.status > 599) std::abort();
  if (response.stream) {
    std::string piece;
    while (response.stream(piece)) piece.clear();
  }
  return 0;
}
