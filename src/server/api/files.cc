#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "readers/ascend_text/ascend_text.h"
#include "server/api/handlers.h"
#include "server/view_file.h"

namespace steplens::server {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMaxEntries = 10'000;

bool HasSuffix(std::string_view name, std::initializer_list<std::string_view> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

// A guess from the name; opening the file verifies it.
std::string Recognise(const std::string& name, bool is_folder) {
  if (is_folder) {
    if (HasSuffix(name, {"_ascend_pt", "_ascend_ms"})) return "rank";
    if (name == "ASCEND_PROFILER_OUTPUT" || name == "mindstudio_profiler_output") return "rank";
    return name.starts_with("PROF_") ? "msprof" : "";
  }
  if (HasSuffix(name, {".json", ".json.gz"})) return "trace";
  if (HasSuffix(name, {".db", ".sqlite"})) return "db";
  return readers::ClassifyTextFile(name) == readers::TextFileKind::kUnknown ? "" : "results";
}

struct Entry {
  std::string name;
  bool is_folder = false;
  int64_t size = 0;
};

// Without links that lead elsewhere: not even the size of what is outside is shown.
Result<std::vector<Entry>> List(const Workspace& workspace, const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (entries.size() == kMaxEntries) break;
    std::error_code ignored;
    if (it->is_symlink(ignored) && !workspace.Admit(it->path().string()).ok()) continue;
    Entry entry{it->path().filename().string(), it->is_directory(ignored)};
    if (!entry.is_folder) {
      const auto size = it->file_size(ignored);
      entry.size = ignored ? 0 : static_cast<int64_t>(size);
    }
    entries.push_back(std::move(entry));
  }
  if (error)
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: cannot list the folder: {}", folder, error.message())};
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.is_folder != b.is_folder ? a.is_folder : a.name < b.name;
  });
  return entries;
}

// Reading a data set is a job, which goes by the same name.
Response OpenedResponse(const std::string& id) {
  JsonWriter json;
  json.BeginObject().Key("ds").String(id).Key("job").String(id).EndObject();
  return JsonResponse(std::move(json));
}

// Bytes of a text in base64, with its padding; nothing if it is none.
std::optional<std::string> DecodeBase64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::array<int8_t, 256> value;
  value.fill(-1);
  for (size_t i = 0; i < kDigits.size(); ++i)
    value[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  std::string out;
  out.reserve(text.size() / 4 * 3 + 3);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int8_t digit = value[static_cast<unsigned char>(c)];
    if (digit < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count & 255));
  }
  return out;
}

}  // namespace

Result<Response> GetFiles(Workspace& workspace, const Params& params) {
  SL_ASSIGN_OR_RETURN(const std::string path, params.TextOr("path", ""));
  JsonWriter json;
  json.BeginObject();
  if (path.empty()) {
    json.Key("path").String("").Key("entries").BeginArray();
    for (const std::string& root : workspace.roots()) {
      std::error_code error;
      const bool is_folder = fs::is_directory(root, error);
      json.BeginObject().Key("name").String(root).Key("kind").String(is_folder ? "dir" : "file");
      json.Key("size").Int(0).Key("recognised").String("").EndObject();
    }
  } else {
    SL_ASSIGN_OR_RETURN(const std::string real, workspace.Admit(path));
    SL_ASSIGN_OR_RETURN(const std::vector<Entry> entries, List(workspace, real));
    json.Key("path").String(real).Key("entries").BeginArray();
    for (const Entry& entry : entries) {
      json.BeginObject().Key("name").String(entry.name);
      json.Key("kind").String(entry.is_folder ? "dir" : "file").Key("size").Int(entry.size);
      json.Key("recognised").String(Recognise(entry.name, entry.is_folder)).EndObject();
    }
  }
  json.EndArray().EndObject();
  return JsonResponse(std::move(json));
}

Result<Response> PostOpen(Workspace& workspace, const Params& params) {
  SL_ASSIGN_OR_RETURN(const std::string path, params.Text("path"));
  SL_ASSIGN_OR_RETURN(std::string real, workspace.Admit(path));
  SL_ASSIGN_OR_RETURN(const std::string id, workspace.Open({std::move(real)}));
  return OpenedResponse(id);
}

Result<Response> PostUpload(Workspace& workspace, const Params& params) {
  SL_ASSIGN_OR_RETURN(const std::string name, params.Text("name"));
  SL_ASSIGN_OR_RETURN(const int64_t at, params.IntOr("at", 0));
  SL_ASSIGN_OR_RETURN(const std::string text, params.Text("data"));
  const std::optional<std::string> bytes = DecodeBase64(text);
  if (!bytes) return Error{ErrorCode::kInvalidArgument, "'data' is not base64"};
  SL_ASSIGN_OR_RETURN(
      const std::string path,
      workspace.Upload(name, static_cast<uint64_t>(std::max<int64_t>(0, at)), *bytes));
  JsonWriter json;
  json.BeginObject().Key("path").String(path).EndObject();
  return JsonResponse(std::move(json));
}

Result<Response> PostRanks(const Ask& ask) {
  const JsonValue given = ask.params.Raw("ranks");
  if (!given.IsObject()) return Error{ErrorCode::kInvalidArgument, "'ranks' is not an object"};
  RankNumbers numbers = ask.open.dataset->numbers();
  bool sound = true;
  given.ForEachMember([&](std::string_view path, JsonValue value) {
    const std::optional<int64_t> rank = WholeNumber(value);
    sound = sound && rank && *rank >= 0;
    if (sound) numbers.insert_or_assign(std::string(path), *rank);
  });
  if (!sound)
    return Error{ErrorCode::kInvalidArgument, "'ranks' must give each path a number from 0 on"};
  SL_ASSIGN_OR_RETURN(const std::string id,
                      ask.workspace.Open(ask.open.dataset->paths(), std::move(numbers)));
  return OpenedResponse(id);
}

Result<Response> PostView(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::string id, KeepView(ask.workspace, ask.request.body));
  JsonWriter json;
  json.BeginObject().Key("id").String(id).EndObject();
  return JsonResponse(std::move(json));
}

Result<Response> GetView(const Ask& ask, std::string_view id) {
  Response response;
  SL_ASSIGN_OR_RETURN(response.body, ReadView(ask.workspace, id));
  return response;
}

}  // namespace steplens::server
