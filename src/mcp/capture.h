#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "base/status.h"
#include "server/workspace.h"
#include "store/cache.h"

namespace steplens::mcp {

// A job that stays open, with what was computed for it.
struct OpenJob {
  std::string real_path;
  std::vector<store::CacheKey> keys;  // of the files that it was read from
  store::Job job;
  std::vector<analysis::RankView> views{};  // by place in the job
  server::DatasetCache cache{};             // refers to the job
};

// A capture for one call of a tool.
struct Capture {
  std::string path;  // as the agent named it
  OpenJob* open = nullptr;
  const store::Job* job = nullptr;

  const analysis::RankView& Facts(size_t job_index) const { return open->views[job_index]; }
  // Where a rank is in `job`; kNotFound with the ranks that there are.
  Result<size_t> IndexOf(int64_t rank) const;
};

// What may be opened, and what is open. For one thread at a time.
class Captures {
 public:
  struct Options {
    std::vector<std::string> roots;  // checked folders
    bool use_cache = true;
    std::string version;
  };
  explicit Captures(Options options);

  // Opens a path below the roots; relative ones are looked for in each root. Empty: the one opened
  // last. One whose files changed since is read again. Gives up when IsCancelled() holds; ranks
  // read by then are in the cache.
  Result<Capture> Open(std::string path);
  // The real form of a path below the roots.
  Result<std::string> Admit(const std::string& path) const;

  // The same capture as the viewer shows it, for links: lanes are laid out, which takes longer than
  // reading it from the cache.
  Result<const server::Dataset*> OpenForViewer(const Capture& capture,
                                               const std::function<bool()>& should_stop);

  const std::vector<std::string>& roots() const { return options_.roots; }
  bool use_cache() const { return options_.use_cache; }

 private:
  static constexpr size_t kMaxOpen = 8;  // the one used longest ago is closed
  void StartWorkspace();
  Result<std::unique_ptr<OpenJob>> Read(const std::string& path, const std::string& real) const;

  Options options_;
  std::list<std::unique_ptr<OpenJob>> open_;  // the last used first
  std::unique_ptr<server::Workspace> workspace_;
  std::string last_path_;
};

}  // namespace steplens::mcp
