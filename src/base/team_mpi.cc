#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/cancel.h"
#include "base/number.h"
#include "base/team.h"

namespace steplens {
namespace {

constexpr const char* kLibrary = "libsteplens_mpi.so";

// The functions of libsteplens_mpi.so (src/mpi/steplens_mpi.h).
struct Mpi {
  int (*start)(int*, int*) = nullptr;
  int (*send)(const char*, uint64_t) = nullptr;
  int (*receive_size)(int, uint64_t*) = nullptr;
  int (*receive)(int, char*, uint64_t) = nullptr;
  int (*share)(char*, uint64_t) = nullptr;
  int (*stop)(int) = nullptr;
};

int64_t NumberInEnvironment(const char* name) {
  const char* text = std::getenv(name);  // NOLINT: before any other thread
  return text == nullptr ? 0 : ParseInt64(text).value_or(0);
}

// How many processes a launcher started beside this one: Open MPI's mpirun, MPICH's, or srun.
int64_t LaunchedProcesses() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (const int64_t count = NumberInEnvironment(name); count > 0) return count;
  }
  return 1;
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
      !Load(library, "steplens_mpi_send", mpi.send) ||
      !Load(library, "steplens_mpi_receive_size", mpi.receive_size) ||
      !Load(library, "steplens_mpi_receive", mpi.receive) ||
      !Load(library, "steplens_mpi_share", mpi.share) ||
      !Load(library, "steplens_mpi_stop", mpi.stop)) {
    return Error{ErrorCode::kUnsupported, fmt::format("{} is of another version", kLibrary)};
  }
  return mpi;
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

// Divides the items into one run a member. The root works on the first, takes its results, then
// those of the others in order; the others send theirs when their run is done.
class MpiTeam : public Team {
 public:
  MpiTeam(const Mpi& mpi, int member, int members, ThreadPool& pool)
      : mpi_(mpi), member_(member), members_(members), local_(MakeLocalTeam(pool)) {}
  ~MpiTeam() override { mpi_.stop(0); }

  Status MapInOrder(size_t count, const Map& map, const Take& take) override {
    const size_t begin = RunBegin(count, member_);
    const size_t size = RunBegin(count, member_ + 1) - begin;
    const auto map_own = [&](size_t i) { return map(begin + i); };
    if (!is_root()) {
      Blocks blocks;
      const Status done = local_->MapInOrder(
          size, map_own, [&](size_t, std::string_view part) { blocks.Append(part); });
      if (!done.ok()) mpi_.stop(1);
      return SendAll(blocks);
    }
    const Status done = local_->MapInOrder(size, map_own, take);
    if (!done.ok()) mpi_.stop(1);
    for (int member = 1; member < members_; ++member)
      SL_RETURN_IF_ERROR(TakeFrom(member, RunBegin(count, member), take));
    return {};
  }

  Status Share(std::string& bytes) override {
    uint64_t size = bytes.size();
    SL_RETURN_IF_ERROR(Check(mpi_.share(reinterpret_cast<char*>(&size), sizeof size)));
    bytes.resize(size);
    return Check(mpi_.share(bytes.data(), size));
  }

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

  Status SendAll(const Blocks& blocks) const {
    const uint64_t count = blocks.list().size();
    SL_RETURN_IF_ERROR(Check(mpi_.send(reinterpret_cast<const char*>(&count), sizeof count)));
    for (const std::string& block : blocks.list())
      SL_RETURN_IF_ERROR(Check(mpi_.send(block.data(), block.size())));
    return {};
  }

  Status Receive(int member, std::string& bytes) const {
    uint64_t size = 0;
    SL_RETURN_IF_ERROR(Check(mpi_.receive_size(member, &size)));
    bytes.resize(size);
    return Check(mpi_.receive(member, bytes.data(), size));
  }

  Status TakeFrom(int member, size_t first, const Take& take) const {
    std::string bytes;
    SL_RETURN_IF_ERROR(Receive(member, bytes));
    uint64_t count = 0;
    if (bytes.size() != sizeof count) return Damaged();
    std::memcpy(&count, bytes.data(), sizeof count);
    for (uint64_t i = 0; i < count; ++i) {
      SL_RETURN_IF_ERROR(Receive(member, bytes));
      const bool is_whole =
          Blocks::ForEach(bytes, [&](std::string_view part) { take(first++, part); });
      if (!is_whole) return Damaged();
    }
    return {};
  }

  static Error Damaged() {
    return {ErrorCode::kInternal, "a message between MPI processes is damaged"};
  }

  static Status Check(int error) {
    if (error == 0) return {};
    return Error{ErrorCode::kIo, fmt::format("MPI failed with error {}", error)};
  }

  Mpi mpi_;
  int member_;
  int members_;
  std::unique_ptr<Team> local_;
};

}  // namespace

Result<std::unique_ptr<Team>> MakeTeam(ThreadPool& pool) {
  if (LaunchedProcesses() <= 1) return MakeLocalTeam(pool);
  SL_ASSIGN_OR_RETURN(const Mpi mpi, LoadMpi());
  int member = 0;
  int members = 1;
  if (mpi.start(&member, &members) != 0)
    return Error{ErrorCode::kUnsupported, "MPI does not start in this process"};
  return std::unique_ptr<Team>(std::make_unique<MpiTeam>(mpi, member, members, pool));
}

}  // namespace steplens
