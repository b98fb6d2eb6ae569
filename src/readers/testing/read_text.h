#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "readers/chrome/chrome_trace.h"
#include "store/trace_store.h"

namespace steplens::readers::testing_support {

// The store of a JSON trace given as text.
inline store::TraceStore ReadJson(const std::string& text, size_t chunk_bytes = 1 << 20,
                                  size_t threads = 1) {
  ThreadPool pool(threads);
  ReadOptions options;
  options.pool = &pool;
  options.chunk_bytes = chunk_bytes;
  store::TraceStore store;
  const Status status = ReadChromeText(text, "test.json", options, store);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return store;
}

// Every row of every table, and the issue counts, as text: equal texts mean equal stores.
inline std::string Describe(const store::TraceStore& store) {
  std::string out;
  store.ForEachTable([&](const auto& table) {
    table.ForEachColumn([&](std::string_view name, std::string_view, const auto& column) {
      out += fmt::format("\n{}.{}:", table.kName, name);
      for (const auto value : column) {
        if constexpr (std::is_same_v<std::remove_cv_t<decltype(value)>, StringId>) {
          out += fmt::format(" '{}'", store.Text(value));
        } else if constexpr (std::is_enum_v<std::remove_cv_t<decltype(value)>>) {
          out += fmt::format(" {}", static_cast<uint32_t>(value));
        } else {
          out += fmt::format(" {}", value);
        }
      }
    });
  });
  for (size_t i = 0; i < static_cast<size_t>(store::IssueKind::kCount); ++i) {
    const auto& entry = store.issues.entry(static_cast<store::IssueKind>(i));
    if (entry.count > 0) {
      out += fmt::format("\n{} x {}", entry.count,
                         store::GetIssueInfo(static_cast<store::IssueKind>(i)).name);
    }
  }
  return out;
}

}  // namespace steplens::readers::testing_support
