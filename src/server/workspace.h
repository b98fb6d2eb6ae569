#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "readers/slice_args.h"
#include "server/dataset.h"
#include "server/dataset_cache.h"
#include "server/events.h"

namespace steplens::server {

// A data set with what was computed for it since it was opened.
struct OpenDataset {
  std::unique_ptr<Dataset> dataset;
  std::unique_ptr<DatasetCache> cache;  // refers to the data set
  readers::SliceArgsReader args{};
};

// Everything that is open, and what may be opened. Thread safe.
class Workspace {
 public:
  struct Options {
    std::vector<std::string> roots;  // folders whose files may be listed and opened
    bool use_cache = true;
    std::string version = "dev";
    std::string state_directory;  // for view states; empty: they are not kept
  };
  explicit Workspace(Options options);
  ~Workspace();

  // Whether every root is a folder that can be listed; the first that is not.
  static Status CheckRoots(const std::vector<std::string>& roots);

  // Opens the paths as one data set, or finds it if it is open; they become roots. The first error
  // of looking at them is returned; problems inside are told by the data set. Returns its id.
  // With `numbers` it is another data set: the same captures as other ranks.
  Result<std::string> Open(const std::vector<std::string>& paths, RankNumbers numbers = {});
  // Adds a piece to a file that the page brings along ("a/b.json", below a folder of ours that
  // ends with us) and returns its path. `at` is where the piece begins: 0 begins the file anew, all
  // else must be its end.
  static constexpr size_t kMaxUploadBytes = size_t{64} << 20;
  Result<std::string> Upload(const std::string& name, uint64_t at, std::string_view bytes);
  // A job that is in memory already, for tests.
  std::string Adopt(std::string id, store::Job job);
  // Null if there is none. Data sets live as long as the workspace.
  OpenDataset* Find(std::string_view id) const;
  std::vector<OpenDataset*> All() const;  // in order of opening

  // The absolute, link-free form of a path if it is below a root, an error otherwise: nothing else
  // is ever looked at.
  Result<std::string> Admit(const std::string& path) const;
  std::vector<std::string> roots() const;

  // Removes the files that the page brought along, as the destructor does.
  void RemoveUploads();

  EventHub& events() { return events_; }
  const Options& options() const { return options_; }
  // Different in every run of the server.
  const std::string& run_id() const { return run_id_; }

 private:
  Options options_;
  const std::string run_id_;
  EventHub events_;
  mutable std::mutex mutex_;
  std::vector<std::string> roots_;  // absolute, without links
  std::vector<std::unique_ptr<OpenDataset>> open_;
  std::string upload_folder_;  // made with the first file; empty: none
  size_t uploaded_bytes_ = 0;
};

}  // namespace steplens::server
