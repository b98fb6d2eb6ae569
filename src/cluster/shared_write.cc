#include "cluster/shared_write.h"

#include <algorithm>
#include <deque>
#include <fstream>
#include <numeric>

#include "base/archive.h"
#include "base/file.h"
#include "base/shared_memory.h"
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

// What the root asks of a member: first where its texts are, then whether it sees those of all, at
// last to write.
struct WriteRequest {
  enum class Kind : uint8_t { kSayPlace, kLook, kWrite };
  Kind kind = Kind::kSayPlace;
  std::string machine;
  uint64_t member = 0;              // who is asked
  std::vector<SharedPlace> places;  // by member; none where not everybody sees all
  std::vector<FileOrders> files;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(kind, machine, member, places, files);
  }
};

// Where a member has its texts, for others on its machine.
struct PlaceReply {
  std::string machine;
  std::optional<SharedPlace> place;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(machine, place);
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

Error DamagedMessage() {
  return {ErrorCode::kInternal, "a message between MPI processes is damaged"};
}

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

Status WriteAsked(const WriteRequest& request, const RankTexts& texts, WriteReply& reply) {
  const size_t count = request.files.size();
  reply.stretches.resize(count);
  const std::string machine = ThisMachine();
  const bool is_same = !machine.empty() && machine == request.machine;
  // Not all begin with the same file, which only one at a time can write to.
  for (size_t i = 0; i < count; ++i) {
    const size_t f = (request.member + i) % count;
    SL_RETURN_IF_ERROR(WriteStretches(request.files[f], is_same, texts, reply.stretches[f]));
  }
  return {};
}

PlaceReply SayPlace(const RankTexts& texts) { return {ThisMachine(), texts.place()}; }

std::string DoAsked(std::string_view bytes, RankTexts& texts) {
  using enum WriteRequest::Kind;
  const std::optional<WriteRequest> request = FromBytes<WriteRequest>(bytes);
  if (request && request->kind == kSayPlace) return ToBytes(SayPlace(texts));
  WriteReply reply;
  Status done = request ? texts.Open(request->places) : DamagedMessage();
  if (done.ok() && request->kind == kWrite) done = WriteAsked(*request, texts, reply);
  if (!done.ok()) reply.error = done.error().message;
  return ToBytes(reply);
}

class Writing {
 public:
  Writing(Team& team, ThreadPool& pool, RankTexts& texts, std::span<const FileToWrite> files)
      : team_(team), pool_(pool), texts_(texts), files_(files), orders_(files.size()) {}

  Status Run() {
    SL_RETURN_IF_ERROR(FindTexts());
    SL_RETURN_IF_ERROR(Begin());
    for (size_t member = 1; member < team_.members(); ++member) SL_RETURN_IF_ERROR(AskFor(member));
    Status done = WriteOwn();
    // Whatever happened here, the others answer, and that is taken.
    for (size_t member = 1; member < team_.members(); ++member) {
      Status others = TakeFrom(member);
      if (done.ok()) done = std::move(others);
    }
    SL_RETURN_IF_ERROR(std::move(done));
    for (AtomicFile& file : out_) SL_RETURN_IF_ERROR(file.CommitDurably());
    return {};
  }

 private:
  // Opens the texts of all members, if all are on this machine and each sees those of all.
  Status FindTexts() {
    SL_ASSIGN_OR_RETURN(std::vector<SharedPlace> places, AskForPlaces());
    bool all_see = !places.empty() && texts_.Open(places).ok();
    if (all_see) {
      WriteRequest request;
      request.kind = WriteRequest::Kind::kLook;
      request.places = places;
      SL_ASSIGN_OR_RETURN(const std::vector<WriteReply> replies, AskAll<WriteReply>(request));
      for (const WriteReply& reply : replies) all_see &= reply.error.empty();
    }
    if (!all_see) return texts_.Open({});
    places_ = std::move(places);
    return {};
  }

  // By member; none if not all are on this machine.
  Result<std::vector<SharedPlace>> AskForPlaces() {
    SL_ASSIGN_OR_RETURN(std::vector<PlaceReply> replies, AskAll<PlaceReply>(WriteRequest()));
    replies.insert(replies.begin(), SayPlace(texts_));
    const std::string machine = ThisMachine();
    std::vector<SharedPlace> places;
    for (const PlaceReply& reply : replies) {
      const bool is_here = !machine.empty() && reply.machine == machine;
      if (!is_here || !reply.place) return std::vector<SharedPlace>();
      places.push_back(*reply.place);
    }
    return places;
  }

  // The same of all others at once.
  template <typename Reply>
  Result<std::vector<Reply>> AskAll(const WriteRequest& request) {
    for (size_t member = 1; member < team_.members(); ++member)
      SL_RETURN_IF_ERROR(team_.Ask(member, ToBytes(request)));
    std::vector<Reply> replies;
    for (size_t member = 1; member < team_.members(); ++member) {
      const Result<std::string> answer = team_.TakeAnswer(member);
      if (!answer.ok()) return answer.error();
      std::optional<Reply> reply = FromBytes<Reply>(*answer);
      if (!reply) return DamagedMessage();
      replies.push_back(*std::move(reply));
    }
    return replies;
  }

  // Makes the files, as large as they will be, and says who writes what.
  Status Begin() {
    for (const FileToWrite& file : files_) {
      SL_ASSIGN_OR_RETURN(AtomicFile made, AtomicFile::Create(file.path));
      out_.push_back(std::move(made));
    }
    std::vector<Status> planned(files_.size());
    std::vector<uint64_t> sizes(files_.size());
    pool_.ParallelFor(files_.size(), [&](size_t f) {
      FilePlan plan(texts_, team_.members(), [&](uint64_t offset, std::string_view bytes) {
        return out_[f].WriteAt(offset, bytes);
      });
      planned[f] = files_[f].file->write([&](const FilePiece& piece) { return plan.Add(piece); });
      orders_[f] = plan.Take();
      sizes[f] = plan.size();
      if (planned[f].ok()) planned[f] = out_[f].Reserve(plan.size());
    });
    for (Status& status : planned) SL_RETURN_IF_ERROR(std::move(status));
    if (texts_.has_all()) HandOut(sizes);
    return {};
  }

  // Each file to one member, which writes it whole: a second would wait for the first one's lock of
  // the file with every piece. The largest to the others, as the root has more to do.
  void HandOut(const std::vector<uint64_t>& sizes) {
    std::vector<size_t> files(sizes.size());
    std::iota(files.begin(), files.end(), 0);
    std::stable_sort(files.begin(), files.end(),
                     [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
    for (size_t i = 0; i < files.size(); ++i)
      std::swap(orders_[files[i]][0], orders_[files[i]][(i + 1) % team_.members()]);
  }

  Status AskFor(size_t member) {
    WriteRequest request;
    request.kind = WriteRequest::Kind::kWrite;
    request.machine = ThisMachine();
    request.member = member;
    request.places = places_;
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
    if (reply && !reply->error.empty()) return Error{ErrorCode::kIo, reply->error};
    if (!reply || reply->stretches.size() != files_.size()) return DamagedMessage();
    for (size_t f = 0; f < files_.size(); ++f) {
      for (const auto& [offset, stretch] : reply->stretches[f])
        SL_RETURN_IF_ERROR(out_[f].WriteAt(offset, stretch));
    }
    return {};
  }

  Team& team_;
  ThreadPool& pool_;
  RankTexts& texts_;
  std::span<const FileToWrite> files_;
  std::vector<SharedPlace> places_;               // by member; none where not everybody sees all
  std::deque<AtomicFile> out_;                    // by file
  std::vector<std::vector<std::string>> orders_;  // by file and member
};

}  // namespace

Status WriteTogether(Team& team, ThreadPool& pool, RankTexts& texts,
                     std::span<const FileToWrite> files) {
  return Writing(team, pool, texts, files).Run();
}

Status ServeWrites(Team& team, RankTexts& texts) {
  const Status done = team.Serve([&](std::string_view request) { return DoAsked(request, texts); });
  texts = {};  // gigabytes, given back while MPI ends
  return done;
}

}  // namespace steplens::cluster
