#include "server/dataset_cache.h"

#include <new>

#include "query/question_tables.h"
#include "readers/slice_args.h"
#include "server/api/rule_shades.h"
#include "server/api/table_rows.h"

namespace steplens::server {

DatasetCache::~DatasetCache() = default;

namespace {

// What is kept under a key, which becomes the most recent; null if there is nothing.
template <typename Kept>
Kept FindRecent(std::list<std::pair<std::string, Kept>>& list, const std::string& key) {
  for (auto it = list.begin(); it != list.end(); ++it) {
    if (it->first != key) continue;
    list.splice(list.begin(), list, it);
    return list.front().second;
  }
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<query::Database>> DatasetCache::TakeDatabase(
    const store::Job& job, std::chrono::milliseconds timeout) {
  {
    std::unique_lock lock(databases_mutex_);
    if (!databases_changed_.wait_for(lock, timeout, [&] { return databases_out_ < kMaxDatabases; }))
      return Error{ErrorCode::kCancelled, "too many queries are running; try again"};
    ++databases_out_;
    if (!databases_.empty()) {
      std::unique_ptr<query::Database> database = std::move(databases_.back());
      databases_.pop_back();
      return database;
    }
  }
  try {
    Result<std::unique_ptr<query::Database>> opened =
        query::Database::Open(job, query::QuestionTables(readers::MakeArgsReader()));
    if (!opened.ok()) GiveBack(nullptr);
    return opened;
  } catch (const std::bad_alloc&) {
    GiveBack(nullptr);
    throw;
  }
}

void DatasetCache::GiveBack(std::unique_ptr<query::Database> database) {
  const std::lock_guard lock(databases_mutex_);
  --databases_out_;
  if (database) databases_.push_back(std::move(database));
  databases_changed_.notify_one();
}

Result<query::Catalog*> DatasetCache::Catalog(const store::Job& job) {
  const std::lock_guard lock(catalog_mutex_);
  if (!catalog_) {
    // Tables with arguments have pages of their own, and SQL.
    std::vector<query::AnalysisTable> tables = query::QuestionTables();
    std::erase_if(tables, [](const query::AnalysisTable& one) { return !one.args.empty(); });
    SL_ASSIGN_OR_RETURN(query::Catalog catalog, query::Catalog::Build(job, std::move(tables)));
    catalog_ = std::make_unique<query::Catalog>(std::move(catalog));
  }
  return catalog_.get();
}

Result<std::shared_ptr<const RankLinks>> DatasetCache::Links(const store::Job& job) {
  const std::lock_guard lock(links_mutex_);
  if (!links_) {
    SL_ASSIGN_OR_RETURN(RankLinks found, RankLinks::Find(job));
    links_ = std::make_shared<const RankLinks>(std::move(found));
  }
  return links_;
}

std::shared_ptr<const PreparedTable> DatasetCache::FindTable(const std::string& question) {
  const std::lock_guard lock(tables_mutex_);
  return FindRecent(tables_, question);
}

void DatasetCache::KeepTable(const std::string& question,
                             std::shared_ptr<const PreparedTable> table) {
  const std::lock_guard lock(tables_mutex_);
  tables_.emplace_front(question, std::move(table));
  if (tables_.size() > kMaxTables) tables_.pop_back();
}

std::shared_ptr<const RuleSet> DatasetCache::FindRules(const std::string& question) {
  const std::lock_guard lock(rules_mutex_);
  return FindRecent(rules_, question);
}

std::shared_ptr<const RuleSet> DatasetCache::KeepRules(const std::string& question,
                                                       std::vector<SliceFilter> rules) {
  const std::lock_guard lock(rules_mutex_);
  if (auto known = FindRecent(rules_, question)) return known;  // somebody was faster
  rules_.emplace_front(question, std::make_shared<const RuleSet>(std::move(rules)));
  if (rules_.size() > kMaxRuleSets) rules_.pop_back();
  return rules_.front().second;
}

}  // namespace steplens::server
