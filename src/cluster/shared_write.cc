#include "cluster/shared_write.h"

#include <deque>
#include <fstream>

#include "base/archive.h"
#include "base/file.h"
#include "base/process_memory.h"
#include "base/shared_counters.h"
#include "cluster/file_plan.h"

namespace steplens::cluster {
namespace {

using analysis::cluster::FilePiece;

// Where the root has orders.
struct OrdersPlace {
  uint64_t address = 0;
  uint64_t size = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(address, size);
  }
};

struct FileOrders {
  std::string name;
  std::string path;  // until it is whole
  uint64_t id = 0;
  std::string orders;                             // of the member, or
  std::vector<std::vector<OrdersPlace>> by_turn;  // of all: whoever has time takes the next

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, path, id, orders, by_turn);
  }
};

// What the root asks of a member: first where its texts are, then to write.
struct WriteRequest {
  bool is_for_place = false;
  std::string machine;
  uint64_t member = 0;              // who is asked
  std::vector<MemoryPlace> places;  // of all members, where orders are taken by turn
  SharedPlace turns;                // counters of orders that are taken, by file and member
  std::vector<FileOrders> files;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(is_for_place, machine, member, places, turns, files);
  }
};

// Where a member is, for others on its machine.
struct PlaceReply {
  std::string machine;
  MemoryPlace place;

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

// Carries out orders of files until all are taken: first those of one's own texts, then what others
// have not come to yet. Not all begin with the same file, which only one at a time can write to.
class Turns {
 public:
  // How to write to a file; nothing if it cannot be reached, and others have more turns.
  using FindWriter = std::function<std::optional<WriteAt>(size_t file)>;

  Turns(SharedCounters& taken, const RankTexts& texts, FindWriter find_writer)
      : taken_(taken), texts_(texts), find_writer_(std::move(find_writer)) {}

  // `orders` by file and member.
  Status Take(size_t member, std::span<const std::vector<std::vector<OrdersPlace>>> orders) {
    const size_t files = orders.size();
    for (const bool is_own : {true, false}) {
      for (size_t i = 0; i < files; ++i) {
        const size_t f = (member + i) % files;
        const std::optional<WriteAt> write = find_writer_(f);
        for (size_t m = 0; write && m < orders[f].size(); ++m) {
          if ((m == member) != is_own) continue;
          SL_RETURN_IF_ERROR(TakeOf(orders[f][m], f * orders[f].size() + m, *write));
        }
      }
    }
    return {};
  }

 private:
  Status TakeOf(const std::vector<OrdersPlace>& orders, size_t counter, const WriteAt& write) {
    while (true) {
      const uint64_t i = taken_.Next(counter);
      if (i >= orders.size()) return {};
      std::string bytes(orders[i].size, '\0');
      const MemoryPiece piece{orders[i].address, orders[i].size, 0};
      SL_RETURN_IF_ERROR(texts_.Read(0, {&piece, 1}, bytes.data()));
      SL_RETURN_IF_ERROR(CarryOut(bytes, texts_, write));
    }
  }

  SharedCounters& taken_;
  const RankTexts& texts_;
  FindWriter find_writer_;
};

// On a member. If it cannot look at something, others have more turns.
Status TakeTurns(const WriteRequest& request, RankTexts& texts) {
  if (!texts.OpenAll(request.places).ok()) return {};
  const size_t count = request.files.size();
  Result<SharedCounters> taken = SharedCounters::Open(request.turns, count * request.places.size());
  if (!taken.ok()) return {};
  std::vector<std::optional<FileStretches>> opened(count);
  std::vector<std::vector<std::vector<OrdersPlace>>> orders;
  for (size_t f = 0; f < count; ++f) {
    const FileOrders& file = request.files[f];
    Result<FileStretches> out = FileStretches::Open(file.path, file.id, file.name);
    if (out.ok()) opened[f].emplace(*std::move(out));
    orders.push_back(file.by_turn);
  }
  Turns turns(*taken, texts, [&](size_t f) -> std::optional<WriteAt> {
    if (!opened[f]) return std::nullopt;
    return [&, f](uint64_t offset, std::string_view bytes) {
      return opened[f]->WriteAt(offset, bytes);
    };
  });
  SL_RETURN_IF_ERROR(turns.Take(request.member, orders));
  for (auto& file : opened) {
    if (file) SL_RETURN_IF_ERROR(file->Close());
  }
  return {};
}

PlaceReply SayPlace() { return {ThisMachine(), OwnMemory()}; }

std::string DoAsked(std::string_view bytes, RankTexts& texts) {
  WriteReply reply;
  const std::optional<WriteRequest> request = FromBytes<WriteRequest>(bytes);
  if (!request) {
    reply.error = DamagedMessage().message;
    return ToBytes(reply);
  }
  if (request->is_for_place) return ToBytes(SayPlace());
  const size_t count = request->files.size();
  reply.stretches.resize(count);
  if (!request->places.empty()) {
    const Status done = TakeTurns(*request, texts);
    if (!done.ok()) reply.error = done.error().message;
    return ToBytes(reply);
  }
  const std::string machine = ThisMachine();
  const bool is_same = !machine.empty() && machine == request->machine;
  // Not all begin with the same file, which only one at a time can write to.
  for (size_t i = 0; i < count && reply.error.empty(); ++i) {
    const size_t f = (request->member + i) % count;
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
    std::vector<PlaceReply> replies = {SayPlace()};
    for (size_t member = 1; member < team_.members(); ++member) {
      const Result<std::string> answer = team_.TakeAnswer(member);
      if (!answer.ok()) return answer.error();
      std::optional<PlaceReply> reply = FromBytes<PlaceReply>(*answer);
      if (!reply) return DamagedMessage();
      replies.push_back(*std::move(reply));
    }
    const std::string machine = ThisMachine();
    for (PlaceReply& reply : replies) {
      if (machine.empty() || reply.machine != machine) return {};
      places_.push_back(reply.place);
    }
    // Who is not let in does without.
    Result<SharedCounters> turns = SharedCounters::Create(files_.size() * places_.size());
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
      FilePlan plan(texts_, team_.members(), [&](uint64_t offset, std::string_view bytes) {
        return out_[f].WriteAt(offset, bytes);
      });
      planned[f] = files_[f].file->write([&](const FilePiece& piece) { return plan.Add(piece); });
      orders_[f] = plan.Take();
      if (planned[f].ok()) planned[f] = out_[f].Reserve(plan.size());
    });
    for (Status& status : planned) SL_RETURN_IF_ERROR(std::move(status));
    if (turns_) ShareOrders();
    return {};
  }

  void ShareOrders() {
    for (size_t f = 0; f < files_.size(); ++f) {
      for (const std::vector<std::string>& of_member : orders_[f]) {
        std::vector<OrdersPlace>& places = by_turn_[f].emplace_back();
        for (const std::string& orders : of_member)
          places.push_back({reinterpret_cast<uintptr_t>(orders.data()), orders.size()});
      }
    }
  }

  Status AskFor(size_t member) {
    WriteRequest request;
    request.machine = ThisMachine();
    request.member = member;
    if (turns_) {
      request.places = places_;
      request.turns = turns_->place();
    }
    for (size_t f = 0; f < files_.size(); ++f) {
      SL_ASSIGN_OR_RETURN(const uint64_t id, out_[f].Id());
      request.files.push_back({out_[f].path(), out_[f].temporary_path(), id,
                               turns_ ? "" : Joined(orders_[f][member]), by_turn_[f]});
    }
    return team_.Ask(member, ToBytes(request));
  }

  static std::string Joined(const std::vector<std::string>& orders) {
    std::string all;
    for (const std::string& one : orders) all += one;
    return all;
  }

  Status WriteOwn() {
    const auto writer_of = [&](size_t f) -> WriteAt {
      return [&, f](uint64_t offset, std::string_view bytes) {
        return out_[f].WriteAt(offset, bytes);
      };
    };
    if (turns_) return Turns(*turns_, texts_, writer_of).Take(0, by_turn_);
    for (size_t f = 0; f < files_.size(); ++f)
      SL_RETURN_IF_ERROR(CarryOut(Joined(orders_[f][0]), texts_, writer_of(f)));
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
  std::vector<MemoryPlace> places_;      // by member
  std::optional<SharedCounters> turns_;  // by file and member; where all can look at all texts
  std::deque<AtomicFile> out_;           // by file
  std::vector<std::vector<std::vector<std::string>>> orders_;  // by file and member
  std::vector<std::vector<std::vector<OrdersPlace>>> by_turn_;
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
