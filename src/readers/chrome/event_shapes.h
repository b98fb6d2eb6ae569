#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "readers/chrome/event_tokens.h"
#include "readers/chrome/structural_index.h"

namespace steplens::readers {

// Knows events again by the text between their values. The events of a trace come in a few dozen
// shapes, each from one line of the program that wrote them:
//
//   {"ph": "X", "name": <string>, "pid": <number>, "ts": <string>, "args": {"id": <number>}}
//
// so comparing that text and finding the ends of the values does for nearly all events what going
// through their tokens does, several times as fast. Shapes are learned from events that ParseEvent
// took, and kept as a tree: they share their beginnings. An event that differs in anything, a blank
// or the order of its keys, is not known; one that is known gives what ParseEvent gives, but for
// args that nobody asks for.
class EventShapes {
 public:
  // If an event of a known shape begins at `p` and ends before `end`: fills `event` and returns the
  // place behind it, else null, and `event` means nothing. The text outside of events must be known
  // to be valid UTF-8; kParserPadding bytes behind `end` are readable. The event's args refer to
  // this object until the next Learn.
  const char* Take(const char* p, const char* end, Event& event);

  // To be called before the first event of another text, which may lie where the one before did.
  void BeginText() { ++text_; }

  // Remembers the shape of the event `text`, which ParseEvent takes; `index` is that of `text`.
  // kParserPadding bytes behind it are readable.
  void Learn(std::string_view text, const StructuralIndex& index);

 private:
  static constexpr size_t kMaxSlots = 64;
  static constexpr size_t kMaxLiteral = 64;
  static_assert(kMaxLiteral <= kParserPadding);
  static constexpr uint16_t kNoEdge = 0xFFFF;

  enum class ValueKind : uint8_t { kNothing, kString, kNumber, kWord, kNested, kEndOfEvent };

  // A piece of text that is always the same, and what follows it.
  struct alignas(64) Edge {  // of a size that is quick to count in
    std::array<char, kMaxLiteral> literal{};
    uint16_t first_mask = 0;  // which of the first bytes count
    uint8_t size = 0;
    ValueKind kind = ValueKind::kNothing;
    uint16_t child = kNoEdge;    // the edges that may follow the value are it and its siblings
    uint16_t sibling = kNoEdge;  // what may stand here instead
    uint16_t shape = kNoEdge;    // which one ends here, of an edge that ends an event
    uint32_t last_text = 0;      // the text with the last long string that followed,
    uint32_t last_size = 0;
    const char* last = nullptr;  // which begins here
  };

  // The values of an event in order; the first is empty and stands where the event begins.
  struct Slots {
    std::array<const char*, kMaxSlots> begin;
    std::array<const char*, kMaxSlots> end;
    std::string_view operator[](size_t i) const {
      return {begin[i], static_cast<size_t>(end[i] - begin[i])};
    }
  };

  // A text inside what is always the same.
  struct Place {
    uint8_t after = 0;  // the slot before it
    uint16_t distance = 0;
    uint16_t size = 0;
    std::string_view Of(const Slots& slots) const { return {slots.end[after] + distance, size}; }
  };

  // One of an event's fields, or a value among its args.
  struct Value {
    uint8_t slot = 0;  // 0: the event has no such field
    bool is_quoted = false;
    std::string_view Of(const Slots& slots) const {
      const std::string_view raw = slots[slot];
      return is_quoted ? raw.substr(1, raw.size() - 2) : raw;
    }
  };
  struct ArgPlace {
    uint8_t slot = 0;
    uint16_t key_distance = 0;  // from the key's first letter to the value
  };

  struct Shape {
    Place ph, category;
    Value name, pid, tid, ts, dur, id;
    Place args_begin, args_end;
    bool has_args = false;
    std::vector<ArgPlace> args;  // those that are known; all of a counter
    ArgIndex known;
  };

  // A shape on its way into the tree.
  class Draft;

  static bool Matches(const Edge& edge, const char* p);
  static const char* Scan(ValueKind kind, const char* p, const char* end);
  const char* TakeString(Edge& edge, const char* p, const char* end) const;
  static void Fill(const Shape& shape, const Slots& slots, Event& event);
  void Insert(const Draft& draft);
  uint16_t FindOrAdd(uint16_t parent, std::string_view literal, ValueKind kind);

  std::vector<Edge> edges_;  // the first has no text: all events begin behind it
  std::vector<Shape> shapes_;
  uint32_t text_ = 1;
};

}  // namespace steplens::readers
