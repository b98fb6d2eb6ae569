#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "base/testing/scratch_folder.h"
#include "base/thread_pool.h"
#include "readers/ascend_db/ascend_db.h"

namespace steplens::readers::ascend_db_test {

// Makes a database of the statements.
inline void MakeDb(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "PRAGMA synchronous=OFF", nullptr, nullptr, nullptr);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_free(message);
  sqlite3_close(db);
}

// A profiler db of the statements, read.
inline store::TraceStore ReadDb(const std::string& sql) {
  ScratchFolder directory;
  const std::string path = directory / "ascend_pytorch_profiler_0.db";
  MakeDb(path, sql);
  ThreadPool pool(1);
  store::TraceStore out;
  out.info.rank = store::kNone;
  const Status status = ReadProfilerDb(path, {.pool = &pool}, out);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return out;
}

inline uint64_t CountIssues(const store::TraceStore& store, store::IssueKind kind) {
  return store.issues.entry(kind).count;
}

// Row of the track with this name, or the number of tracks.
inline size_t FindTrack(const store::TraceStore& store, std::string_view name) {
  size_t i = 0;
  while (i < store.tracks.size() && store.Text(store.tracks.name[i]) != name) ++i;
  return i;
}

}  // namespace steplens::readers::ascend_db_test
