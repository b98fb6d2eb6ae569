#include "base/team.h"

#include "base/cancel.h"
#include "base/ordered_pipeline.h"

namespace steplens {
namespace {

class LocalTeam : public Team {
 public:
  explicit LocalTeam(ThreadPool& pool) : pool_(pool) {}

  Status MapInOrder(size_t count, const Map& map, const Take& take) override {
    struct Item {
      size_t index = 0;
      std::string bytes;
    };
    size_t next = 0;
    RunOrdered<Item>(
        pool_,
        [&](Item& item) {
          if (next == count || IsCancelled()) return false;
          item.index = next++;
          return true;
        },
        [&](Item& item) { item.bytes = map(item.index); },
        [&](Item& item) { take(item.index, item.bytes); });
    if (IsCancelled()) return Error{ErrorCode::kCancelled, "interrupted"};
    return {};
  }

  Status Share(std::string&) override { return {}; }

  size_t MemberOf(size_t) const override { return 0; }
  Status Serve(const Answer&) override { return {}; }
  Status Ask(size_t, std::string_view) override { return NobodyElse(); }
  Result<std::string> TakeAnswer(size_t) override { return NobodyElse(); }
  void Dismiss() override {}

  bool is_root() const override { return true; }
  size_t members() const override { return 1; }

 private:
  static Error NobodyElse() { return {ErrorCode::kInternal, "there is no other process to ask"}; }

  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<Team> MakeLocalTeam(ThreadPool& pool) { return std::make_unique<LocalTeam>(pool); }

}  // namespace steplens
