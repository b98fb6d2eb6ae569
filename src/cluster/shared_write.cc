#include "cluster/shared_write.h"

#include <deque>
#include <fstream>

#include "base/archive.h"
#include "base/file.h"
#include "cluster/file_plan.h"

namespace steplens::cluster {
namespace {

using analysis::cluster::FilePiece;

struct FileOrders {
  std::string name;
  std::string path;  // until it is whole
  uint64_t id = 0;
  std::string orders;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, path, id, orders);
  }
};

// What the root asks of a member.
struct WriteRequest {
  std::string machine;
  std::vector<FileOrders> files;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(machine, files);
  }
};

// What the member answers. The stretches of a file that it cannot write itself are here, one behind
// the other, as (offset, bytes).
struct WriteReply {
  std::string error;
  std::vector<std::vector<std::pair<uint64_t, std::string>>> stretches;  // by file

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(error, stretches);
  }
};

// The same text in all processes of a machine that runs, and nowhere else; empty if unknown.
std::string ThisMachine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

Status WriteStretches(const FileOrders& file, bool is_same_machine, const RankTexts& texts,
                      std::vector<std::pair<uint64_t, std::string>>& unwritten) {
  if (file.orders.empty()) return {};
  if (is_same_machine) {
    Result<FileStretches> opened = FileStretches::Open(file.path, file.id, file.name);
    if (opened.ok()) {
      SL_RETURN_IF_ERROR(CarryOut(file.orders, texts, [&](uint64_t offset, std::string_view bytes) {
        return opened->WriteAt(offset, bytes);
      }));
      return opened->Close();
    }
  }
  return CarryOut(file.orders, texts, [&](uint64_t offset, std::string_view bytes) -> Status {
    unwritten.emplace_back(offset, bytes);
    return {};
  });
}

std::string DoAsked(std::string_view bytes, size_t first, const RankTexts& texts) {
  WriteReply reply;
  const std::optional<WriteRequest> request = FromBytes<WriteRequest>(bytes);
  if (!request) {
    reply.error = "a message between MPI processes is damaged";
    return ToBytes(reply);
  }
  const size_t count = request->files.size();
  reply.stretches.resize(count);
  const std::string machine = ThisMachine();
  const bool is_same = !machine.empty() && machine == request->machine;
  // Not all begin with the same file, which only one at a time can write to.
  for (size_t i = 0; i < count && reply.error.empty(); ++i) {
    const size_t f = (first + i) % count;
    const Status done = WriteStretches(request->files[f], is_same, texts, reply.stretches[f]);
    if (!done.ok()) reply.error = done.error().message;
  }
  return ToBytes(reply);
}

class Writing {
 public:
  Writing(Team& team, ThreadPool& pool, const RankTexts& texts, std::span<const FileToWrite> files)
      : team_(team), pool_(pool), texts_(texts), files_(files), orders_(files.size()) {}

  Status Run() {
    SL_RETURN_IF_ERROR(Begin());
    for (size_t member = 1; member < team_.members(); ++member) SL_RETURN_IF_ERROR(AskFor(member));
    Status done = WriteOwn();
    // Whatever happened here, the others answer, and that is taken.
    for (size_t member = 1; member < team_.members(); ++member) {
      Status others = TakeFrom(member);
      if (done.ok()) done = std::move(others);
    }
    SL_RETURN_IF_ERROR(std::move(done));
    for (AtomicFile& file : out_) SL_RETURN_IF_ERROR(file.Commit());
    return {};
  }

 private:
  // Makes the files, as large as they will be, and says who writes what.
  Status Begin() {
    for (const FileToWrite& file : files_) {
      SL_ASSIGN_OR_RETURN(AtomicFile made, AtomicFile::Create(file.path));
      out_.push_back(std::move(made));
    }
    std::vector<Status> planned(files_.size());
    pool_.ParallelFor(files_.size(), [&](size_t f) {
      FilePlan plan(texts_, team_.members());
      planned[f] = files_[f].file->write([&](const FilePiece& piece) -> Status {
        plan.Add(piece);
        return {};
      });
      orders_[f] = plan.Take();
      if (planned[f].ok()) planned[f] = out_[f].Reserve(plan.size());
    });
    for (Status& status : planned) SL_RETURN_IF_ERROR(std::move(status));
    return {};
  }

  Status AskFor(size_t member) {
    WriteRequest request;
    request.machine = ThisMachine();
    for (size_t f = 0; f < files_.size(); ++f) {
      SL_ASSIGN_OR_RETURN(const uint64_t id, out_[f].Id());
      request.files.push_back(
          {out_[f].path(), out_[f].temporary_path(), id, std::move(orders_[f][member])});
    }
    return team_.Ask(member, ToBytes(request));
  }

  Status WriteOwn() {
    for (size_t f = 0; f < files_.size(); ++f) {
      SL_RETURN_IF_ERROR(CarryOut(
          orders_[f][0], texts_,
          [&](uint64_t offset, std::string_view bytes) { return out_[f].WriteAt(offset, bytes); }));
    }
    return {};
  }

  Status TakeFrom(size_t member) {
    SL_ASSIGN_OR_RETURN(const std::string bytes, team_.TakeAnswer(member));
    const std::optional<WriteReply> reply = FromBytes<WriteReply>(bytes);
    if (!reply || reply->stretches.size() != files_.size())
      return Error{ErrorCode::kInternal, "a message between MPI processes is damaged"};
    if (!reply->error.empty()) return Error{ErrorCode::kIo, reply->error};
    for (size_t f = 0; f < files_.size(); ++f) {
      for (const auto& [offset, stretch] : reply->stretches[f])
        SL_RETURN_IF_ERROR(out_[f].WriteAt(offset, stretch));
    }
    return {};
  }

  Team& team_;
  ThreadPool& pool_;
  const RankTexts& texts_;
  std::span<const FileToWrite> files_;
  std::deque<AtomicFile> out_;                    // by file
  std::vector<std::vector<std::string>> orders_;  // by file and member
};

}  // namespace

Status WriteTogether(Team& team, ThreadPool& pool, const RankTexts& texts,
                     std::span<const FileToWrite> files) {
  return Writing(team, pool, texts, files).Run();
}

Status ServeWrites(Team& team, const RankTexts& texts) {
  // The root begins with the first file.
  return team.Serve([&](std::string_view request) { return DoAsked(request, 1, texts); });
}

}  // namespace steplens::cluster
