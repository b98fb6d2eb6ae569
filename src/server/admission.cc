#include "server/admission.h"

#include "base/number.h"

namespace steplens::server {
namespace {

constexpr size_t kMaxPath = 500;

// "[::1]:8080" -> "[::1]", "localhost:8080" -> "localhost".
std::string_view WithoutPort(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool IsLoopback(std::string_view name) {
  return name == "127.0.0.1" || name == "localhost" || name == "[::1]" || name == "::1";
}

// Any port: a tunnel (ssh -L) may end at another one.
bool IsOurHost(std::string_view host, std::string_view bound) {
  const std::string_view name = WithoutPort(host);
  if (name.empty()) return false;
  if (IsLoopback(name) || name == bound) return true;
  // Bound to every address: known under many names; the token is what protects it.
  return bound == "0.0.0.0" || bound == "::";
}

bool IsOurOrigin(std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size()) == host;
  }
  return false;
}

bool HasToken(const RequestHead& head, const Admission& admission) {
  if (EqualInConstantTime(head.token, admission.token)) return true;
  std::string_view rest = head.cookies;
  while (!rest.empty()) {
    const std::string_view pair = Trim(rest.substr(0, rest.find(';')));
    rest.remove_prefix(std::min(rest.find(';'), rest.size() - 1) + 1);
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == admission.cookie &&
        EqualInConstantTime(pair.substr(equals + 1), admission.token))
      return true;
  }
  return false;
}

}  // namespace

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

std::optional<Response> Refuse(const RequestHead& head, const Admission& admission) {
  if (!IsOurHost(head.host, admission.host))
    return ErrorResponse(403, "wrong_host", "the Host header does not name this server",
                         "open the address that steplens printed");
  if (!head.origin.empty() && !IsOurOrigin(head.origin, head.host))
    return ErrorResponse(403, "wrong_origin", "the request comes from a page of another site");
  if (head.method != "GET" && head.method != "POST" && head.method != "HEAD")
    return ErrorResponse(405, "method", "only GET and POST are answered");
  if (head.path.size() > kMaxPath) return ErrorResponse(414, "too_long", "the path is too long");
  if (!admission.token.empty() && !HasToken(head, admission))
    return ErrorResponse(401, "no_token", "the token is missing or wrong",
                         "open the address that steplens printed, with its ?token=...");
  if (head.method == "POST") {
    if (head.steplens != "1")
      return ErrorResponse(403, "no_header", "a POST needs the header X-Steplens: 1");
    if (!head.content_type.starts_with("application/json"))
      return ErrorResponse(415, "content_type", "a POST needs Content-Type: application/json");
  }
  return std::nullopt;
}

}  // namespace steplens::server
