#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/api/request.h"

namespace steplens::server {

// What decides whether a request is answered at all.
struct Admission {
  std::string host;    // what the server is bound to
  std::string secret;  // empty: none is needed
  std::string cookie;  // name of the cookie that carries the secret
};
struct RequestHead {
  std::string_view method;
  std::string_view path;
  std::string_view host;          // header Host
  std::string_view origin;        // header Origin; empty if absent
  std::string_view cookies;       // header Cookie
  std::string_view token;         // header X-Steplens-Token
  std::string_view steplens;      // header X-Steplens
  std::string_view content_type;  // header Content-Type
  std::string_view fetch_site{};  // header Sec-Fetch-Site
  std::string_view fetch_mode{};  // header Sec-Fetch-Mode
};

// The refusal of a request; nothing if it may pass. A page of another site can send requests to a
// server on this machine, and give a name of its own to this machine's address: the first is
// refused by Origin, by Sec-Fetch-Site and by the header that only our page sends, the second by
// Host. `is_login`: it brings a token in its address instead, and may come by a link from anywhere.
std::optional<Response> Refuse(const RequestHead& head, const Admission& admission,
                               bool is_login = false);
// Whether the request carries the secret, as cookie or header.
bool HasSecret(const RequestHead& head, const Admission& admission);

// The name in a Host header, without the port: "[::1]:80" -> "[::1]". Nothing if it is not exactly
// a name or an address and, perhaps, a port.
std::optional<std::string_view> ParseHost(std::string_view host);

// Whether two texts are equal, in a time that does not tell where they differ.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace steplens::server
