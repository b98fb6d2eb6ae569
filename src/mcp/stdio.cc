#include "mcp/stdio.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "base/cancel.h"

namespace steplens::mcp {
namespace {

constexpr size_t kMaxLineBytes = size_t{4} << 20;
constexpr size_t kMaxWaiting = 256;

// A line that is to be answered, and the ids that were cancelled since.
struct WaitingLine {
  Line line;
  std::mutex mutex{};
  std::vector<std::string> cancelled{};

  explicit WaitingLine(Line of) : line(std::move(of)) {}
  bool IsCancelledId(const std::string& id) {
    const std::lock_guard lock(mutex);
    return std::find(cancelled.begin(), cancelled.end(), id) != cancelled.end();
  }
  void Cancel(const std::string& id) {
    const std::lock_guard lock(mutex);
    cancelled.push_back(id);
  }
};

class LineServer {
 public:
  LineServer(Session& session, int output)
      : session_(session), output_(output), worker_([this] { Work(); }) {}
  ~LineServer() { Finish(); }
  LineServer(const LineServer&) = delete;
  LineServer& operator=(const LineServer&) = delete;

  void Take(std::string_view text) {
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    if (text.empty()) return;
    Result<Line> line = ParseLine(text);
    if (!line.ok()) {
      Send(ErrorMessage("", RpcError::kParse, "not JSON: " + line.error().message));
      return;
    }
    if (!line->is_batch && AnswerAtOnce(line->messages.front())) return;
    auto waiting = std::make_shared<WaitingLine>(*std::move(line));
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kMaxWaiting) {
      Send(
          ErrorMessage(waiting->line.messages.front().id_json, RpcError::kBusy,
                       fmt::format("{} messages wait already; send fewer at a time", kMaxWaiting)));
      return;
    }
    queue_.push_back(std::move(waiting));
    changed_.notify_one();
  }

  void Refuse(std::string_view why) { Send(ErrorMessage("", RpcError::kInvalidRequest, why)); }

  // Answers what is queued, then ends.
  void Finish() {
    {
      const std::lock_guard lock(mutex_);
      is_finished_ = true;
      changed_.notify_one();
    }
    if (worker_.joinable()) worker_.join();
  }
  bool is_broken() const { return is_broken_.load(); }

 private:
  // What must not wait for a long call.
  bool AnswerAtOnce(const Message& message) {
    if (!message.problem.empty()) return false;
    if (message.method == "ping" && message.wants_answer()) {
      Send(ResultMessage(message.id_json, "{}"));
      return true;
    }
    if (message.method != "notifications/cancelled") return false;
    const JsonValue id = message.params["requestId"];
    std::string id_json = id.ToText();
    if (id.IsString()) {
      id_json.clear();
      AppendJsonString(id_json, *id.AsString());
    }
    const std::lock_guard lock(mutex_);
    for (const auto& waiting : queue_) waiting->Cancel(id_json);
    if (current_) current_->Cancel(id_json);
    return true;
  }

  void Work() {
    while (true) {
      std::shared_ptr<WaitingLine> next;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_finished_ || !queue_.empty(); });
        if (queue_.empty()) return;
        next = std::move(queue_.front());
        queue_.pop_front();
        current_ = next;
      }
      Answer(*next);
      const std::lock_guard lock(mutex_);
      current_.reset();
    }
  }

  void Answer(WaitingLine& waiting) {
    std::string out;
    for (const Message& message : waiting.line.messages) {
      const auto is_unwanted = [&] {
        return steplens::IsCancelled() || is_broken() || waiting.IsCancelledId(message.id_json);
      };
      if (!message.id_json.empty() && waiting.IsCancelledId(message.id_json)) continue;
      const std::string one = session_.Answer(message, is_unwanted);
      // A cancelled request gets no answer.
      if (one.empty() || waiting.IsCancelledId(message.id_json)) continue;
      if (!out.empty()) out += ',';
      out += one;
    }
    if (out.empty()) return;
    Send(waiting.line.is_batch ? "[" + out + "]" : out);
  }

  void Send(std::string text) {
    text += '\n';
    const std::lock_guard lock(output_mutex_);
    size_t sent = 0;
    while (sent < text.size() && !is_broken_.load()) {
      const ssize_t n = write(output_, text.data() + sent, text.size() - sent);
      if (n >= 0) {
        sent += static_cast<size_t>(n);
      } else if (errno != EINTR) {
        is_broken_.store(true);
      }
    }
  }

  Session& session_;
  const int output_;
  std::mutex output_mutex_;
  std::atomic<bool> is_broken_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<WaitingLine>> queue_;
  std::shared_ptr<WaitingLine> current_;
  bool is_finished_ = false;
  std::thread worker_;  // last: it uses all of the above
};

}  // namespace

Status ServeLines(Session& session, int input, int output) {
  LineServer server(session, output);
  std::string pending;
  bool is_skipping = false;
  char buffer[65536];
  while (!IsCancelled() && !server.is_broken()) {
    pollfd ready{input, POLLIN, 0};
    constexpr int kTickMs = 200;
    const int count = poll(&ready, 1, kTickMs);
    if (count < 0 && errno != EINTR)
      return Error{ErrorCode::kIo, fmt::format("mcp: stdin: {}", std::strerror(errno))};
    if (count <= 0) continue;
    const ssize_t n = read(input, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{ErrorCode::kIo, fmt::format("mcp: stdin: {}", std::strerror(errno))};
    if (n == 0) break;
    std::string_view bytes(buffer, static_cast<size_t>(n));
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, end);
      if (!is_skipping) pending += piece;
      if (pending.size() > kMaxLineBytes) {
        is_skipping = true;
        pending.clear();
        server.Refuse("a message may have 4 MiB; this one was skipped");
      }
      if (end == std::string_view::npos) break;
      if (!is_skipping) server.Take(pending);
      is_skipping = false;
      pending.clear();
      bytes.remove_prefix(end + 1);
    }
  }
  if (!is_skipping && !IsCancelled()) server.Take(pending);
  server.Finish();
  return {};
}

}  // namespace steplens::mcp
