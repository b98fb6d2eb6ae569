#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "server/workspace.h"

namespace steplens::mcp {

// A capture that all ranks are read of. Holds its data in place for one call of a tool.
struct Capture {
  std::string path;  // as the agent named it
  server::OpenDataset* open = nullptr;
  std::unique_ptr<server::Dataset::View> view;
  const store::Job* job = nullptr;

  const server::ShownRank& Shown(size_t job_index) const;
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

  // Opens a path below the roots; relative ones are looked for in each root. Waits until all ranks
  // are read, for as long as `should_stop` allows; reading goes on after that. Empty: the one
  // opened last.
  Result<Capture> Open(std::string path, const std::function<bool()>& should_stop);
  // The real form of a path below the roots.
  Result<std::string> Admit(const std::string& path) const;

  const std::vector<std::string>& roots() const { return options_.roots; }
  bool use_cache() const { return options_.use_cache; }

 private:
  // More are closed, all together: the oldest cost memory that the newest may need.
  static constexpr size_t kMaxOpen = 8;
  void Restart();

  Options options_;
  std::unique_ptr<server::Workspace> workspace_;
  std::string last_path_;
};

}  // namespace steplens::mcp
