#include "cluster/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>

#include "base/absolute_path.h"
#include "base/archive.h"
#include "base/cancel.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/readability.h"
#include "cluster/coverage_notes.h"
#include "cluster/manifest.h"
#include "cluster/part_cache.h"
#include "cluster/rank_message.h"
#include "cluster/ranks.h"
#include "open/open.h"

namespace steplens::cluster {
namespace {

namespace cluster_analysis = analysis::cluster;
using cluster_analysis::Form;
using cluster_analysis::RankFacts;
using cluster_analysis::Recipe;
using cluster_analysis::RecipeSpec;

// What one rank contributes: who it is and its part of each recipe, or why it contributes nothing.
// `Text` is a string, or a view of the bytes it was read from.
template <typename Text>
struct RankPartOf {
  std::string error;
  RankFacts facts;
  std::vector<Text> parts;  // one a recipe, as the cache keeps them

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(error, facts, parts);
  }
};
using RankPart = RankPartOf<std::string>;
using RankPartView = RankPartOf<std::string_view>;

readers::Wanted WantedBy(const std::vector<RecipeSpec>& recipes) {
  readers::Wanted wanted{.timeline = false, .communication = false, .others = false};
  for (const RecipeSpec& recipe : recipes) {
    wanted.timeline |= recipe.needs.timeline;
    wanted.communication |= recipe.needs.communication;
    wanted.others |= recipe.needs.others;
  }
  return wanted;
}

uint64_t SizeOf(const opening::Capture& capture) {
  uint64_t total = 0;
  for (const readers::SourceFile& file : capture.source.files) total += file.size_bytes;
  return total;
}

// Everything that changes what a rank's part holds.
std::string Identity(const RunOptions& options) {
  std::string text = AbsolutePath(options.input);
  // Another program may have other parts.
  if (const Result<FileStamp> program = StatFile("/proc/self/exe"); program.ok())
    text += fmt::format("\n{} {}", program->size_bytes, program->mtime_ns);
  for (const RecipeSpec& recipe : options.recipes) text += "\n" + recipe.name;
  // Parts for another machine hold more.
  text += fmt::format("\n{} {} {}", options.options.compat, options.options.step.value_or(-1),
                      options.map_to.empty() ? "" : "map");
  for (const auto& [name, value] : options.options.values)
    text += fmt::format("\n{}={}", name, value);
  return text;
}

// Some readers speak of a file without its folder.
std::string WithPlace(const std::string& folder, const std::string& reason) {
  const bool says_folder = reason.find(folder) != reason.npos;
  return says_folder ? reason : fmt::format("{}: {}", folder, reason);
}

class Run {
 public:
  Run(Team& team, ThreadPool& pool, const RunOptions& options)
      : team_(team),
        pool_(pool),
        options_(options),
        wanted_(WantedBy(options.recipes)),
        stores_(options.use_cache ? store::CacheDirectory() : ""),
        cache_(options.use_cache && options.parts.empty() ? store::CacheDirectory() : "",
               Identity(options)) {}

  Result<RunResult> Do() {
    for (const RecipeSpec& recipe : options_.recipes) {
      SL_ASSIGN_OR_RETURN(std::unique_ptr<Recipe> made, recipe.make(options_.options));
      result_.recipes.push_back(std::move(made));
    }
    SL_RETURN_IF_ERROR(ReadBaselines());
    if (options_.parts.empty()) {
      SL_ASSIGN_OR_RETURN(const std::vector<std::string> known, KnownFolders());
      SL_ASSIGN_OR_RETURN(selection_, SelectRanks(team_, options_.input, options_.ranks, known));
    } else {
      SelectParts();
    }
    result_.found = selection_.found;
    result_.notes = selection_.notes;
    for (const store::InputFile& lost : selection_.lost) {
      const bool says_path = lost.note.starts_with(lost.path + ": ");
      result_.failed.push_back(
          {store::kNone, lost.path, lost.note.substr(says_path ? lost.path.size() + 2 : 0)});
    }
    SL_ASSIGN_OR_RETURN(const bool has_place, MakePartFile());
    if (!has_place) return std::move(result_);  // the root says why
    if (!options_.map_to.empty()) LetSeeTimelines();
    SL_RETURN_IF_ERROR(MapAll());
    if (!team_.is_root()) return std::move(result_);
    team_.UseCoresOfAll();
    SL_RETURN_IF_ERROR(CheckOutcome());
    SL_RETURN_IF_ERROR(ListCaptures());
    if (writer_) {
      SL_RETURN_IF_ERROR(written_);
      SL_RETURN_IF_ERROR(writer_->Commit());
      return std::move(result_);
    }
    result_.form = InputForm();
    if (options_.parts.empty()) LetSeeTimelines();
    std::vector<std::optional<Result<cluster_analysis::Answer>>> answers(result_.recipes.size());
    const auto finish = [&](size_t r) {
      answers[r].emplace(result_.recipes[r]->Finish(result_.form));
    };
    std::vector<size_t> with_files;
    std::vector<size_t> others;
    for (size_t r = 0; r < answers.size(); ++r)
      (options_.recipes[r].has_files ? with_files : others).push_back(r);
    // At once: files are made and written, and the other questions answered.
    ThreadPool finishers(ThreadsAfterRanks(team_, pool_));
    finishers.ParallelFor(1 + others.size(), [&](size_t i) {
      if (i > 0) {
        finish(others[i - 1]);
        return;
      }
      std::vector<const cluster_analysis::ResultFile*> files;
      for (const size_t r : with_files) {
        finish(r);
        if (!answers[r]->ok()) continue;
        for (const cluster_analysis::ResultFile& file : (**answers[r]).files)
          files.push_back(&file);
      }
      if (options_.on_files) options_.on_files(files, result_.texts);
    });
    for (auto& answer : answers) result_.answers.push_back(*std::move(answer));
    return std::move(result_);
  }

 private:
  // Opens the file for the parts where one is asked for. False, on members that are not the root,
  // if it cannot be created: no process may wait for a root that has failed.
  Result<bool> MakePartFile() {
    if (options_.map_to.empty()) return true;
    std::optional<Error> error;
    if (team_.is_root()) {
      Result<PartFileWriter> writer = PartFileWriter::Create(options_.map_to, options_.question);
      writer.ok() ? void(writer_.emplace(*std::move(writer))) : void(error = writer.error());
    }
    std::string refusal = error ? error->message : "";
    SL_RETURN_IF_ERROR(team_.Share(refusal));
    if (error) return *error;
    return refusal.empty();
  }

  // The captures that recipes compare the job with; make() has seen to it that they are named.
  Status ReadBaselines() {
    for (size_t r = 0; r < result_.recipes.size(); ++r) {
      const std::string& option = options_.recipes[r].baseline_option;
      if (option.empty()) continue;
      opening::OpenOptions open;
      open.threads = pool_.threads();
      open.use_cache = options_.use_cache;
      const Result<store::Job> baseline = opening::OpenJob({options_.options.Value(option)}, open);
      if (!baseline.ok()) {
        const bool is_cancelled = baseline.error().code == ErrorCode::kCancelled;
        return Error{is_cancelled ? ErrorCode::kCancelled : ErrorCode::kIo,
                     fmt::format("--{}: {}", option, baseline.error().message)};
      }
      result_.recipes[r]->SetBaseline(*baseline);
    }
    return {};
  }

  bool has_manifest() const {
    return !options_.manifest.empty() && std::filesystem::exists(options_.manifest);
  }

  Result<std::vector<std::string>> KnownFolders() const {
    if (!has_manifest()) return std::vector<std::string>();
    return ReadManifest(options_.manifest, options_.input);
  }

  // Unless the list is there, or some ranks were not looked at.
  Status ListCaptures() const {
    if (options_.manifest.empty() || has_manifest() || options_.ranks) return {};
    return WriteManifest(options_.manifest, options_.input, selection_.ranks, result_.ranks);
  }

  void SelectParts() {
    selection_.found = options_.parts.size();
    for (const PartFile::Rank& part : options_.parts) {
      opening::Capture& capture = selection_.ranks.emplace_back();
      capture.rank = part.rank;
      capture.source.path = part.folder;
    }
  }

  Status MapAll() {
    const size_t count = selection_.ranks.size();
    keys_.resize(count);
    if (options_.use_cache && options_.parts.empty())
      pool_.ParallelFor(count,
                        [&](size_t i) { keys_[i] = opening::KeyOf(selection_.ranks[i].source); });
    const bool all_known = std::all_of(keys_.begin(), keys_.end(),
                                       [&](const store::CacheKey& key) { return cache_.Has(key); });
    if (team_.is_root() && !all_known) {
      [[maybe_unused]] const Status writable = cache_.BeginWriting();
    }
    result_.texts = RankTexts(result_.recipes.size(), count, team_.members() > 1);
    std::optional<Progress> progress;
    if (options_.show_progress && team_.is_root()) {
      uint64_t total = 0;
      for (const opening::Capture& capture : selection_.ranks) total += SizeOf(capture);
      progress.emplace("ranks", total);
    }
    SL_RETURN_IF_ERROR(team_.MapInOrder(
        count, [&](size_t i) { return MapRank(i); },
        [&](size_t i, std::string_view bytes) {
          TakeRank(i, bytes);
          if (progress) progress->Add(SizeOf(selection_.ranks[i]));
        }));
    if (!team_.is_root()) return {};
    cache_.Commit();
    std::vector<size_t> holders;
    for (size_t i = 0; i < count; ++i) holders.push_back(team_.MemberOf(i));
    result_.texts.SetHolders(std::move(holders));
    return {};
  }

  std::string MapRank(size_t i) {
    RankMessage message;
    if (!options_.parts.empty()) {
      message.part = options_.parts[i].part;
      if (const auto part = FromBytes<RankPartView>(message.part)) Render(i, *part, message);
    } else if (std::optional<std::string> known = cache_.Find(keys_[i])) {
      message.is_cached = true;
      message.part = std::move(*known);
      if (const auto part = FromBytes<RankPartView>(message.part)) Render(i, *part, message);
    } else {
      const RankPart part = ReadAndMap(selection_.ranks[i]);
      message.part = ToBytes(part);
      Render(i, part, message);
    }
    message.readers = ReadersOfInputs();
    return ToBytes(message);
  }

  // The texts of files that only text captures get.
  template <typename Part>
  void Render(size_t i, const Part& part, RankMessage& message) {
    if (!options_.map_to.empty() || part.facts.format != store::Format::kText ||
        part.parts.size() != result_.recipes.size())
      return;
    for (size_t r = 0; r < part.parts.size(); ++r) {
      auto rendered = result_.recipes[r]->Render(part.facts, part.parts[r]);
      if (!rendered) rendered.emplace();
      const uint64_t offset = result_.texts.Put(result_.texts.NumberOf(i, r), rendered->text);
      message.rendered.push_back({std::move(rendered->index), rendered->text.size(), offset});
    }
  }

  RankPart ReadAndMap(const opening::Capture& capture) {
    RankPart part;
    opening::OpenOptions open;
    open.cache = &stores_;
    open.wanted = wanted_;
    Result<store::TraceStore> rank = opening::OpenRank(capture, pool_, open);
    if (rank.ok() && !open.wanted.timeline && LacksResults(*rank)) {
      open.wanted.timeline = true;
      rank = opening::OpenRank(capture, pool_, open);
    }
    if (rank.ok() && !open.wanted.communication && LacksCalls(*rank)) {
      open.wanted.communication = true;
      rank = opening::OpenRank(capture, pool_, open);
    }
    if (!rank.ok()) {
      part.error = rank.error().message;
      part.facts.path = capture.source.path;
      part.facts.rank = capture.rank;
      return part;
    }
    if (std::string reason = WhyUseless(*rank); !reason.empty()) {
      part.error = std::move(reason);
      part.facts.rank = capture.rank;
      return part;
    }
    part.facts = cluster_analysis::DescribeRank(*rank);
    for (const auto& recipe : result_.recipes) part.parts.push_back(recipe->Map(*rank, part.facts));
    return part;
  }

  void LetSeeTimelines() {
    for (const auto& recipe : result_.recipes)
      recipe->SetTimelines([this](int64_t rank) { return TimelineOf(rank); });
  }

  // Null if the rank cannot be read, or would take too long.
  std::unique_ptr<store::TraceStore> TimelineOf(int64_t rank) {
    constexpr uint64_t kMostBytes = uint64_t{1} << 30;
    const auto capture = std::find_if(selection_.ranks.begin(), selection_.ranks.end(),
                                      [&](const auto& one) { return one.rank == rank; });
    if (capture == selection_.ranks.end() || SizeOf(*capture) > kMostBytes) return nullptr;
    opening::OpenOptions open;
    open.cache = &stores_;
    open.wanted = {.timeline = true, .communication = false, .others = false};
    Result<store::TraceStore> timeline = opening::OpenRank(*capture, pool_, open);
    if (!timeline.ok()) return nullptr;
    return std::make_unique<store::TraceStore>(*std::move(timeline));
  }

  // Why a rank has nothing to give, though some file of it could be opened; empty if it has.
  static std::string WhyUseless(const store::TraceStore& rank) {
    const bool has_rows = rank.step_traces.size() + rank.comm_times.size() + rank.comm_ops.size() +
                              rank.slices.size() + rank.kernels.size() >
                          0;
    if (has_rows) return {};
    for (const store::InputFile& file : rank.info.files) {
      if (!file.used && !file.note.empty() && file.size_bytes > 0) return file.note;
    }
    return {};
  }

  // Whether what the recipes look at is not in the capture's result files, so that the timeline has
  // to tell.
  bool LacksResults(const store::TraceStore& rank) const {
    return std::any_of(options_.recipes.begin(), options_.recipes.end(), [&](const auto& recipe) {
      const bool no_communication = recipe.needs.communication && rank.comm_times.size() == 0;
      return (no_communication && !options_.options.compat) ||
             (recipe.needs.step_table && rank.step_traces.size() == 0);
    });
  }

  // Whether calls are asked for that the timeline does not have, so that the results have to tell.
  bool LacksCalls(const store::TraceStore& rank) const {
    return rank.comm_ops.size() == 0 && !options_.options.compat &&
           std::any_of(options_.recipes.begin(), options_.recipes.end(),
                       [](const RecipeSpec& recipe) { return recipe.needs.calls; });
  }

  void TakeRank(size_t i, std::string_view bytes) {
    const std::optional<RankMessageView> message = FromBytes<RankMessageView>(bytes);
    std::optional<RankPartView> part;
    if (message) part = FromBytes<RankPartView>(message->part);
    if (message) NoteReaders(message->readers);
    const int64_t rank = selection_.ranks[i].rank;
    const std::string& path = selection_.ranks[i].source.path;
    const bool is_of_rank = part && part->facts.rank == rank;
    if (!is_of_rank || (part->error.empty() && part->parts.size() != result_.recipes.size())) {
      result_.failed.push_back({rank, path, "its part of the result is damaged"});
      return;
    }
    if (!part->error.empty()) {
      result_.failed.push_back({rank, path, WithPlace(path, part->error)});
      return;  // and is tried again next time
    }
    result_.reused += message->is_cached ? 1 : 0;
    cache_.Append(keys_[i], message->part);
    part->facts.path = AbsolutePath(path);
    if (const auto host = options_.hosts.find(rank); host != options_.hosts.end())
      part->facts.host_name = host->second;
    if (LacksStep(part->facts)) return;
    if (writer_) {
      if (written_.ok()) written_ = writer_->Add(rank, part->facts.path, message->part);
      result_.ranks.push_back(std::move(part->facts));
      return;
    }
    for (size_t r = 0; r < result_.recipes.size(); ++r) {
      Recipe& recipe = *result_.recipes[r];
      if (!recipe.Add(part->facts, part->parts[r])) {
        result_.notes.push_back(fmt::format("rank {}: its part of {} is damaged and was skipped",
                                            rank, options_.recipes[r].name));
      } else if (r < message->rendered.size() && !message->rendered[r].index.empty()) {
        const auto& [index, size, offset] = message->rendered[r];
        const uint64_t number = result_.texts.NumberOf(i, r);
        result_.texts.SetOffset(number, offset);
        recipe.AddRendered(index, number, size);
      }
    }
    result_.ranks.push_back(std::move(part->facts));
  }

  // A rank without the step that was asked for has nothing to say about it.
  bool LacksStep(const RankFacts& rank) {
    const std::optional<int64_t> step = options_.options.step;
    if (!step || options_.options.compat) return false;
    steps_.insert(rank.steps.begin(), rank.steps.end());
    if (std::binary_search(rank.steps.begin(), rank.steps.end(), *step)) return false;
    without_step_.push_back(rank.rank);
    return true;
  }

  void NoteRanksWithoutStep() {
    if (without_step_.empty()) return;
    const size_t count = without_step_.size();
    result_.notes.push_back(fmt::format("{} of {} ranks {} no step {} and {} left out ({})", count,
                                        count + result_.ranks.size(), count == 1 ? "has" : "have",
                                        *options_.options.step, count == 1 ? "is" : "are",
                                        NameRanks(without_step_)));
  }

  void NoteCoverage() {
    if (options_.options.compat) return;
    const bool wants_communication =
        std::any_of(options_.recipes.begin(), options_.recipes.end(),
                    [](const RecipeSpec& recipe) { return recipe.needs.communication; });
    for (std::string& note : CoverageNotes(result_.ranks, wants_communication))
      result_.notes.push_back(std::move(note));
  }

  Status CheckOutcome() {
    if (options_.options.step && !options_.options.compat) SL_RETURN_IF_ERROR(CheckStep());
    if (result_.ranks.empty()) {
      if (result_.failed.empty()) {
        return Error{ErrorCode::kNotFound,
                     fmt::format("{}: none of the ranks asked for is there", options_.input)};
      }
      return Error{ErrorCode::kCorruptData,
                   fmt::format("no rank could be read ({} tried; {}: {})", result_.failed.size(),
                               result_.failed.front().Name(), result_.failed.front().reason)};
    }
    NoteRanksWithoutStep();
    NoteCoverage();
    return {};
  }

  Status CheckStep() const {
    if (without_step_.empty() || !result_.ranks.empty()) return {};
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("--step_id: there is no step {}; {}", *options_.options.step,
                    steps_.empty() ? "the captures have no steps"
                                   : fmt::format("steps are {}", fmt::join(steps_, ", ")))};
  }

  Form InputForm() const {
    const bool all_text =
        std::all_of(result_.ranks.begin(), result_.ranks.end(),
                    [](const RankFacts& rank) { return rank.format == store::Format::kText; });
    if (!all_text) return Form::kTables;
    return options_.tables_too ? Form::kFilesAndTables : Form::kFiles;
  }

  Team& team_;
  ThreadPool& pool_;
  const RunOptions& options_;
  readers::Wanted wanted_;
  store::StoreCache stores_;
  PartCache cache_;
  RankSelection selection_;
  std::vector<store::CacheKey> keys_;
  std::optional<PartFileWriter> writer_;
  Status written_;
  std::set<int64_t> steps_;            // of all ranks, where one is asked for
  std::vector<int64_t> without_step_;  // ranks that do not have it
  RunResult result_;
};

}  // namespace

size_t ThreadsAfterRanks(const Team& team, const ThreadPool& pool) {
  const size_t cores = std::max<size_t>(std::thread::hardware_concurrency(), 1);
  return std::max(pool.threads(), std::min(team.members(), cores));
}

Result<RunResult> RunRecipes(Team& team, ThreadPool& pool, const RunOptions& options) {
  return Run(team, pool, options).Do();
}

}  // namespace steplens::cluster
