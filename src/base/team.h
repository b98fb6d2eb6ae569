#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/thread_pool.h"

namespace steplens {

// Who does work over ranks: the threads of this process, or several processes under mpirun. What
// comes out is the same, byte for byte.
class Team {
 public:
  virtual ~Team() = default;

  // Turns item i into bytes; called for every i below `count` once, on any thread of any member.
  using Map = std::function<std::string(size_t)>;
  // Takes the bytes of item i, which are gone afterwards; called on the root only, for i = 0, 1,
  // ... in order, one at a time.
  using Take = std::function<void(size_t, std::string_view)>;

  // Every member calls it with the same count and an equivalent map. Only a few items per thread
  // wait for their turn on the root, and where there are several members a run of theirs each, at
  // most (base/run_division.h).
  virtual Status MapInOrder(size_t count, const Map& map, const Take& take) = 0;

  // Gives every member what the root has in `bytes`. All members call it.
  virtual Status Share(std::string& bytes) = 0;

  // Who mapped item i the last time, which the root knows then: itself is 0.
  virtual size_t MemberOf(size_t item) const = 0;

  // After the items, the root may ask the others for more, each one thing at a time. They answer
  // until it dismisses them, which it does at the latest when its Team goes.
  using Answer = std::function<std::string(std::string_view)>;
  virtual Status Serve(const Answer& answer) = 0;  // by all but the root; there, nothing happens
  virtual Status Ask(size_t member, std::string_view request) = 0;
  virtual Result<std::string> TakeAnswer(size_t member) = 0;
  virtual void Dismiss() = 0;

  // After the items: the caller's thread, and those that it starts from now on, may run on the
  // cores of all members of this machine, which the launcher may have divided among them.
  virtual void UseCoresOfAll() {}

  // This process alone, for what is quicker done by everybody than waited for.
  virtual Team& local() { return *this; }

  virtual bool is_root() const = 0;  // the one member that has results and may write them
  virtual size_t members() const = 0;
};

// The threads of this process.
std::unique_ptr<Team> MakeLocalTeam(ThreadPool& pool);

// The processes of an mpirun or srun job if this is one of them, else the threads of this process.
// MPI is loaded at run time, and only then; without it every process would do all the work, so its
// absence under mpirun is an error.
Result<std::unique_ptr<Team>> MakeTeam(ThreadPool& pool);

// Whether this process is the root of the team that MakeTeam gives, for what is said before there
// is one.
bool IsRootOfTeam();

}  // namespace steplens
