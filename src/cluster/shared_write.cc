#include "cluster/shared_write.h"

#include <deque>
#include <fstream>

#include "base/archive.h"
#include "base/file.h"
#include "base/shared_bytes.h"
#include "cluster/file_plan.h"

namespace steplens::cluster {
namespace {

using analysis::cluster::FilePiece;

// Orders that the root shares, as a stretch of its memory.
struct OrdersPlace {
  uint64_t offset = 0;
  uint64_t size = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(offset, size);
  }
};

struct FileOrders {
  std::string name;
  std::string path;  // until it is whole
  uint64_t id = 0;
  std::string orders;                // of the member, or
  std::vector<OrdersPlace> by_turn;  // of all: whoever has time takes the next

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, path, id, orders, by_turn);
  }
};

// What the root asks of a member: first where its texts are, then to write.
struct WriteRequest {
  bool is_for_place = false;
  std::string machine;
  std::vector<SharedPlace> places;  // of all members' texts, where orders are taken by turn
  SharedPlace turns;                // counters of orders that are taken, by file
  std::vector<FileOrders> files;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(is_for_place, machine, places, turns, files);
  }
};

// Where the texts of a member are, for others on its machine.
struct PlaceReply {
  std::string machine;  // empty: others cannot look at them
  SharedPlace place;

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

// Carries out orders of a file until all are taken.
Status WriteByTurn(const std::vector<OrdersPlace>& orders, const RankTexts& texts,
                   const std::function<uint64_t()>& next, const WriteAt& write) {
  while (true) {
    const uint64_t i = next();
    if (i >= orders.size()) return {};
    const auto bytes = texts.FindShared(0, orders[i].offset, orders[i].size);
    if (!bytes) return DamagedMessage();
    SL_RETURN_IF_ERROR(CarryOut(*bytes, texts, write));
  }
}

// On a member. If it cannot look at something or reach a file, others have more turns.
Status TakeTurns(const WriteRequest& request, size_t first, RankTexts& texts) {
  const size_t count = request.files.size();
  if (!texts.OpenAll(request.places).ok()) return {};
  Result<SharedCounters> turns = SharedCounters::Open(request.turns, count);
  if (!turns.ok()) return {};
  for (size_t i = 0; i < count; ++i) {
    const size_t f = (first + i) % count;
    const FileOrders& file = request.files[f];
    Result<FileStretches> opened = FileStretches::Open(file.path, file.id, file.name);
    if (!opened.ok()) continue;
    SL_RETURN_IF_ERROR(WriteByTurn(
        file.by_turn, texts, [&] { return turns->Next(f); },
        [&](uint64_t offset, std::string_view bytes) { return opened->WriteAt(offset, bytes); }));
    SL_RETURN_IF_ERROR(opened->Close());
  }
  return {};
}

PlaceReply SayPlace(RankTexts& texts) {
  std::optional<SharedPlace> place = texts.EndSharing();
  if (!place) return {};
  return {ThisMachine(), *std::move(place)};
}

std::string DoAsked(std::string_view bytes, size_t first, RankTexts& texts) {
  WriteReply reply;
  const std::optional<WriteRequest> request = FromBytes<WriteRequest>(bytes);
  if (!request) {
    reply.error = DamagedMessage().message;
    return ToBytes(reply);
  }
  if (request->is_for_place) return ToBytes(SayPlace(texts));
  const size_t count = request->files.size();
  reply.stretches.resize(count);
  if (!request->places.empty()) {
    const Status done = TakeTurns(*request, first, texts);
    if (!done.ok()) reply.error = done.error().message;
    return ToBytes(reply);
  }
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
  Writing(Team& team, ThreadPool& pool, RankTexts& texts, std::span<const FileToWrite> files)
      : team_(team),
        pool_(pool),
        texts_(texts),
        files_(files),
        orders_(files.size()),
        by_turn_(files.size()) {}

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
    texts_.CloseAll();  // so that the others, not this process, give back their memory
    SL_RETURN_IF_ERROR(std::move(done));
    for (AtomicFile& file : out_) SL_RETURN_IF_ERROR(file.Commit());
    return {};
  }

 private:
  // Opens the texts of all members, if all are on this machine.
  Status FindTexts() {
    WriteRequest request;
    request.is_for_place = true;
    for (size_t member = 1; member < team_.members(); ++member)
      SL_RETURN_IF_ERROR(team_.Ask(member, ToBytes(request)));
    std::vector<PlaceReply> replies = {SayPlace(texts_)};
    for (size_t member = 1; member < team_.members(); ++member) {
      SL_ASSIGN_OR_RETURN(const std::string bytes, team_.TakeAnswer(member));
      std::optional<PlaceReply> reply = FromBytes<PlaceReply>(bytes);
      if (!reply) return DamagedMessage();
      replies.push_back(*std::move(reply));
    }
    const std::string machine = ThisMachine();
    for (PlaceReply& reply : replies) {
      if (machine.empty() || reply.machine != machine) return {};
      places_.push_back(std::move(reply.place));
    }
    // Who is not let in does without.
    Result<SharedCounters> turns = SharedCounters::Create(files_.size());
    if (!turns.ok() || !texts_.OpenAll(places_).ok()) return {};
    turns_.emplace(*std::move(turns));
    return {};
  }

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
    return turns_ ? ShareOrders() : Status();
  }

  Status ShareOrders() {
    for (size_t f = 0; f < files_.size(); ++f) {
      for (const std::string& orders : orders_[f]) {
        SL_ASSIGN_OR_RETURN(const uint64_t offset, texts_.PutShared(orders));
        by_turn_[f].push_back({offset, orders.size()});
      }
    }
    return texts_.OpenAll(places_);  // as it is now
  }

  Status AskFor(size_t member) {
    WriteRequest request;
    request.machine = ThisMachine();
    if (turns_) {
      request.places = places_;
      request.turns = turns_->place();
    }
    for (size_t f = 0; f < files_.size(); ++f) {
      SL_ASSIGN_OR_RETURN(const uint64_t id, out_[f].Id());
      request.files.push_back({out_[f].path(), out_[f].temporary_path(), id,
                               turns_ ? "" : std::move(orders_[f][member]), by_turn_[f]});
    }
    return team_.Ask(member, ToBytes(request));
  }

  Status WriteOwn() {
    for (size_t f = 0; f < files_.size(); ++f) {
      const auto write = [&](uint64_t offset, std::string_view bytes) {
        return out_[f].WriteAt(offset, bytes);
      };
      SL_RETURN_IF_ERROR(turns_ ? WriteByTurn(
                                      by_turn_[f], texts_, [&] { return turns_->Next(f); }, write)
                                : CarryOut(orders_[f][0], texts_, write));
    }
    return {};
  }

  Status TakeFrom(size_t member) {
    SL_ASSIGN_OR_RETURN(const std::string bytes, team_.TakeAnswer(member));
    const std::optional<WriteReply> reply = FromBytes<WriteReply>(bytes);
    if (!reply || reply->stretches.size() != files_.size()) return DamagedMessage();
    if (!reply->error.empty()) return Error{ErrorCode::kIo, reply->error};
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
  std::vector<SharedPlace> places_;               // of texts, by member
  std::optional<SharedCounters> turns_;           // by file; where all can look at all texts
  std::deque<AtomicFile> out_;                    // by file
  std::vector<std::vector<std::string>> orders_;  // by file and member, or turn
  std::vector<std::vector<OrdersPlace>> by_turn_;
};

}  // namespace

Status WriteTogether(Team& team, ThreadPool& pool, RankTexts& texts,
                     std::span<const FileToWrite> files) {
  return Writing(team, pool, texts, files).Run();
}

Status ServeWrites(Team& team, RankTexts& texts) {
  // The root begins with the first file.
  const Status done =
      team.Serve([&](std::string_view request) { return DoAsked(request, 1, texts); });
  texts = {};  // gigabytes, given back while MPI ends
  return done;
}

}  // namespace steplens::cluster
