#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/archive.h"
#include "base/cancel.h"
#include "base/gathering.h"
#include "base/number.h"
#include "base/ordered_pipeline.h"
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
  int (*receive_any_size)(int*, uint64_t*) = nullptr;
  int (*receive)(int, char*, uint64_t) = nullptr;
  int (*share)(char*, uint64_t) = nullptr;
  int (*use_cores_of_all)() = nullptr;
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
      !Load(library, "steplens_mpi_receive_any_size", mpi.receive_any_size) ||
      !Load(library, "steplens_mpi_receive", mpi.receive) ||
      !Load(library, "steplens_mpi_share", mpi.share) ||
      !Load(library, "steplens_mpi_use_cores_of_all", mpi.use_cores_of_all) ||
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

// The thread that makes all calls of MPI. It starts MPI first, which takes a moment; nobody waits
// for that before there is something to say.
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
    const std::lock_guard lock(queue_mutex_);
    is_stopping_ = true;
    queue_changed_.notify_all();
  }

  using Call = std::function<int()>;

  // Makes the call when its turn comes; then `on_done` gets what it returned, or kNotStarted.
  static constexpr int kNotStarted = -1;
  void Post(Call call, std::function<void(int)> on_done) {
    const std::lock_guard lock(queue_mutex_);
    queue_.push_back({std::move(call), std::move(on_done)});
    queue_changed_.notify_all();
  }
  // Makes it and waits.
  int Make(const Call& call) {
    std::promise<int> result;
    Post(call, [&](int error) { result.set_value(error); });
    return result.get_future().get();
  }

 private:
  struct Job {
    Call call;
    std::function<void(int)> on_done;
  };

  // Nothing when all is done and no more will come.
  std::optional<Job> NextJob() {
    std::unique_lock lock(queue_mutex_);
    queue_changed_.wait(lock, [&] { return is_stopping_ || !queue_.empty(); });
    if (queue_.empty()) return std::nullopt;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    return job;
  }

  void Run(Place expected) {
    Place place;
    const bool is_started = mpi_.start(&place.member, &place.members) == 0;
    const bool is_usable = is_started && place == expected;
    while (const std::optional<Job> job = NextJob())
      job->on_done(is_usable ? job->call() : kNotStarted);
    if (is_started) mpi_.stop(0);
  }

  Mpi mpi_;
  std::mutex queue_mutex_;  // of the two below
  bool is_stopping_ = false;
  std::deque<Job> queue_;
  std::condition_variable queue_changed_;
  std::thread thread_;  // last: uses the others
};

// Divides the items among the members as they have time (RunDivision). The root maps, too, and
// takes what is there in order; the others send their parts while they go on.
class MpiTeam : public Team {
 public:
  MpiTeam(const Mpi& mpi, Place place, ThreadPool& pool)
      : mpi_(mpi),
        member_(place.member),
        members_(place.members),
        pool_(pool),
        local_(MakeLocalTeam(pool)),
        thread_(mpi, place) {}
  ~MpiTeam() override {
    if (is_root()) Dismiss();
    // Whatever is asked now is not answered well; the root learns it, and ends.
    [[maybe_unused]] const Status ended = Serve([](std::string_view) { return std::string(); });
  }

  Status MapInOrder(size_t count, const Map& map, const Take& take) override {
    return is_root() ? MapOnRoot(count, map, take) : MapOnMember(count, map);
  }

  Status Share(std::string& bytes) override {
    uint64_t size = bytes.size();
    SL_RETURN_IF_ERROR(Do([&] { return mpi_.share(reinterpret_cast<char*>(&size), sizeof size); }));
    bytes.resize(size);
    return Do([&] { return mpi_.share(bytes.data(), size); });
  }

  size_t MemberOf(size_t item) const override { return owners_[item]; }

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

  // If the system refuses, the root works where it is.
  void UseCoresOfAll() override { mpi_.use_cores_of_all(); }

  Team& local() override { return *local_; }

  bool is_root() const override { return member_ == 0; }
  size_t members() const override { return static_cast<size_t>(members_); }

 private:
  struct Item {
    size_t index = 0;
    std::string part;
  };

  Status MapOnRoot(size_t count, const Map& map, const Take& take) {
    Gathering gathering(count, members());
    std::atomic<bool> is_given_up = false;
    thread_.Post([&] { return Hear(gathering, is_given_up); },
                 [&](int error) { gathering.End(StatusOf(error)); });
    RunOrdered<Item>(
        pool_,
        [&](Item& item) {
          const std::optional<size_t> next = IsCancelled() ? std::nullopt : gathering.NextOfRoot();
          if (next) item.index = *next;
          return next.has_value();
        },
        [&](Item& item) { item.part = map(item.index); },
        [&](Item& item) {
          gathering.PutOfRoot(item.index, std::move(item.part));
          gathering.TakeReady(take);
        });
    if (IsCancelled()) {
      is_given_up = true;
      Abort();
    }
    const Status done = gathering.TakeRest(take);
    owners_ = gathering.TakeOwners();
    return done;
  }

  // By the root's thread of MPI, while others map: takes what members send and gives them runs,
  // until all have come to the end.
  int Hear(Gathering& gathering, const std::atomic<bool>& is_given_up) {
    size_t at_work = members() - 1;  // members that were not told that nothing is left
    while ((at_work > 0 || !gathering.HasAllOfOthers()) && !is_given_up) {
      int member = 0;
      uint64_t size = 0;
      if (const int error = mpi_.receive_any_size(&member, &size); error != 0) return error;
      if (member < 0) continue;
      std::string report(size, '\0');
      if (const int error = mpi_.receive(member, report.data(), size); error != 0) return error;
      const auto sender = static_cast<size_t>(member);
      const std::optional<bool> wants_run = gathering.Put(sender, std::move(report));
      if (!wants_run) return kDamaged;
      if (!*wants_run) continue;
      const ItemRun run = gathering.NextOf(sender);
      if (run.empty()) --at_work;
      const std::string bytes = ToBytes(run);
      if (const int error = mpi_.send_to(member, bytes.data(), bytes.size()); error != 0)
        return error;
    }
    return 0;
  }

  Status MapOnMember(size_t count, const Map& map) {
    ItemRun run = RunDivision(count, members()).First(static_cast<size_t>(member_));
    // The next run is asked for a little before the end of one, so that nobody waits for an answer,
    // and not earlier: others may have more time for it.
    bool is_asked = false;
    const auto ask_in_time = [&] {
      if (run.size() > kAskBefore || is_asked) return;
      Report({.wants_run = true});
      is_asked = true;
    };
    RunReport report;
    size_t report_bytes = 0;
    const auto send = [&] {
      if (!report.parts.empty()) Report(std::exchange(report, {}));
      report_bytes = 0;
    };
    Status heard;
    RunOrdered<Item>(
        pool_,
        [&](Item& item) {
          ask_in_time();
          if (run.empty()) {
            heard = TakeRun(run);
            is_asked = false;
          }
          if (run.empty() || IsCancelled()) return false;
          item.index = run.begin++;
          return true;
        },
        [&](Item& item) { item.part = map(item.index); },
        [&](Item& item) {
          if (item.index != report.first + report.parts.size() || report_bytes >= kReportBytes)
            send();
          if (report.parts.empty()) report.first = item.index;
          report_bytes += item.part.size();
          report.parts.push_back(std::move(item.part));
        });
    if (IsCancelled()) Abort();
    send();
    SL_RETURN_IF_ERROR(std::move(heard));
    // What was sent is out when a call after it is done.
    return Do([this] { return post_error_; });
  }

  // The answer to the report that wanted a run.
  Status TakeRun(ItemRun& run) {
    std::string bytes;
    SL_RETURN_IF_ERROR(Receive(0, bytes));
    const std::optional<ItemRun> given = FromBytes<ItemRun>(bytes);
    if (!given || given->begin > given->end) return StatusOf(kDamaged);
    run = *given;
    return {};
  }

  // Sent behind the back of whoever maps.
  void Report(const RunReport& report) {
    const auto bytes =
        std::make_shared<const std::string>(ToBytes(report));  // copied with the call
    thread_.Post([this, bytes] { return mpi_.send_to(0, bytes->data(), bytes->size()); },
                 [this](int error) { post_error_ = post_error_ == 0 ? error : post_error_; });
  }

  Status Receive(int member, std::string& bytes) {
    uint64_t size = 0;
    SL_RETURN_IF_ERROR(Do([&] { return mpi_.receive_size(member, &size); }));
    is_dismissed_ |= size == kEnd;
    if (size == kEnd) return {};
    bytes.resize(size);
    return Do([&] { return mpi_.receive(member, bytes.data(), size); });
  }

  Status Do(const MpiThread::Call& call) { return StatusOf(thread_.Make(call)); }

  Status StatusOf(int error) const {
    if (error == 0) return {};
    if (error == kDamaged)
      return Error{ErrorCode::kInternal, "a message between MPI processes is damaged"};
    if (error == MpiThread::kNotStarted) {
      return Error{ErrorCode::kUnsupported,
                   fmt::format("MPI does not start, or does not know this process as {} of {}",
                               member_ + 1, members_)};
    }
    return Error{ErrorCode::kIo, fmt::format("MPI failed with error {}", error)};
  }

  // Ends all members: one that does not go on would keep the others waiting.
  void Abort() {
    thread_.Make([&] { return mpi_.stop(1); });
  }

  static constexpr uint64_t kEnd = UINT64_MAX;             // kSteplensMpiEnd
  static constexpr int kDamaged = -2;                      // beside MPI's own errors
  static constexpr size_t kAskBefore = 4;                  // items
  static constexpr size_t kReportBytes = size_t{1} << 20;  // at least, but for the last of a run

  Mpi mpi_;
  int member_;
  int members_;
  ThreadPool& pool_;
  std::unique_ptr<Team> local_;
  std::vector<size_t> owners_;  // by item
  bool is_dismissed_ = false;   // or, on the root, has dismissed the others
  int post_error_ = 0;          // of reports; used by the thread of MPI only
  MpiThread thread_;
};

}  // namespace

bool IsRootOfTeam() { return PlaceInEnvironment().member == 0; }

Result<std::unique_ptr<Team>> MakeTeam(ThreadPool& pool) {
  const Place place = PlaceInEnvironment();
  if (place.members <= 1) return MakeLocalTeam(pool);
  ChooseTransport();
  SL_ASSIGN_OR_RETURN(const Mpi mpi, LoadMpi());
  return std::unique_ptr<Team>(std::make_unique<MpiTeam>(mpi, place, pool));
}

}  // namespace steplens
