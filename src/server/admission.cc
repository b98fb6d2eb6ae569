#include "server/admission.h"

#include <strings.h>

#include "base/number.h"

namespace steplens::server {
namespace {

constexpr size_t kMaxPath = 500;

constexpr std::string_view kAddressChars = "0123456789abcdefABCDEF:.";
constexpr std::string_view kNameChars =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._";

bool ConsistsOf(std::string_view text, std::string_view chars) {
  return !text.empty() && text.find_first_not_of(chars) == std::string_view::npos;
}

bool EqualFolded(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool IsLoopback(std::string_view name) {
  return name == "127.0.0.1" || EqualFolded(name, "localhost") || name == "[::1]";
}

// Any port: a tunnel (ssh -L) may end at another one.
bool IsOurHost(std::string_view host, std::string_view bound) {
  const std::optional<std::string_view> name = ParseHost(host);
  if (!name) return false;
  if (IsLoopback(*name) || EqualFolded(*name, bound)) return true;
  if (name->starts_with('[') && EqualFolded(name->substr(1, name->size() - 2), bound)) return true;
  // Bound to every address: known under many names; the token is what protects it.
  return bound == "0.0.0.0" || bound == "::";
}

bool IsOurOrigin(std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size()) == host;
  }
  return false;
}

// A browser says which site's page asks, also for pictures and the like that carry no Origin.
// Pages of other ports of this machine ("same-site") may link to us, but not load from us.
bool IsFromElsewhere(const RequestHead& head) {
  return head.fetch_site == "cross-site" ||
         (head.fetch_site == "same-site" && head.fetch_mode != "navigate");
}

}  // namespace

std::optional<std::string_view> ParseHost(std::string_view host) {
  const bool is_bracketed = host.starts_with('[');
  const size_t end = is_bracketed ? host.find(']') : std::min(host.find(':'), host.size()) - 1;
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view name = host.substr(0, end + 1);
  const std::string_view port = host.substr(end + 1);
  const bool is_name = is_bracketed ? ConsistsOf(name.substr(1, name.size() - 2), kAddressChars)
                                    : ConsistsOf(name, kNameChars);
  const bool is_port = port.empty() || (port.size() <= 6 && port[0] == ':' &&
                                        ConsistsOf(port.substr(1), "0123456789"));
  if (!is_name || !is_port) return std::nullopt;
  return name;
}

bool HasSecret(const RequestHead& head, const Admission& admission) {
  if (EqualInConstantTime(head.token, admission.secret)) return true;
  std::string_view rest = head.cookies;
  while (!rest.empty()) {
    const std::string_view pair = Trim(rest.substr(0, rest.find(';')));
    rest.remove_prefix(std::min(rest.find(';'), rest.size() - 1) + 1);
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == admission.cookie &&
        EqualInConstantTime(pair.substr(equals + 1), admission.secret))
      return true;
  }
  return false;
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

std::optional<Response> Refuse(const RequestHead& head, const Admission& admission, bool is_login) {
  if (!IsOurHost(head.host, admission.host))
    return ErrorResponse(403, "wrong_host", "the Host header does not name this server",
                         "open the address that steplens printed");
  if (!head.origin.empty() && !IsOurOrigin(head.origin, head.host))
    return ErrorResponse(403, "wrong_origin", "the request comes from a page of another site");
  if (IsFromElsewhere(head) && !(is_login && head.fetch_mode == "navigate"))
    return ErrorResponse(403, "wrong_site", "the request comes from a page of another site",
                         "type or paste the address that steplens printed");
  if (head.method != "GET" && head.method != "POST" && head.method != "HEAD")
    return ErrorResponse(405, "method", "only GET and POST are answered");
  if (head.path.size() > kMaxPath) return ErrorResponse(414, "too_long", "the path is too long");
  if (!is_login && !admission.secret.empty() && !HasSecret(head, admission))
    return ErrorResponse(401, "no_token", "the token is missing or wrong",
                         "open the newest address that steplens printed, with its ?token=...");
  if (head.method == "POST") {
    if (head.steplens != "1")
      return ErrorResponse(403, "no_header", "a POST needs the header X-Steplens: 1");
    if (!head.content_type.starts_with("application/json"))
      return ErrorResponse(415, "content_type", "a POST needs Content-Type: application/json");
  }
  return std::nullopt;
}

}  // namespace steplens::server
