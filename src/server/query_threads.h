#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/status.h"
#include "query/database.h"

namespace steplens::server {

// Runs queries on threads of their own, so that a request can give one up. SQLite looks at the time
// between two steps of a query, and one step can be a function over a long text. What is given up
// ends when SQLite does. Thread safe; joins all threads at its end.
class QueryThreads {
 public:
  struct Question {
    std::string sql;
    std::chrono::milliseconds timeout{};
    size_t max_rows = SIZE_MAX;
  };
  struct Answer {
    Result<table::Table> table;
    bool timed_out = false;
  };
  using GiveBack = std::function<void(std::unique_ptr<query::Database>)>;

  // Waits until the query ends, its time is up or IsCancelled() holds on the caller's thread.
  // `give_back` gets the database when SQLite has let go of it, which may be later.
  Answer Run(std::unique_ptr<query::Database> database, Question question, GiveBack give_back);

 private:
  struct Running;
  void Keep(std::shared_ptr<Running> running, std::jthread thread);

  std::mutex mutex_;
  std::list<std::pair<std::shared_ptr<Running>, std::jthread>> threads_;
};

}  // namespace steplens::server
