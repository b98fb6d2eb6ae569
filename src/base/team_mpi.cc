#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "base/cancel.h"
#include "base/number.h"
#include "base/team.h"

namespace steplens {
namespace {

constexpr const char* kLibrary = "libsteplens_mpi.so";

// The functions of libsteplens_mpi.so (src/mpi/steplens_mpi.h).
struct Mpi {
  int (*start)(int*, int*) = nullptr;
  int (*send_to)(int, const char*, uint64_t) = nullptr;
  int (*send_end)(int) = nullptr;
  int (*receive_size)(int, uint64_t*) = nullptr;
  int (*receive)(int, char*, uint64_t) = nullptr;
  int (*share)(char*, uint64_t) = nullptr;
  int (*stop)(int) = nullptr;
};

int64_t NumberInEnvironment(const char* name) {
  const char* text = std::getenv(name);  // NOLINT: before any other thread
  return text == nullptr ? 0 : ParseInt64(text).value_or(0);
}

struct Place {
  int member = 0;
  int members = 1;
  bool operator==(const Place&) const = default;
};

// Which of how many processes this is, as the launcher says: Open MPI's mpirun, MPICH's, or srun.
Place PlaceInEnvironment() {
  const std::pair<const char*, const char*> names[] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& [member, members] : names) {
    if (const int64_t count = NumberInEnvironment(members); count > 0)
      return {static_cast<int>(NumberInEnvironment(member)), static_cast<int>(count)};
  }
  return {};
}

// Beside the program, in its lib folder, or wherever the loader looks.
void* OpenLibrary() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& folder : {program, program.parent_path() / "lib" / "steplens"}) {
    // Open MPI's own plug-ins look for its symbols in the whole process.
    if (void* library = ::dlopen((folder / kLibrary).c_str(), RTLD_NOW | RTLD_GLOBAL))
      return library;
  }
  return ::dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
}

template <typename Function>
bool Load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Result<Mpi> LoadMpi() {
  void* library = OpenLibrary();
  if (library == nullptr) {
    return Error{
        ErrorCode::kUnsupported,
        fmt::format("this process was started by mpirun or srun, but {} cannot be loaded "
                    "({}); install Open MPI (libopenmpi3) and a steplens built with it, or "
                    "start steplens by itself",
                    kLibrary, ::dlerror())};
  }
  Mpi mpi;
  if (!Load(library, "steplens_mpi_start", mpi.start) ||
      !Load(library, "steplens_mpi_send_to", mpi.send_to) ||
      !Load(library, "steplens_mpi_send_end", mpi.send_end) ||
      !Load(library, "steplens_mpi_receive_size", mpi.receive_size) ||
      !Load(library, "steplens_mpi_receive", mpi.receive) ||
      !Load(library, "steplens_mpi_share", mpi.share) ||
      !Load(library, "steplens_mpi_stop", mpi.stop)) {
    return Error{ErrorCode::kUnsupported, fmt::format("{} is of another version", kLibrary)};
  }
  return mpi;
}

// On one machine shared memory is all that is needed; Open MPI would look for networks first, for a
// fifth of a second. Whoever says what to use is left alone.
void ChooseTransport() {
  const int64_t members = NumberInEnvironment("OMPI_COMM_WORLD_SIZE");
  if (members == 0 || NumberInEnvironment("OMPI_COMM_WORLD_LOCAL_SIZE") != members) return;
  ::setenv("OMPI_MCA_pml", "ob1", /*replace=*/0);  // NOLINT: no other thread reads it yet
}

// Parts on their way to the root, many in a block: "u64 size, bytes" again and again.
class Blocks {
 public:
  void Append(std::string_view part) {
    const uint64_t size = part.size();
    if (list_.empty() || list_.back().size() + sizeof size + part.size() > kBlockBytes)
      list_.emplace_back().reserve(std::max(kBlockBytes, sizeof size + part.size()));
    list_.back().append(reinterpret_cast<const char*>(&size), sizeof size).append(part);
  }
  const std::vector<std::string>& list() const { return list_; }

  // False if the bytes are no block.
  template <typename Use>
  static bool ForEach(std::string_view block, const Use& use) {
    uint64_t size = 0;
    while (block.size() >= sizeof size) {
      std::memcpy(&size, block.data(), sizeof size);
      block.remove_prefix(sizeof size);
      if (size > block.size()) return false;
      use(block.substr(0, size));
      block.remove_prefix(size);
    }
    return block.empty();
  }

 private:
  static constexpr size_t kBlockBytes = size_t{8} << 20;
  std::vector<std::string> list_;
};

// The thread that makes all calls of MPI. It starts MPI first, which takes a third of a second;
// nobody waits for that before there is something to send.
class MpiThread {
 public:
  MpiThread(const Mpi& mpi, Place expected)
      : mpi_(mpi), thread_([this, expected] { Run(expected); }) {}
  ~MpiThread() {
    Stop();
    thread_.join();
  }

  // Begins to end MPI, which takes a moment; no call is made after this.
  void Stop() {
    if (is_stopping_) return;
    is_stopping_ = true;
    Begin(stop_, /*is_last=*/true);
  }

  // What the call returns, or kNotStarted.
  static constexpr int kNotStarted = -1;
  int Call(const std::function<int()>& call) {
    Begin(call, /*is_last=*/false);
    std::unique_lock lock(state_);
    changed_.wait(lock, [&] { return call_ == nullptr; });
    return result_;
  }

 private:
  void Begin(const std::function<int()>& call, bool is_last) {
    std::unique_lock lock(state_);
    changed_.wait(lock, [&] { return call_ == nullptr; });
    call_ = &call;
    is_last_ = is_last;
    changed_.notify_all();
  }

  void Run(Place expected) {
    Place place;
    const bool is_started = mpi_.start(&place.member, &place.members) == 0;
    const bool is_usable = is_started && place == expected;
    for (bool is_last = false; !is_last;) {
      std::unique_lock lock(state_);
      changed_.wait(lock, [&] { return call_ != nullptr; });
      is_last = is_last_;
      // What was started is stopped, too.
      result_ = is_usable || (is_last && is_started) ? (*call_)() : kNotStarted;
      call_ = nullptr;
      changed_.notify_all();
    }
  }

  Mpi mpi_;
  const std::function<int()> stop_ = [this] { return mpi_.stop(0); };
  bool is_stopping_ = false;
  std::mutex state_;  // of the three below
  std::condition_variable changed_;
  const std::function<int()>* call_ = nullptr;
  bool is_last_ = false;
  int result_ = 0;
  std::thread thread_;  // last: uses the others
};

// Divides the items into one run a member. The root works on the first, takes its results, then
// those of the others in order; the others send theirs when their run is done.
class MpiTeam : public Team {
 public:
  MpiTeam(const Mpi& mpi, Place place, ThreadPool& pool)
      : mpi_(mpi),
        member_(place.member),
        members_(place.members),
        local_(MakeLocalTeam(pool)),
        thread_(mpi, place) {}
  ~MpiTeam() override {
    if (is_root()) Dismiss();
    // Whatever is asked now is not answered well; the root learns it, and ends.
    [[maybe_unused]] const Status ended = Serve([](std::string_view) { return std::string(); });
  }

  Status MapInOrder(size_t count, const Map& map, const Take& take) override {
    const size_t begin = RunBegin(count, member_);
    const size_t size = RunBegin(count, member_ + 1) - begin;
    const auto map_own = [&](size_t i) { return map(begin + i); };
    if (!is_root()) {
      Blocks blocks;
      const Status done = local_->MapInOrder(
          size, map_own, [&](size_t, std::string_view part) { blocks.Append(part); });
      if (!done.ok()) Abort();
      return SendAll(blocks);
    }
    const Status done = local_->MapInOrder(size, map_own, take);
    if (!done.ok()) Abort();
    for (int member = 1; member < members_; ++member)
      SL_RETURN_IF_ERROR(
          TakeFrom(member, RunBegin(count, member), RunBegin(count, member + 1), take));
    return {};
  }

  Status Share(std::string& bytes) override {
    uint64_t size = bytes.size();
    SL_RETURN_IF_ERROR(Do([&] { return mpi_.share(reinterpret_cast<char*>(&size), sizeof size); }));
    bytes.resize(size);
    return Do([&] { return mpi_.share(bytes.data(), size); });
  }

  size_t MemberOf(size_t item, size_t count) const override {
    int member = 0;
    while (member + 1 < members_ && item >= RunBegin(count, member + 1)) ++member;
    return static_cast<size_t>(member);
  }

  Status Serve(const Answer& answer) override {
    while (!is_root() && !is_dismissed_) {
      std::string request;
      SL_RETURN_IF_ERROR(Receive(0, request));
      if (is_dismissed_) break;
      const std::string bytes = answer(request);
      SL_RETURN_IF_ERROR(Do([&] { return mpi_.send_to(0, bytes.data(), bytes.size()); }));
    }
    thread_.Stop();
    return {};
  }

  Status Ask(size_t member, std::string_view request) override {
    return Do(
        [&] { return mpi_.send_to(static_cast<int>(member), request.data(), request.size()); });
  }

  Result<std::string> TakeAnswer(size_t member) override {
    std::string bytes;
    SL_RETURN_IF_ERROR(Receive(static_cast<int>(member), bytes));
    return bytes;
  }

  void Dismiss() override {
    if (is_dismissed_) return;
    is_dismissed_ = true;
    for (int member = 1; member < members_; ++member) {
      [[maybe_unused]] const Status sent = Do([&] { return mpi_.send_end(member); });
    }
    thread_.Stop();
  }

  Team& local() override { return *local_; }

  bool is_root() const override { return member_ == 0; }
  size_t members() const override { return static_cast<size_t>(members_); }

 private:
  // The root takes results while it maps, so its run is a little shorter than the others'.
  size_t RunBegin(size_t count, int member) const {
    constexpr size_t kShare = 100;
    constexpr size_t kShareOfRoot = 94;
    const auto share_before = [&](int of) {
      return of == 0 ? 0 : kShareOfRoot + kShare * static_cast<size_t>(of - 1);
    };
    return count * share_before(member) / share_before(members_);
  }

  Status SendAll(const Blocks& blocks) {
    const uint64_t count = blocks.list().size();
    SL_RETURN_IF_ERROR(
        Do([&] { return mpi_.send_to(0, reinterpret_cast<const char*>(&count), sizeof count); }));
    for (const std::string& block : blocks.list())
      SL_RETURN_IF_ERROR(Do([&] { return mpi_.send_to(0, block.data(), block.size()); }));
    return {};
  }

  Status Receive(int member, std::string& bytes) {
    uint64_t size = 0;
    SL_RETURN_IF_ERROR(Do([&] { return mpi_.receive_size(member, &size); }));
    is_dismissed_ |= size == kEnd;
    if (size == kEnd) return {};
    bytes.resize(size);
    return Do([&] { return mpi_.receive(member, bytes.data(), size); });
  }

  // Items `first` to `last`, in order.
  Status TakeFrom(int member, size_t first, size_t last, const Take& take) {
    std::string bytes;
    SL_RETURN_IF_ERROR(Receive(member, bytes));
    uint64_t count = 0;
    if (bytes.size() != sizeof count) return Damaged();
    std::memcpy(&count, bytes.data(), sizeof count);
    for (uint64_t i = 0; i < count; ++i) {
      SL_RETURN_IF_ERROR(Receive(member, bytes));
      const bool is_whole = Blocks::ForEach(bytes, [&](std::string_view part) {
        if (first < last) take(first, part);
        ++first;
      });
      if (!is_whole || first > last) return Damaged();
    }
    return first == last ? Status() : Damaged();
  }

  static Error Damaged() {
    return {ErrorCode::kInternal, "a message between MPI processes is damaged"};
  }

  Status Do(const std::function<int()>& call) {
    const int error = thread_.Call(call);
    if (error == 0) return {};
    if (error == MpiThread::kNotStarted) {
      return Error{ErrorCode::kUnsupported,
                   fmt::format("MPI does not start, or does not know this process as {} of {}",
                               member_ + 1, members_)};
    }
    return Error{ErrorCode::kIo, fmt::format("MPI failed with error {}", error)};
  }

  // Ends all members: one that does not go on would keep the others waiting.
  void Abort() {
    thread_.Call([&] { return mpi_.stop(1); });
  }

  static constexpr uint64_t kEnd = UINT64_MAX;  // kSteplensMpiEnd

  Mpi mpi_;
  int member_;
  int members_;
  std::unique_ptr<Team> local_;
  bool is_dismissed_ = false;  // or, on the root, has dismissed the others
  MpiThread thread_;
};

}  // namespace

Result<std::unique_ptr<Team>> MakeTeam(ThreadPool& pool) {
  const Place place = PlaceInEnvironment();
  if (place.members <= 1) return MakeLocalTeam(pool);
  ChooseTransport();
  SL_ASSIGN_OR_RETURN(const Mpi mpi, LoadMpi());
  return std::unique_ptr<Team>(std::make_unique<MpiTeam>(mpi, place, pool));
}

}  // namespace steplens
