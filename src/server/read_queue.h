#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace steplens::server {

// The order in which the ranks of a data set are read, and the numbers they get. Numbers do not
// depend on the order: one belongs to the first rank in order of path that claims it.
// For many threads at once.
class ReadQueue {
 public:
  struct Found {
    int64_t rank = -1;     // what detection says; negative: nothing
    bool is_sure = false;  // reading cannot come to another number
  };
  enum class Number : uint8_t { kOwn, kUnknown, kTaken };
  struct Numbered {
    size_t index = 0;
    Number number = Number::kOwn;
    bool operator==(const Numbered&) const = default;
  };

  // Once, before anything is taken; in order of path.
  void Start(std::vector<Found> found);
  // Ranks that somebody wants to see come next. The last call counts, before Start, too.
  void Focus(std::vector<int64_t> ranks);
  // What to read next; to be called once for each that was found.
  size_t Take();
  // That one was read, and says that it is `rank`: nothing if it is no rank at all, negative if it
  // does not say. Returns those that are known now to have a number of their own, or to have none:
  // all before them are read, or cannot claim the same.
  std::vector<Numbered> Done(size_t index, std::optional<int64_t> rank);
  // After all are done: the smallest number that nobody has, which is this one's from now on.
  int64_t TakeFreeNumber();

 private:
  struct Entry {
    Found found;
    std::optional<int64_t> rank{};
    bool is_taken = false;
    bool is_done = false;
    bool is_numbered = false;
  };
  void NumberOne(size_t index, std::vector<Numbered>& out);

  std::mutex entries_mutex_;  // guards everything
  std::vector<Entry> entries_;
  std::vector<int64_t> focus_;             // sorted
  std::map<int64_t, size_t> sure_claims_;  // the first claim of a number that nobody can contest
  std::map<int64_t, size_t> numbers_;      // given
  size_t first_undone_ = 0;
  int64_t next_free_ = 0;
};

}  // namespace steplens::server
