#include "server/socket_io.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace steplens::server {
namespace {

constexpr std::string_view kPolicy = "Content-Security-Policy";
constexpr std::pair<std::string_view, std::string_view> kUsualHeaders[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

bool HasHeader(const Response& response, std::string_view name) {
  return std::any_of(response.headers.begin(), response.headers.end(),
                     [&](const auto& header) { return header.first == name; });
}

bool IsChunked(const Response& response, const HttpRequest& request) {
  return response.stream && request.is_http11;
}

bool SendAll(int fd, std::string_view bytes, std::chrono::seconds patience) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    pollfd state{fd, POLLOUT, 0};
    const int timeout_ms = static_cast<int>(std::chrono::milliseconds(patience).count());
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || poll(&state, 1, timeout_ms) <= 0) return false;
  }
  return true;
}

bool SendStream(int fd, const Response& response, bool is_chunked, std::chrono::seconds patience) {
  bool has_more = true;
  while (has_more) {
    std::string piece;
    has_more = response.stream(piece);
    if (piece.empty()) {
      if (IsHungUp(fd)) return false;
      continue;
    }
    if (is_chunked) piece = fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
    if (!SendAll(fd, piece, patience)) return false;
  }
  // Without chunks the end of the connection is the end of the answer.
  return is_chunked && SendAll(fd, "0\r\n\r\n", patience);
}

}  // namespace

std::string PagePolicy(std::string_view frame_ancestors) {
  return fmt::format(
      "default-src 'self'; img-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors {}",
      frame_ancestors);
}

std::string HeadOf(const Response& response, const HttpRequest& request, bool keeps_alive) {
  std::string head = fmt::format("HTTP/1.1 {}\r\n", StatusLine(response.status));
  for (const auto& [name, value] : response.headers) head += fmt::format("{}: {}\r\n", name, value);
  if (!HasHeader(response, kPolicy))
    head += fmt::format("{}: {}\r\n", kPolicy, PagePolicy(kNoPages));
  for (const auto& [name, value] : kUsualHeaders) {
    if (!HasHeader(response, name)) head += fmt::format("{}: {}\r\n", name, value);
  }
  const bool has_body = response.status != 204 && response.status != 304;
  if (has_body) head += fmt::format("Content-Type: {}\r\n", response.content_type);
  if (IsChunked(response, request)) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (has_body && !response.stream) {
    head += fmt::format("Content-Length: {}\r\n", response.body.size());
  }
  if (!keeps_alive) head += "Connection: close\r\n";
  return head + "\r\n";
}

void TrySend(int fd, std::string_view bytes) {
  [[maybe_unused]] const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

bool SendResponse(int fd, const HttpRequest& request, const Response& response,
                  std::chrono::seconds patience) {
  std::string head = HeadOf(response, request, request.keeps_alive);
  if (request.method == "HEAD") return SendAll(fd, head, patience);
  if (!response.stream) {
    constexpr size_t kSmall = 64 << 10;  // small answers go out in one piece
    if (response.body.size() <= kSmall) return SendAll(fd, head + response.body, patience);
    return SendAll(fd, head, patience) && SendAll(fd, response.body, patience);
  }
  return SendAll(fd, head, patience) &&
         SendStream(fd, response, IsChunked(response, request), patience);
}

bool IsHungUp(int fd) {
  pollfd state{fd, POLLRDHUP, 0};
  return poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

int LocalPort(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace steplens::server
