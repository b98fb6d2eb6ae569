#include "analysis/classify/wait_kind.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace steplens::analysis {
namespace {

char LowerLetter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// `word` is in lower case.
bool HoldsWord(std::string_view name, std::string_view word) {
  return std::search(name.begin(), name.end(), word.begin(), word.end(),
                     [](char a, char b) { return LowerLetter(a) == b; }) != name.end();
}

bool HoldsOneOf(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return HoldsWord(name, word); });
}

// What a task of a stream waits for: "EVENT_WAIT", "Notify Wait", "Stream Wait Event".
WaitKind DeviceWaitOf(std::string_view name) {
  std::array<char, 40> letters{};  // names of kernels that hold these words are longer
  size_t count = 0;
  for (const char c : name) {
    if (c == '_' || c == ' ') continue;
    if (count == letters.size()) return WaitKind::kNone;
    letters[count++] = LowerLetter(c);
  }
  const std::string_view plain(letters.data(), count);
  const auto holds = [&](std::string_view word) { return plain.find(word) != plain.npos; };
  if (holds("notifywait")) return WaitKind::kNotify;
  const bool is_event = holds("eventwait") || holds("waitevent") || holds("capturewait");
  return is_event ? WaitKind::kEvent : WaitKind::kNone;
}

}  // namespace

bool IsDeviceWait(std::string_view text) {
  return WaitKindOf(text, TrackKind::kDevice, store::KindOfCategory(text)) != WaitKind::kNone;
}

WaitKind WaitKindOf(std::string_view name, TrackKind track, store::SliceKind category) {
  if (HoldsOneOf(name, {"notify wait", "notify_wait"})) return WaitKind::kNotify;
  const bool is_recorded_sync = category == store::SliceKind::kDeviceSync;
  if (track == TrackKind::kDevice) {
    const WaitKind kind = DeviceWaitOf(name);
    return kind == WaitKind::kNone && is_recorded_sync ? WaitKind::kHost : kind;
  }
  if (track == TrackKind::kCommGroup || track == TrackKind::kCommPlane) return WaitKind::kNone;
  if (HoldsOneOf(name, {"synchronize", "synchronise", "stream sync", "context sync", "event sync",
                        "device sync"})) {
    return WaitKind::kHost;
  }
  return HoldsOneOf(name, {"acquire of _thread", "threading.py: wait", "queue.py: get",
                           "queue.py: put", "queues.py: get"})
             ? WaitKind::kQueue
             : WaitKind::kNone;
}

bool IsEventRecord(std::string_view name) { return HoldsWord(name, "event_record"); }

}  // namespace steplens::analysis
