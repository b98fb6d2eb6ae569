#pragma once

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/run_division.h"
#include "base/status.h"
#include "base/team.h"

namespace steplens {

// What a member tells the root: parts of neighbouring items, and whether it wants another run.
template <typename Text>
struct RunReportOf {
  bool wants_run = false;
  size_t first = 0;
  std::vector<Text> parts{};

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(wants_run, first, parts);
  }
};
using RunReport = RunReportOf<std::string>;
using RunReportView = RunReportOf<std::string_view>;

// The root's side of a division: who has which items, and the parts that wait for their turn. The
// root's threads map and take while another thread speaks with the members.
class Gathering {
 public:
  Gathering(size_t count, size_t members);

  // The root's next item; nothing when all are given away.
  std::optional<size_t> NextOfRoot();
  void PutOfRoot(size_t item, std::string part);

  ItemRun NextOf(size_t member);
  // What a member said: whether it wants a run, or nothing if the report is damaged or of items
  // that are not the member's.
  std::optional<bool> Put(size_t member, std::string report);
  // Whether everything that was given to the others has come.
  bool HasAllOfOthers() const;
  // The others have come to their end; with an error, before all has come.
  void End(Status status);

  // Hands on what is there and whose turn it is. One call at a time.
  void TakeReady(const Team::Take& take);
  // And waits for the others' items, after the root's own.
  Status TakeRest(const Team::Take& take);

  std::vector<size_t> TakeOwners() { return std::move(owners_); }

 private:
  struct Batch {
    std::string bytes;
    bool is_report = false;  // of a member; else the part itself
  };

  void Give(const ItemRun& run, size_t member);
  void TakeBatch(size_t first, const Batch& batch, const Team::Take& take);

  size_t count_;
  mutable std::mutex state_;  // of what follows
  std::condition_variable changed_;
  RunDivision division_;
  ItemRun run_of_root_;
  std::vector<size_t> owners_;       // by item; SIZE_MAX: nobody yet
  size_t given_to_others_ = 0;       // items
  size_t got_of_others_ = 0;         // of them
  std::map<size_t, Batch> waiting_;  // by first item
  size_t next_taken_ = 0;
  bool is_ended_ = false;
  Status status_;
};

}  // namespace steplens
