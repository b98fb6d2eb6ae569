#include "server/http_message.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/number.h"

namespace steplens::server {
namespace {

constexpr size_t kMaxChunkLine = 64;
constexpr size_t kMaxTrailerBytes = 1 << 10;

bool IsTokenChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar);
}

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// Digits and nothing else.
std::optional<size_t> ParseSize(std::string_view text, int base) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void ParseQuery(std::string_view text, std::map<std::string, std::string, std::less<>>& out) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    if (pair.empty()) continue;
    out.emplace(DecodePercent(pair.substr(0, equals), true),
                DecodePercent(pair.substr(std::min(equals + 1, pair.size())), true));
  }
}

std::optional<char> HexByte(std::string_view two) {
  const std::optional<size_t> value = two.size() == 2 ? ParseSize(two, 16) : std::nullopt;
  return value ? std::optional<char>(static_cast<char>(*value)) : std::nullopt;
}

}  // namespace

std::string DecodePercent(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::optional<char> byte = text[i] == '%' ? HexByte(text.substr(i + 1, 2)) : std::nullopt;
    if (byte) i += 2;
    out += byte ? *byte : plus_is_blank && text[i] == '+' ? ' ' : text[i];
  }
  return out;
}

std::string_view StatusLine(int status) {
  static constexpr std::pair<int, std::string_view> kStatuses[] = {
      {200, "200 OK"},
      {204, "204 No Content"},
      {302, "302 Found"},
      {304, "304 Not Modified"},
      {400, "400 Bad Request"},
      {401, "401 Unauthorized"},
      {403, "403 Forbidden"},
      {404, "404 Not Found"},
      {405, "405 Method Not Allowed"},
      {408, "408 Request Timeout"},
      {413, "413 Content Too Large"},
      {414, "414 URI Too Long"},
      {415, "415 Unsupported Media Type"},
      {422, "422 Unprocessable Content"},
      {431, "431 Request Header Fields Too Large"},
      {500, "500 Internal Server Error"},
      {501, "501 Not Implemented"},
      {503, "503 Service Unavailable"},
      {505, "505 HTTP Version Not Supported"},
  };
  for (const auto& [number, line] : kStatuses) {
    if (number == status) return line;
  }
  return "500 Internal Server Error";
}

std::string_view HttpRequest::Header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return {};
}

HttpRequestParser::State HttpRequestParser::Fail(int status, std::string_view problem) {
  status_ = status;
  problem_ = problem;
  return state_ = State::kFailed;
}

HttpRequestParser::State HttpRequestParser::Advance(std::string& input) {
  if (state_ == State::kHead) return TakeHead(input);
  if (state_ == State::kBody) return is_chunked_ ? TakeChunks(input) : TakeSizedBody(input);
  return state_;
}

HttpRequestParser::State HttpRequestParser::TakeHead(std::string& input) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  // A blank line or two before a request is what some clients send after a body.
  if (searched_ == 0) input.erase(0, std::min(input.find_first_not_of("\r\n"), input.size()));
  const size_t end = input.find(kEnd, searched_);
  if (end == std::string::npos) {
    if (input.size() > kMaxHeadBytes) return Fail(431, "the head of the request is too large");
    searched_ = input.size() < kEnd.size() ? 0 : input.size() - kEnd.size() + 1;
    return state_;
  }
  if (end > kMaxHeadBytes) return Fail(431, "the head of the request is too large");
  if (!ParseHead(std::string_view(input).substr(0, end + 2))) return state_;
  input.erase(0, end + kEnd.size());
  return state_ = State::kBody;
}

// `head`: lines that end in CR LF.
bool HttpRequestParser::ParseHead(std::string_view head) {
  bool is_first = true;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(line.size() + 2);
    if (!(is_first ? ParseRequestLine(line) : ParseHeader(line))) return false;
    is_first = false;
  }
  return CheckHeaders();
}

bool HttpRequestParser::ParseRequestLine(std::string_view line) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || !IsToken(line.substr(0, first))) {
    Fail(400, "the first line is not METHOD TARGET VERSION");
    return false;
  }
  const std::string_view version = line.substr(last + 1);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    Fail(505, "only HTTP/1.1 and 1.0 are spoken here");
    return false;
  }
  if (target.size() > kMaxTargetBytes) {
    Fail(414, "the address is too long");
    return false;
  }
  const bool is_plain = std::all_of(target.begin(), target.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '\x7f';
  });
  if (!target.starts_with('/') || !is_plain) {
    Fail(400, "the address is not a path");
    return false;
  }
  request_.method = line.substr(0, first);
  request_.is_http11 = version == "HTTP/1.1";
  const std::string_view until_fragment = target.substr(0, target.find('#'));
  const size_t query = std::min(until_fragment.find('?'), until_fragment.size());
  request_.path = DecodePercent(until_fragment.substr(0, query), false);
  ParseQuery(until_fragment.substr(std::min(query + 1, until_fragment.size())), request_.query);
  return true;
}

bool HttpRequestParser::ParseHeader(std::string_view line) {
  if (request_.headers.size() == kMaxHeaders) {
    Fail(431, "the request has too many headers");
    return false;
  }
  const size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trim(line.substr(std::min(colon + 1, line.size())));
  const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' || c == '\t';
  });
  if (colon == line.size() || !IsToken(name) || !is_plain) {
    Fail(400, "a header is not NAME: VALUE");
    return false;
  }
  request_.headers.emplace_back(LowerCase(name), value);
  return true;
}

// What the headers say of the body and of the connection.
bool HttpRequestParser::CheckHeaders() {
  for (const std::string_view single : {"host", "content-length", "transfer-encoding",
                                        "content-encoding", "origin", "sec-fetch-site"}) {
    const auto count = std::count_if(request_.headers.begin(), request_.headers.end(),
                                     [&](const auto& header) { return header.first == single; });
    if (count > 1) {
      Fail(400, "a header that may come once came twice");
      return false;
    }
  }
  const std::string_view length = request_.Header("content-length");
  const std::string encoding = LowerCase(request_.Header("transfer-encoding"));
  const std::string packed = LowerCase(request_.Header("content-encoding"));
  const std::string connection = LowerCase(request_.Header("connection"));
  request_.keeps_alive = request_.is_http11 ? connection.find("close") == std::string::npos
                                            : connection.find("keep-alive") != std::string::npos;
  expects_continue_ = LowerCase(request_.Header("expect")) == "100-continue";
  if (!encoding.empty() && encoding != "chunked") {
    Fail(501, "of transfer encodings only 'chunked' is understood");
    return false;
  }
  is_chunked_ = !encoding.empty();
  if (is_chunked_ && !length.empty()) {
    Fail(400, "Content-Length and Transfer-Encoding exclude each other");
    return false;
  }
  if (!packed.empty() && packed != "identity") {
    Fail(415, "the body must not be packed (Content-Encoding)");
    return false;
  }
  const std::optional<size_t> size = length.empty() ? 0 : ParseSize(length, 10);
  if (!size || *size > kMaxBodyBytes) {
    // A number that no size_t holds is one that is too large.
    const bool is_number = length.find_first_not_of("0123456789") == std::string_view::npos;
    Fail(is_number ? 413 : 400,
         is_number ? "the request is larger than 1 MiB" : "Content-Length is not a number");
    return false;
  }
  body_left_ = *size;
  return true;
}

HttpRequestParser::State HttpRequestParser::TakeSizedBody(std::string& input) {
  const size_t take = std::min(body_left_, input.size());
  request_.body.append(input, 0, take);
  input.erase(0, take);
  body_left_ -= take;
  return state_ = body_left_ == 0 ? State::kDone : State::kBody;
}

HttpRequestParser::State HttpRequestParser::TakeChunks(std::string& input) {
  size_t at = 0;
  const auto stop_at = [&](State state) {
    input.erase(0, at);
    return state_ = state;
  };
  while (true) {
    if (chunk_ == Chunk::kData) {
      const size_t take = std::min(body_left_, input.size() - at);
      request_.body.append(input, at, take);
      at += take;
      body_left_ -= take;
      if (body_left_ > 0) return stop_at(State::kBody);
      chunk_ = Chunk::kDataEnd;
    }
    const size_t end = input.find("\r\n", at);
    if (end == std::string::npos) {
      const size_t held = input.size() - at;
      if (chunk_ == Chunk::kTrailer && held > kMaxTrailerBytes)
        return Fail(431, "too much follows the last chunk");
      if (chunk_ != Chunk::kTrailer && held > kMaxChunkLine)
        return Fail(400, "a chunk does not begin with its size");
      return stop_at(State::kBody);
    }
    const std::string_view line = std::string_view(input).substr(at, end - at);
    at = end + 2;
    if (chunk_ == Chunk::kDataEnd) {
      if (!line.empty()) return Fail(400, "a chunk is longer than its size");
      chunk_ = Chunk::kSize;
    } else if (chunk_ == Chunk::kSize) {
      const std::optional<size_t> size = ParseSize(Trim(line.substr(0, line.find(';'))), 16);
      if (!size || line.size() > kMaxChunkLine)
        return Fail(400, "a chunk does not begin with its size");
      if (*size > kMaxBodyBytes - request_.body.size())
        return Fail(413, "the request is larger than 1 MiB");
      body_left_ = *size;
      chunk_ = *size == 0 ? Chunk::kTrailer : Chunk::kData;
    } else if (line.empty()) {
      return stop_at(State::kDone);
    } else if ((trailer_bytes_ += line.size()) > kMaxTrailerBytes) {
      return Fail(431, "too much follows the last chunk");
    }
  }
}

}  // namespace steplens::server
