#include "analysis/classify/wait_kind.h"

#include <algorithm>
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

}  // namespace

WaitKind WaitKindOf(std::string_view name, TrackKind track) {
  if (HoldsOneOf(name, {"notify wait", "notify_wait"})) return WaitKind::kNotify;
  if (track == TrackKind::kDevice) {
    return HoldsOneOf(name, {"event_wait", "event wait", "wait event", "wait_event"})
               ? WaitKind::kEvent
               : WaitKind::kNone;
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
