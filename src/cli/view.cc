#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "base/cancel.h"
#include "base/memory_limit.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/redirect_page.h"
#include "cli/version.h"
#include "server/http_server.h"
#include "server/view_file.h"
#include "store/cache.h"

namespace steplens::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{500};

bool HasDisplay() {
  const char* x11 = std::getenv("DISPLAY");
  const char* wayland = std::getenv("WAYLAND_DISPLAY");
  return (x11 != nullptr && *x11 != '\0') || (wayland != nullptr && *wayland != '\0');
}

// Hands the page to the desktop; that no browser comes up is not our failure.
void OpenBrowser(const RedirectPage& page) {
  if (!page.is_there()) return;
  std::string program = "xdg-open";
  std::string argument = page.path();
  char* words[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", 1, 0);
  pid_t child = 0;
  // Not waited for: it ends with this process at the latest. Its children have their own limits.
  const MemoryLimitLifted lifted;
  posix_spawnp(&child, "xdg-open", &quiet, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&quiet);
}

bool IsLoopback(const std::string& host) {
  return host == "127.0.0.1" || host == "localhost" || host == "::1";
}

void PrintAddress(const std::string& url, const std::string& host, int port, bool has_display) {
  fmt::print("{}\n", url);
  std::fflush(stdout);
  if (!has_display && IsLoopback(host)) {
    char name[256] = "this-host";
    gethostname(name, sizeof(name) - 1);
    fmt::print(
        stderr,
        "No display here. On your own machine run  ssh -N -L {0}:127.0.0.1:{0} {1}  and open "
        "the address above there.\n",
        port, name);
  }
  fmt::print(stderr, "Ctrl-C ends the viewer.\n");
}

Result<server::HttpOptions> HttpOptionsOf(const Arguments& arguments) {
  server::HttpOptions options;
  options.host = arguments.Value("--host");
  options.assets_folder = arguments.Value("--assets");
  options.in_frame = arguments.Has("--in-frame");
  const int64_t port = arguments.Integer("--port").value_or(0);
  if (port < 0 || port > 65535)
    return Error{ErrorCode::kInvalidArgument, fmt::format("view: --port {}: not a port", port)};
  options.port = static_cast<int>(port);
  if (arguments.Value("--token") == "none") {
    if (!IsLoopback(options.host))
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("view: --token none is for the loopback address only; with --host "
                               "{} everybody could read your data",
                               options.host)};
    options.needs_token = false;
  }
  return options;
}

// Ends the process a few seconds after it was asked to end, even if its threads hang: a
// function of SQL over a long text, a file on a disk that does not answer. Usually it ends by
// itself, and takes this thread along.
std::jthread EndForSure() try {
  static constexpr std::chrono::seconds kTimeToEnd{3};
  return std::jthread([](const std::stop_token& ended) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_for(lock, ended, kTimeToEnd, [] { return false; });
    if (!ended.stop_requested()) std::_Exit(0);
  });
} catch (const std::exception&) {  // no room for the thread: at once
  std::_Exit(0);
}

// Until Ctrl-C or a polite kill, or until it turns out that there is nothing to show: `data` may be
// null. `each_tick` is called all the while.
Status WaitForCancel(const server::Dataset* data, const std::function<void()>& each_tick) {
  signal(SIGTERM, [](int) { RequestCancel(); });
  constexpr std::chrono::milliseconds kTick{50};
  while (!IsCancelled()) {
    each_tick();
    if (data == nullptr) {
      std::this_thread::sleep_for(kTick);
    } else if (const std::optional<Status> found = data->WaitDetected(kTick)) {
      SL_RETURN_IF_ERROR(*found);
      data = nullptr;
    }
  }
  return {};
}

// All folders that --root names: the option may be repeated, and one may name several.
Result<std::vector<std::string>> RootsOf(const Arguments& arguments) {
  std::vector<std::string> roots;
  for (const std::string& list : arguments.Values("--root")) {
    for (std::string& root : server::SplitPaths(list)) roots.push_back(std::move(root));
  }
  if (Status checked = server::Workspace::CheckRoots(roots); !checked.ok())
    return std::move(checked).error().During("view: --root");
  return roots;
}

// What to show first: a page of the web app and its state, as in the address of a link.
struct Link {
  std::string page{};   // nothing: the page that suits the data, which the web app knows
  std::string state{};  // "&t=0,5000&sel=..."; the data set comes before it
};

// "/operators?ds=9f2c&rank=0" or only "rank=0", the part of a link behind '#'. Which data set it
// was of does not matter: lanes go by path.
Link ParseLink(std::string_view text) {
  Link link;
  link.page = "timeline";
  if (text.starts_with('/')) {
    const size_t query = std::min(text.find('?'), text.size());
    if (query > 1) link.page = text.substr(1, query - 1);
    text.remove_prefix(std::min(query + 1, text.size()));
  }
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (part.empty() || part.starts_with("ds=")) continue;
    link.state += '&';
    link.state += part;
  }
  return link;
}

// Takes the link from a path "DIR#LINK"; a file whose name has a '#' is a file.
Link TakeLink(std::vector<std::string>& paths) {
  for (std::string& path : paths) {
    const size_t hash = path.find('#');
    std::error_code error;
    if (hash == std::string::npos || std::filesystem::exists(path, error)) continue;
    const Link link = ParseLink(std::string_view(path).substr(hash + 1));
    path.resize(hash);
    return link;
  }
  return {};
}

// What the page opens with.
struct Opening {
  std::string fragment{};                 // of the address: "#/operators?ds=..."
  const server::Dataset* data = nullptr;  // null: the page starts with the roots
};

Result<Opening> OpenPaths(const Arguments& arguments, server::Workspace& workspace) {
  std::vector<std::string> paths = arguments.Positional("PATH");
  Link link = TakeLink(paths);
  if (paths.empty()) return Opening{};
  if (arguments.Has("--view")) link.page = "timeline";
  SL_ASSIGN_OR_RETURN(const std::string id, workspace.Open(paths));
  Opening out{fmt::format("#/{}?ds={}{}", link.page, id, link.state),
              workspace.Find(id)->dataset.get()};
  // A small folder is scanned immediately; a large one must not delay the page.
  if (const auto found = out.data->WaitDetected(kPatience)) SL_RETURN_IF_ERROR(*found);
  if (arguments.Has("--view")) {
    SL_ASSIGN_OR_RETURN(const std::string view,
                        server::KeepViewFile(workspace, arguments.Value("--view")));
    out.fragment += "&view=" + view;
  }
  return out;
}

// Serves until the end is asked for. Shows an address whose token has not been used all the while.
Status Serve(const Arguments& arguments, const server::HttpOptions& http, const Opening& opening,
             server::HttpServer& http_server) {
  const auto address_of = [&](const std::string& token) {
    const std::string host = http.host == "0.0.0.0" ? "127.0.0.1" : http.host;
    return fmt::format("http://{}:{}/{}{}", host, http_server.port(),
                       token.empty() ? "" : "?token=" + token, opening.fragment);
  };
  const bool has_display = HasDisplay();
  SL_ASSIGN_OR_RETURN(std::string token, http_server.IssueToken());
  PrintAddress(address_of(token), http.host, http_server.port(), has_display);
  std::optional<RedirectPage> page;
  if (has_display && !arguments.Has("--no-browser")) {
    SL_ASSIGN_OR_RETURN(const std::string own_token, http_server.IssueToken());
    OpenBrowser(page.emplace(address_of(own_token)));
  }
  return WaitForCancel(opening.data, [&] {
    if (token.empty() || http_server.IsUnspent(token)) return;
    try {
      Result<std::string> next = http_server.IssueToken();
      if (!next.ok()) return;  // tried again at the next tick
      fmt::print(stderr, "That address has been used. Another browser can open\n{}\n",
                 address_of(*next));
      token = *std::move(next);
    } catch (const std::bad_alloc&) {  // as well
    }
  });
}

Result<int> RunView(const Arguments& arguments) {
  SL_ASSIGN_OR_RETURN(const server::HttpOptions http, HttpOptionsOf(arguments));
  server::Workspace::Options options;
  options.version = kVersion;
  options.use_cache = !arguments.Has("--no-cache");
  SL_ASSIGN_OR_RETURN(options.roots, RootsOf(arguments));
  // Where it is, is read from the environment everywhere; no other thread runs yet.
  if (arguments.Has("--cache"))
    setenv("STEPLENS_CACHE_DIR", arguments.Value("--cache").c_str(), 1);  // NOLINT
  if (options.use_cache) SayIfCacheIsNotUsed();
  const std::string cache = store::CacheDirectory();
  if (!cache.empty()) options.state_directory = cache + "/views";
  std::jthread end_for_sure;  // outlives the workspace, which may be what is stuck
  server::Workspace workspace(std::move(options));
  SL_ASSIGN_OR_RETURN(const Opening opening, OpenPaths(arguments, workspace));
  SL_ASSIGN_OR_RETURN(const auto http_server, server::HttpServer::Start(workspace, http));
  SL_RETURN_IF_ERROR(Serve(arguments, http, opening, *http_server));
  workspace.RemoveUploads();
  end_for_sure = EndForSure();
  http_server->Stop();
  return 0;
}

}  // namespace

CommandSpec ViewCommand() {
  CommandSpec spec;
  spec.summary = "Show a profile in the browser";
  spec.description =
      "Serves the viewer (timeline, operators, memory, communication, SQL) on a local address, "
      "prints the address and opens the browser if there is a display. Ranks appear as they are "
      "read. The profile is not changed. Ctrl-C stops the server.";
  spec.positionals = {{.name = "PATH",
                       .help = "Folders and files that hold the profile",
                       .repeated = true,
                       .required = false}};
  spec.options = {
      {.name = "--port",
       .value_name = "N",
       .help = "Port to listen on; 0 = the first free port from 18811",
       .default_value = "0",
       .is_integer = true},
      {.name = "--host",
       .value_name = "ADDRESS",
       .help = "Address to listen on",
       .default_value = "127.0.0.1"},
      {.name = "--no-browser", .help = "Only print the address"},
      {.name = "--in-frame", .help = "Let pages of this machine show the viewer, as notebooks do"},
      {.name = "--view", .value_name = "FILE", .help = "Open with a saved view (*.slview.json)"},
      {.name = "--root",
       .value_name = "DIR[:DIR...]",
       .help = "More folders that the page may open",
       .is_repeated = true},
      {.name = "--token",
       .value_name = "KIND",
       .help =
           "auto: the address contains a secret; none: anyone who can reach the port has access",
       .default_value = "auto",
       .choices = {"auto", "none"}},
      {.name = "--assets",
       .value_name = "DIR",
       .help = "Serve the web app from this folder (for development)"},
      {.name = "--cache", .value_name = "DIR", .help = "Folder for the cache and saved views"},
      {.name = "--no-cache", .help = "Neither read nor write the cache"},
      FollowLinksOption(),
  };
  spec.example = "steplens view examples/sample --no-browser";
  spec.run = RunView;
  return spec;
}

}  // namespace steplens::cli
