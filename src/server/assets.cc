#include "server/assets.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/gzip.h"
#include "base/hash.h"
#include "server/embedded.h"

namespace steplens::server {
namespace {

constexpr std::string_view kNoApp =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>steplens</title>"
    "<h1>The web app is not in this program</h1>"
    "<p>It was built without <code>ui/dist</code>. Build it and the program again: "
    "<code>cd ui &amp;&amp; npm ci &amp;&amp; npm run build</code>, then <code>make</code>; "
    "or start with <code>steplens view --assets ui/dist PATH</code>.</p>"
    "<p>The API is at <code>api/v1/info</code>.</p></html>";

struct TypeOfName {
  std::string_view suffix;
  std::string_view type;
};
constexpr TypeOfName kTypes[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".map", "application/json"},
};

std::string_view ContentType(std::string_view name) {
  for (const TypeOfName& type : kTypes) {
    if (name.ends_with(type.suffix)) return type.type;
  }
  return "application/octet-stream";
}

std::string Unpack(std::string_view packed) {
  const auto source = MakeGzipSource(MakeMemorySource(packed), "asset");
  std::string out;
  std::string buffer(1 << 16, '\0');
  while (true) {
    const Result<size_t> got = source->Read(buffer.data(), buffer.size());
    if (!got.ok() || *got == 0) return out;
    out.append(buffer, 0, *got);
  }
}

// Names with a hash live in assets/.
Asset MakeAsset(std::string_view name, std::string body, bool is_packed, bool accepts_gzip) {
  Asset asset;
  asset.etag = fmt::format("\"{:016x}\"", Hash64(body));
  asset.is_gzip = is_packed && accepts_gzip;
  asset.body = is_packed && !accepts_gzip ? Unpack(body) : std::move(body);
  asset.content_type = ContentType(name);
  asset.is_immutable = name.starts_with("assets/");
  return asset;
}

// Plain names only: no "..", no hidden files, nothing absolute.
bool IsPlain(std::string_view name) {
  if (name.empty() || name.size() > 200 || name.front() == '/' || name.front() == '.') return false;
  if (name.find("..") != std::string_view::npos || name.find("/.") != std::string_view::npos)
    return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ||
           c == '/';
  });
}

}  // namespace

std::optional<Asset> Assets::FromFolder(const std::string& name, bool accepts_gzip) const {
  if (accepts_gzip) {
    if (Result<std::string> packed = ReadFile(folder_ + "/" + name + ".gz"); packed.ok())
      return MakeAsset(name, *std::move(packed), true, true);
  }
  Result<std::string> plain = ReadFile(folder_ + "/" + name);
  if (!plain.ok()) return std::nullopt;
  return MakeAsset(name, *std::move(plain), false, accepts_gzip);
}

std::optional<Asset> Assets::Find(std::string_view path, bool accepts_gzip) const {
  const std::string name = path == "/" ? "index.html" : std::string(path.substr(1));
  if (!IsPlain(name)) return std::nullopt;
  if (!folder_.empty()) return FromFolder(name, accepts_gzip);
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    const bool is_packed = file.name == name + ".gz";
    if (!is_packed && file.name != name) continue;
    return MakeAsset(name, std::string(file.begin, file.end), is_packed, accepts_gzip);
  }
  if (name == "index.html") return MakeAsset(name, std::string(kNoApp), false, accepts_gzip);
  return std::nullopt;
}

}  // namespace steplens::server
