#include "collect/auto_control.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collect/append_file.h"
#include "collect/auto_config.h"
#include "collect/clock.h"
#include "collect/json_text.h"

namespace steplens::collect {
namespace {

constexpr int64_t kReportPeriodNs = 500'000'000;

std::string HostName() {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  return host;
}

int64_t WorldSize() {
  for (const char* name : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    if (const std::optional<int64_t> size = ParseInteger(text); size && *size > 0) return *size;
  }
  return 1;
}

std::string Seconds(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.6f", value);
  return text;
}

// A number from 1 on; null counts as not given.
bool SetCount(std::string_view value, std::optional<int64_t>* out) {
  if (value == "null") return true;
  *out = ParseInteger(value);
  return *out && **out >= 1;
}

bool SetRanks(std::string_view value, AutoCommand* command) {
  if (JsonString(value) == "all") return true;
  const auto elements = JsonElements(value);
  if (!elements) return false;
  command->is_for_all = false;
  for (const std::string& element : *elements) {
    const std::optional<int64_t> rank = ParseInteger(element);
    if (!rank) return false;
    command->ranks.push_back(*rank);
  }
  return true;
}

// Why a member cannot be used; "" if it can.
std::string Set(std::string_view key, std::string_view value, AutoCommand* command) {
  if (key == "id") {
    const std::optional<int64_t> id = ParseInteger(value);
    command->id = id.value_or(0);
    return id ? "" : "id is not a number";
  }
  if (key == "action") {
    const std::optional<std::string> action = JsonString(value);
    command->is_stop = action == "stop";
    return command->is_stop || action == "start" ? "" : "action is neither start nor stop";
  }
  if (key == "ranks")
    return SetRanks(value, command) ? "" : "ranks is neither 'all' nor a list of numbers";
  if (key == "at_step")
    return SetCount(value, &command->at_step) ? "" : "at_step is not a number from 1 on";
  if (key == "steps")
    return SetCount(value, &command->steps) ? "" : "steps is not a number from 1 on";
  return "";
}

}  // namespace

bool AutoCommand::IsFor(int64_t rank) const {
  return is_for_all || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

std::optional<AutoCommand> ParseAutoCommand(std::string_view json, std::string* why) {
  const auto members = JsonMembers(json);
  if (!members) {
    *why = "it is not a JSON object";
    return std::nullopt;
  }
  AutoCommand command;
  bool has_id = false;
  bool has_action = false;
  for (const auto& [key, value] : *members) {
    *why = Set(key, value, &command);
    if (!why->empty()) return std::nullopt;
    has_id = has_id || key == "id";
    has_action = has_action || key == "action";
  }
  if (has_id && has_action) return command;
  *why = has_id ? "it has no action" : "it has no id";
  return std::nullopt;
}

AutoControl::AutoControl(std::string folder, int64_t rank)
    : folder_(std::move(folder)), rank_(std::max<int64_t>(rank, 0)) {
  const std::string why = WhyUnusable();
  is_usable_ = why.empty();
  if (!is_usable_) Tell(why);
}

// Makes the folder if it is not there; empty if it is this user's alone.
std::string AutoControl::WhyUnusable() const {
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return std::strerror(errno);
  struct stat status = {};
  if (lstat(folder_.c_str(), &status) != 0) return std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return "it is not a folder, or a link";
  if (status.st_uid != geteuid()) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write to it";
  return "";
}

// Nothing, and told, if it is none that this user has written.
std::optional<std::string> AutoControl::ReadCommand(const std::string& path) {
  constexpr size_t kMaxCommand = 64 << 10;
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat status = {};
  const bool is_ours =
      fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
  std::string text(kMaxCommand, '\0');
  const ssize_t got = is_ours ? pread(fd, text.data(), text.size(), 0) : 0;
  if (fd >= 0) close(fd);
  if (!is_ours) {
    std::fprintf(stderr,
                 "steplens: %s is not used: it is a link, no file, or belongs to another user\n",
                 path.c_str());
    return std::nullopt;
  }
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

std::optional<AutoCommand> AutoControl::Poll() {
  if (!is_usable_) return std::nullopt;
  const std::string path = folder_ + "/command.json";
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  const Mark mark{int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec,
                  int64_t{status.st_size}, static_cast<uint64_t>(status.st_ino)};
  if (mark == seen_) return std::nullopt;
  seen_ = mark;
  const std::optional<std::string> text = ReadCommand(path);
  if (!text) return std::nullopt;
  std::string why;
  const std::optional<AutoCommand> command = ParseAutoCommand(*text, &why);
  if (!command) {
    std::fprintf(stderr, "steplens: %s is not a command: %s\n", path.c_str(), why.c_str());
    return std::nullopt;
  }
  return command->id == last_id_ ? std::nullopt : command;
}

void AutoControl::Answer(const AutoCommand& command, const std::string& text) {
  last_id_ = command.id;
  answer_ = text;
  last_report_ns_ = 0;
}

void AutoControl::Report(int64_t step, std::string_view state, const std::string& capture) {
  if (!is_usable_) return;
  const int64_t now_ns = ClockNs(CLOCK_MONOTONIC);
  const bool is_due = last_report_ns_ == 0 || now_ns - last_report_ns_ >= kReportPeriodNs;
  if (!is_due && state == last_state_) return;
  last_report_ns_ = now_ns;
  last_state_ = state;
  const double wall_s = static_cast<double>(ClockNs(CLOCK_REALTIME)) / 1e9;
  const std::string text =
      "{\"pid\": " + std::to_string(getpid()) + ", \"host\": " + QuoteJson(HostName()) +
      ", \"rank\": " + std::to_string(rank_) + ", \"world_size\": " + std::to_string(WorldSize()) +
      ", \"step\": " + std::to_string(step) + ", \"state\": " + QuoteJson(state) +
      ", \"capture\": " + QuoteJson(capture) +
      ", \"step_seconds\": " + Seconds(StepSeconds(step, now_ns)) +
      ", \"command\": " + (last_id_ ? std::to_string(*last_id_) : "null") +
      ", \"answer\": " + QuoteJson(answer_) + ", \"time\": " + Seconds(wall_s) + "}";
  Tell(ReplaceFile(folder_ + "/rank_" + std::to_string(rank_) + ".json", text));
}

// The mean over at least the time between two reports: a common future step is chosen by it, and
// the few steps around the start of a capture take longer than those to come.
double AutoControl::StepSeconds(int64_t step, int64_t now_ns) {
  const bool is_first = measured_ns_ == 0;
  if (!is_first && (step == measured_step_ || now_ns - measured_ns_ < kReportPeriodNs)) {
    return step_seconds_;
  }
  const double seconds = static_cast<double>(now_ns - measured_ns_) / 1e9;
  step_seconds_ = is_first ? 0 : seconds / static_cast<double>(step - measured_step_);
  measured_step_ = step;
  measured_ns_ = now_ns;
  return step_seconds_;
}

void AutoControl::Tell(int error) {
  if (error != 0) Tell(std::string(std::strerror(error)));
}

void AutoControl::Tell(const std::string& why) {
  if (told_) return;
  told_ = true;
  std::fprintf(stderr, "steplens: %s: this rank cannot be controlled while it runs (%s)\n",
               folder_.c_str(), why.c_str());
}

}  // namespace steplens::collect
