#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "query/catalog.h"
#include "query/database.h"
#include "server/query_threads.h"
#include "server/rank_links.h"
#include "store/trace_store.h"

namespace steplens::server {

struct PreparedTable;  // server/api/table_rows.h
class RuleSet;         // server/api/rule_shades.h
class SliceFilter;

// What requests need of a data set as a whole, made when first asked for: the SQL catalog, a few
// database connections, the rows of the last tables. Only for a data set that is ready. Thread
// safe.
class DatasetCache {
 public:
  DatasetCache() { databases_.reserve(kMaxDatabases); }  // giving one back needs no memory
  ~DatasetCache();

  // A connection for one thread; give it back. At most kMaxDatabases run at once, others wait their
  // turn for up to `timeout`.
  static constexpr size_t kMaxDatabases = 4;
  Result<std::unique_ptr<query::Database>> TakeDatabase(const store::Job& job,
                                                        std::chrono::milliseconds timeout);
  void GiveBack(std::unique_ptr<query::Database> database);
  // For the connections above; a query that is given up holds its own until it ends.
  QueryThreads& queries() { return queries_; }

  // The tables SQL knows. Computing and deriving columns is not for two threads at once: hold the
  // mutex while calling Prepare or View.
  Result<query::Catalog*> Catalog(const store::Job& job);
  std::mutex& catalog_mutex() { return catalog_mutex_; }

  // What joins the ranks; found once, others wait for it.
  Result<std::shared_ptr<const RankLinks>> Links(const store::Job& job);

  // Tables that were filtered, sorted or grouped, the 16 used last, by what was asked.
  std::shared_ptr<const PreparedTable> FindTable(const std::string& question);
  void KeepTable(const std::string& question, std::shared_ptr<const PreparedTable> table);

  // Rules of colours, the 4 used last, by their texts; also while ranks are being read.
  std::shared_ptr<const RuleSet> FindRules(const std::string& question);
  std::shared_ptr<const RuleSet> KeepRules(const std::string& question,
                                           std::vector<SliceFilter> rules);

 private:
  static constexpr size_t kMaxTables = 16;
  static constexpr size_t kMaxRuleSets = 4;

  std::mutex databases_mutex_;
  std::condition_variable databases_changed_;
  size_t databases_out_ = 0;
  std::vector<std::unique_ptr<query::Database>> databases_;

  std::mutex catalog_mutex_;
  std::unique_ptr<query::Catalog> catalog_;

  std::mutex links_mutex_;
  std::shared_ptr<const RankLinks> links_;  // shared: requests hold it while they run

  std::mutex tables_mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const PreparedTable>>> tables_;  // recent first

  std::mutex rules_mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const RuleSet>>> rules_;  // recent first

  QueryThreads queries_;  // last: its threads give connections back
};

}  // namespace steplens::server
