#include "readers/chrome/event_shapes.h"

#include <algorithm>
#include <cstring>

#include "readers/chrome/value_scan.h"

namespace steplens::readers {
namespace {

constexpr size_t kMaxEdges = 4096;
constexpr size_t kMaxText = 1024;  // between two values
constexpr size_t kLongString = 128;
constexpr size_t kMaxSiblings = 24;  // more are a sign of keys that are values themselves

std::string_view WithoutBlanks(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return token;
}

}  // namespace

// Goes through the tokens of an event as ParseEvent does and notes where its values are.
class EventShapes::Draft {
 public:
  // A value, and the text between it and the one before.
  struct Step {
    std::string_view literal;
    ValueKind kind;
  };

  // False for an event that is better left to ParseEvent.
  bool Take(std::string_view text, const StructuralIndex& index) {
    after_value_ = text.data();
    TokenCursor tokens(text, index);
    tokens.Take('{');
    do {
      const char* key = tokens.Take('"');
      if (key == nullptr || tokens.Take(':') == nullptr) return false;
      if (tokens.Peek() == '{' && KeyIs(key + 1, "args")) {
        if (!TakeArgs(tokens)) return false;
      } else if (!TakeField(key + 1, tokens)) {
        return false;
      }
    } while (tokens.Take(',') != nullptr);
    if (tokens.Take('}') == nullptr || !tokens.AtEnd()) return false;
    if (phase_ != "C") LeaveOutUnknownArgs();
    return shape_.ph.size > 0 && AddStep(text.data() + text.size(), ValueKind::kEndOfEvent);
  }

  const std::vector<Step>& steps() const { return steps_; }
  const Shape& shape() const { return shape_; }

 private:
  Place PlaceOf(const char* begin, size_t size) const {
    return {static_cast<uint8_t>(steps_.size()), static_cast<uint16_t>(begin - after_value_),
            static_cast<uint16_t>(size)};
  }

  bool TakeArgs(TokenCursor& tokens) {
    shape_.has_args = true;
    shape_.args.clear();
    shape_.known.Clear();
    const char* const begin = tokens.Take('{');
    shape_.args_begin = PlaceOf(begin, 1);
    const char* end = tokens.Take('}');
    while (end == nullptr) {
      const char* key = tokens.Take('"');
      if (key == nullptr || tokens.Take(':') == nullptr) return false;
      const std::string_view raw = tokens.TakeValue();
      if (shape_.args.size() == Args::kMax || !AddSlot(raw)) return false;
      shape_.known.Add(key + 1, shape_.args.size());
      shape_.args.push_back(
          {static_cast<uint8_t>(steps_.size()), static_cast<uint16_t>(raw.data() - (key + 1))});
      if (tokens.Take(',') != nullptr) continue;
      end = tokens.Take('}');
      if (end == nullptr) return false;
    }
    shape_.args_end = PlaceOf(end, 1);
    return true;
  }

  // Any arg of a counter is a series; of other events only those are looked at that are known.
  void LeaveOutUnknownArgs() {
    std::vector<ArgPlace> kept;
    for (const size_t place : shape_.known.LeaveOutUnknown()) kept.push_back(shape_.args[place]);
    shape_.args = std::move(kept);
  }

  bool TakeField(const char* key, TokenCursor& tokens) {
    const std::string_view raw = tokens.TakeValue();
    if (KeyIs(key, "ph")) {
      phase_ = Bare(raw);
      return TakeConstant(raw, shape_.ph);
    }
    if (KeyIs(key, "cat")) return TakeConstant(raw, shape_.category);
    if (!AddSlot(raw)) return false;
    const Value value{static_cast<uint8_t>(steps_.size()), raw.front() == '"'};
    if (KeyIs(key, "name")) shape_.name = value;
    if (KeyIs(key, "pid")) shape_.pid = value;
    if (KeyIs(key, "tid")) shape_.tid = value;
    if (KeyIs(key, "ts")) shape_.ts = value;
    if (KeyIs(key, "dur")) shape_.dur = value;
    if (KeyIs(key, "id")) shape_.id = value;
    return true;
  }

  // The phase and the category are part of the shape: there are few of them.
  bool TakeConstant(std::string_view raw, Place& place) {
    const std::string_view token = WithoutBlanks(raw);
    if (token.size() < 2 || token.front() != '"' || token.size() > kMaxLiteral) return false;
    place = PlaceOf(token.data() + 1, token.size() - 2);
    return true;
  }

  bool AddSlot(std::string_view raw) {
    const ValueKind kind = KindOf(raw);
    if (kind == ValueKind::kNothing || !AddStep(raw.data(), kind)) return false;
    after_value_ = raw.data() + WithoutBlanks(raw).size();
    return true;
  }

  // The text up to `value`, and what is there.
  bool AddStep(const char* value, ValueKind kind) {
    const auto size = static_cast<size_t>(value - after_value_);
    if (size > kMaxText || steps_.size() + 2 > kMaxSlots) return false;
    steps_.push_back({{after_value_, size}, kind});
    return true;
  }

  // The kind whose scan ends where the value does; nothing if there is none.
  static ValueKind KindOf(std::string_view raw) {
    const std::string_view token = WithoutBlanks(raw);
    if (token.empty()) return ValueKind::kNothing;
    const char* const end = token.data() + token.size();
    for (const ValueKind kind :
         {ValueKind::kString, ValueKind::kNumber, ValueKind::kWord, ValueKind::kNested}) {
      if (Scan(kind, token.data(), end + 1) == end) return kind;
    }
    return ValueKind::kNothing;
  }

  const char* after_value_ = nullptr;
  std::string_view phase_;
  std::vector<Step> steps_;
  Shape shape_;
};

inline bool EventShapes::Matches(const Edge& edge, const char* p) {
#ifdef __SSE2__
  const __m128i same = _mm_cmpeq_epi8(scan_detail::Load(p), scan_detail::Load(edge.literal.data()));
  if ((scan_detail::Mask(same) & edge.first_mask) != edge.first_mask) return false;
  // The rest by blocks, of which the last begins where it ends with the literal.
  for (size_t done = kScanAhead; done < edge.size;) {
    const size_t at = std::min(done, edge.size - kScanAhead);
    const __m128i block =
        _mm_cmpeq_epi8(scan_detail::Load(p + at), scan_detail::Load(edge.literal.data() + at));
    if (scan_detail::Mask(block) != 0xFFFF) return false;
    done = at + kScanAhead;
  }
  return true;
#else
  return std::memcmp(p, edge.literal.data(), edge.size) == 0;
#endif
}

// ScanString, but a long one is compared with the one before first: operators inside each other
// have one call stack.
inline const char* EventShapes::TakeString(Edge& edge, const char* p, const char* end) const {
  if (edge.last_text == text_ && edge.last_size < static_cast<size_t>(end - p) &&
      std::memcmp(p, edge.last, edge.last_size) == 0) {
    return p + edge.last_size;
  }
  const char* const behind = ScanString(p, end);
  if (behind != nullptr && static_cast<size_t>(behind - p) >= kLongString) {
    edge.last = p;
    edge.last_size = static_cast<uint32_t>(behind - p);
    edge.last_text = text_;
  }
  return behind;
}

// Nearly all values are strings and numbers.
inline const char* EventShapes::Scan(ValueKind kind, const char* p, const char* end) {
  if (kind == ValueKind::kString) return ScanString(p, end);
  if (kind == ValueKind::kNumber) return ScanNumber(p, end);
  if (kind == ValueKind::kWord) return ScanWord(p, end);
  if (kind == ValueKind::kNested) return ScanNested(p, end);
  return p <= end ? p : nullptr;
}

const char* EventShapes::Take(const char* p, const char* end, Event& event) {
  if (edges_.empty()) return nullptr;
  Slots slots;
  slots.begin[0] = slots.end[0] = p;
  size_t count = 1;
  uint16_t* first = &edges_.front().child;
  uint16_t* link = first;  // to the edge at hand
  while (*link != kNoEdge) {
    Edge& edge = edges_[*link];
    const char* const value = p + edge.size;
    const char* behind = nullptr;
    if (Matches(edge, p)) {
      behind = edge.kind == ValueKind::kString ? TakeString(edge, value, end)
                                               : Scan(edge.kind, value, end);
    }
    if (behind == nullptr) {
      link = &edge.sibling;
      continue;
    }
    if (link != first) {  // neighbouring events are alike: what was found now is tried first
      const uint16_t found = *link;
      *link = edge.sibling;
      edge.sibling = *first;
      *first = found;
    }
    if (edge.kind == ValueKind::kEndOfEvent) {
      Fill(shapes_[edge.shape], slots, event);
      return behind;
    }
    slots.begin[count] = value;
    slots.end[count] = behind;
    count += edge.kind == ValueKind::kNothing ? 0 : 1;
    p = behind;
    first = link = &edge.child;
  }
  return nullptr;
}

void EventShapes::Fill(const Shape& shape, const Slots& slots, Event& event) {
  event.ph = shape.ph.Of(slots);
  event.category = shape.category.Of(slots);
  event.name = shape.name.Of(slots);
  event.pid = shape.pid.Of(slots);
  event.tid = shape.tid.Of(slots);
  event.ts = shape.ts.Of(slots);
  event.dur = shape.dur.Of(slots);
  event.id = shape.id.Of(slots);
  event.args_text = {};
  event.args.count = shape.args.size();
  if (!shape.has_args) return;
  const char* const begin = shape.args_begin.Of(slots).data();
  const char* const last = shape.args_end.Of(slots).data();
  event.args_text = {begin, static_cast<size_t>(last + 1 - begin)};
  event.args.known = &shape.known;
  for (size_t i = 0; i < shape.args.size(); ++i) {
    const auto& [slot, key_distance] = shape.args[i];
    event.args.items[i] = {slots.begin[slot] - key_distance, slots[slot]};
  }
}

void EventShapes::Learn(std::string_view text, const StructuralIndex& index) {
  Draft draft;
  if (draft.Take(text, index)) Insert(draft);
}

void EventShapes::Insert(const Draft& draft) {
  if (edges_.empty()) edges_.emplace_back();
  uint16_t at = 0;
  for (const auto& [literal, kind] : draft.steps()) {
    std::string_view rest = literal;
    for (; rest.size() > kMaxLiteral && at != kNoEdge; rest.remove_prefix(kMaxLiteral)) {
      at = FindOrAdd(at, rest.substr(0, kMaxLiteral), ValueKind::kNothing);
    }
    if (at != kNoEdge) at = FindOrAdd(at, rest, kind);
    if (at == kNoEdge) return;
  }
  if (edges_[at].shape != kNoEdge) return;
  edges_[at].shape = static_cast<uint16_t>(shapes_.size());
  shapes_.push_back(draft.shape());
}

// The edge behind `parent`; added if there is none, unless there are too many.
uint16_t EventShapes::FindOrAdd(uint16_t parent, std::string_view literal, ValueKind kind) {
  uint16_t* link = &edges_[parent].child;
  size_t siblings = 0;
  for (; *link != kNoEdge; link = &edges_[*link].sibling, ++siblings) {
    const Edge& edge = edges_[*link];
    const std::string_view known(edge.literal.data(), edge.size);
    if (edge.kind == kind && known == literal) return *link;
  }
  if (edges_.size() >= kMaxEdges || siblings >= kMaxSiblings) return kNoEdge;
  const auto added = static_cast<uint16_t>(edges_.size());
  *link = added;
  Edge& edge = edges_.emplace_back();
  std::copy(literal.begin(), literal.end(), edge.literal.begin());
  edge.size = static_cast<uint8_t>(literal.size());
  edge.first_mask =
      static_cast<uint16_t>((uint32_t{1} << std::min(literal.size(), kScanAhead)) - 1);
  edge.kind = kind;
  return added;
}

}  // namespace steplens::readers
