#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "table/table.h"

// A job that can be steered has a folder. Each rank keeps rank_<r>.json there (what it is doing);
// the last request is command.json, which every rank looks at when a step begins:
//
//   {"id":3,"action":"start","ranks":[0,1],"at_step":120,"steps":3}
namespace steplens::record {

struct RankStatus {
  int64_t rank = 0;
  std::string host;
  int64_t pid = 0;
  int64_t step = 0;         // the step the rank is in
  double step_seconds = 0;  // how long one takes; 0: not known yet
  std::string state;        // idle, armed, recording, ended
  std::string capture;      // folder of the present or last capture
  bool is_alive = true;     // the process is there (seen from its own host only)
};

struct Job {
  std::string name;
  std::string folder;
  std::vector<RankStatus> ranks;   // by rank
  std::vector<std::string> notes;  // files of its folder that are not trusted, a sentence each
};

// Where jobs of this user on this machine have their folders: $STEPLENS_JOBS, else
// $XDG_RUNTIME_DIR/steplens/jobs if that is the user's, else ~/.local/state/steplens/jobs/<host>.
// Never a name in a folder that everybody can write to; empty if there is no such place.
std::string JobsFolder();

// Refuses what cannot be the name of a job.
Status CheckJobName(const std::string& name);

// A folder for a new job. Folders of jobs that have ended are removed.
Result<Job> CreateJob(const std::string& name);
// The program that was launched has ended. The folder goes, unless ranks run that others launched,
// as mpirun does; then the last launcher removes it.
void CloseJob(const Job& job);

// The job of that name, or the only one that runs if `name` is empty.
Result<Job> FindJob(const std::string& name);
// Folders that are not this user's alone are left out; `notes`, if given, gets a sentence each.
std::vector<Job> AllJobs(std::vector<std::string>* notes = nullptr);

struct Request {
  std::string action;                // start, stop
  std::vector<int64_t> ranks{};      // empty: all
  std::optional<int64_t> at_step{};  // none: the next one that all ranks can reach
  int64_t steps = 1;                 // how many to record; start only
};

// Asks the ranks; returns the common step at which they act. Refused if the step has passed on a
// rank that is asked, or if a rank does not belong to the job.
Result<int64_t> Send(const Job& job, const Request& request);

// The ranks of the job that a request is for and that run.
std::vector<const RankStatus*> AskedRanks(const Job& job, const Request& request);

table::Table StatusTable(const Job& job);

}  // namespace steplens::record
