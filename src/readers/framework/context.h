#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>

#include "base/saturate.h"
#include "base/utf8.h"
#include "readers/ascend_db/tracks.h"
#include "readers/framework/raw_clock.h"
#include "store/trace_store.h"

namespace steplens::readers {

// What the readers of the single files share while one capture is read.
class FrameworkContext {
 public:
  FrameworkContext(store::TraceStore& store, const RawClock& raw_clock)
      : out(store), clock(raw_clock), tracks(store) {}

  store::TraceStore& out;
  RawClock clock;
  TrackBuilder tracks;
  std::deque<std::string> process_names;  // of our own making; `tracks` keeps views of them
  uint64_t process_id = 0;                // of the first operator; 0 if there is none
  bool wants_tensors = true;              // framework_tensors and framework_params
  bool wants_args = true;                 // slices.args_offset and args_size

  int64_t Ns(int64_t raw) { return clock.ToUnixNs(raw); }
  int64_t Ns(uint64_t raw) { return clock.ToUnixNs(static_cast<int64_t>(raw)); }

  // A text as it is, or "N/A", counted, if it is not UTF-8. Known texts are not checked again.
  StringId Text(std::string_view text) {
    if (text.empty()) return StringId::kEmpty;
    StringId& recent = recent_[RecentPlace(text)];
    if (out.Text(recent) == text) return recent;
    if (const auto known = out.strings.Find(text)) return recent = *known;
    if (IsUtf8(text)) return recent = out.strings.Intern(text);
    out.issues.Add(store::IssueKind::kInvalidUtf8, "a name in FRAMEWORK is shown as 'N/A'");
    return out.strings.Intern("N/A");
  }

  // The thread's track, made at its first use; neighbouring records mostly share it.
  store::TrackId PythonThread(uint64_t process, uint64_t thread) {
    const int64_t key = GlobalTid(process, thread);
    if (last_track_ == store::kNoTrack || key != last_key_) {
      last_key_ = key;
      last_track_ = tracks.PythonThread(key);
    }
    return last_track_;
  }
  static int64_t GlobalTid(uint64_t process, uint64_t thread) {
    return static_cast<int64_t>((process & 0x7FFFFFFF) << 32 | (thread & 0xFFFFFFFF));
  }

  // Appends a slice from raw times; an end before the start counts as an issue and becomes 0 long.
  store::SliceId AppendSlice(store::SliceTable::Row row, int64_t begin_ns, int64_t end_ns) {
    row.begin_ns = begin_ns;
    row.dur_ns = SubtractSaturating(end_ns, begin_ns);
    if (row.dur_ns < 0) {
      out.issues.Add(store::IssueKind::kNegativeDuration, out.Text(row.name));
      row.dur_ns = 0;
    }
    if (!wants_args) {
      row.args_offset = store::kNone;
      row.args_size = 0;
    }
    const store::SliceId id{static_cast<uint32_t>(out.slices.size())};
    out.slices.Append(row);
    return id;
  }

 private:
  // Where a text is remembered: by its size, first and last bytes, which tell most names and shapes
  // apart for less than a hash of all of it costs.
  static size_t RecentPlace(std::string_view text) {
    uint64_t first = 0;
    uint64_t last = 0;
    const size_t size = std::min(text.size(), sizeof(first));
    std::memcpy(&first, text.data(), size);
    std::memcpy(&last, text.data() + text.size() - size, size);
    constexpr uint64_t kMix = 0x9E3779B97F4A7C15;
    return ((first * kMix ^ (last + text.size())) * kMix) >> (64 - kRecentBits);
  }
  static bool IsUtf8(std::string_view text) {
    while (!text.empty()) {
      const size_t length = Utf8Length(text);
      if (length == 0) return false;
      text.remove_prefix(length);
    }
    return true;
  }

  static constexpr int kRecentBits = 10;
  std::array<StringId, 1 << kRecentBits> recent_{};
  int64_t last_key_ = 0;
  store::TrackId last_track_ = store::kNoTrack;
};

}  // namespace steplens::readers
