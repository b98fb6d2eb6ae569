#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steplens::collect {

// A request of `steplens record start|stop`.
struct AutoCommand {
  int64_t id = 0;
  bool is_stop = false;
  bool is_for_all = true;
  std::vector<int64_t> ranks;      // if not for all
  std::optional<int64_t> at_step;  // from 1 on
  std::optional<int64_t> steps;    // likewise

  bool IsFor(int64_t rank) const;
};

// nullopt, and what is wrong in `*why`, if it is none.
std::optional<AutoCommand> ParseAutoCommand(std::string_view json, std::string* why);

// The folder in which the ranks of a job and the command line meet: command.json is read, one stat
// a step; rank_<r>.json says what this rank does and is replaced whole, at most twice a second
// unless the state changes. The files are those of the Python package. Not for several threads at
// once. A failure is told once on standard error. The folder must be this user's, and nobody else's
// to write to; a command that is a link, no file or somebody else's is not read.
class AutoControl {
 public:
  // `rank`: -1 counts as 0.
  AutoControl(std::string folder, int64_t rank);

  // The command that has come since the last call, if any.
  std::optional<AutoCommand> Poll();
  void Answer(const AutoCommand& command, const std::string& text);
  // `state`: idle, armed, recording or ended.
  void Report(int64_t step, std::string_view state, const std::string& capture);

 private:
  struct Mark {
    int64_t modified_ns = 0;
    int64_t size = 0;
    uint64_t inode = 0;
    bool operator==(const Mark&) const = default;
  };

  double StepSeconds(int64_t step, int64_t now_ns);
  std::string WhyUnusable() const;
  void Tell(int error);
  void Tell(const std::string& why);
  std::optional<std::string> ReadCommand(const std::string& path);

  const std::string folder_;
  const int64_t rank_;
  bool is_usable_ = false;
  Mark seen_;
  std::optional<int64_t> last_id_;
  std::string answer_;
  std::string last_state_;
  int64_t last_report_ns_ = 0;  // 0: the next one is written at once
  int64_t measured_step_ = 0;   // when it began, the last time a step's length was measured
  int64_t measured_ns_ = 0;
  double step_seconds_ = 0;  // 0: not known yet
  bool told_ = false;
};

}  // namespace steplens::collect
