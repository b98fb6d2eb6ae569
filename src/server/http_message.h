#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steplens::server {

// What a request may have before anybody knows who sent it. The body counts as it is once decoded.
inline constexpr size_t kMaxHeadBytes = 32 << 10;
inline constexpr size_t kMaxHeaders = 100;
inline constexpr size_t kMaxTargetBytes = 8 << 10;
inline constexpr size_t kMaxBodyBytes = 1 << 20;

struct HttpRequest {
  std::string method;
  std::string path;                                          // decoded, without the query
  std::map<std::string, std::string, std::less<>> query;     // decoded; of equal names the first
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  bool is_http11 = true;
  bool keeps_alive = true;  // the connection is to stay open

  std::string_view Header(std::string_view lower_case_name) const;  // empty if absent
};

// Takes HTTP/1.0 and 1.1 requests apart as their bytes arrive. Never holds more than the limits
// above. What two readers could understand differently is refused: a length given twice, lines
// that go on, blanks in names, bodies that are packed (Content-Encoding).
class HttpRequestParser {
 public:
  enum class State : uint8_t { kHead, kBody, kDone, kFailed };

  // Takes bytes from the front of `input`. Stops after the head, once, so that the caller can look
  // at it before it takes a body; after the body; and at the first error.
  State Advance(std::string& input);
  State state() const { return state_; }
  const HttpRequest& request() const { return request_; }
  HttpRequest Take() { return std::move(request_); }  // when kDone
  // Whether the client waits for "100 Continue" before it sends the body.
  bool expects_continue() const { return expects_continue_; }
  // Of kFailed: the status and a sentence.
  int status() const { return status_; }
  std::string_view problem() const { return problem_; }

 private:
  enum class Chunk : uint8_t { kSize, kData, kDataEnd, kTrailer };

  State Fail(int status, std::string_view problem);
  State TakeHead(std::string& input);
  bool ParseHead(std::string_view head);
  bool ParseRequestLine(std::string_view line);
  bool ParseHeader(std::string_view line);
  bool CheckHeaders();
  State TakeSizedBody(std::string& input);
  State TakeChunks(std::string& input);

  State state_ = State::kHead;
  HttpRequest request_;
  size_t searched_ = 0;  // bytes of the input in which the end of the head is not
  bool is_chunked_ = false;
  size_t body_left_ = 0;  // of the body, or of the chunk
  Chunk chunk_ = Chunk::kSize;
  size_t trailer_bytes_ = 0;
  bool expects_continue_ = false;
  int status_ = 0;
  std::string_view problem_;
};

// "%41+b" -> "A b" ('+' only where it stands for a blank). What is no escape stays.
std::string DecodePercent(std::string_view text, bool plus_is_blank);

// "404 Not Found".
std::string_view StatusLine(int status);

}  // namespace steplens::server
