#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Where values of JSON text end, found without an index of its tokens. Each function gives the
// place behind the value at `p`, or null if it is not such a value, is not whole before `end`, or
// is written in a way that only the ordinary parser should judge. Up to kScanAhead bytes behind
// `end` are touched and never decide.

namespace steplens::readers {

inline constexpr size_t kScanAhead = 16;

namespace scan_detail {

// Bit i says whether p[i] is one of the bytes in question, for the next kScanAhead bytes.
#ifdef __SSE2__
inline __m128i Load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
inline __m128i Equal(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
inline uint32_t Mask(__m128i bytes) { return static_cast<uint32_t>(_mm_movemask_epi8(bytes)); }

// Quotes, backslashes and control characters.
inline uint32_t StringMarks(const char* p) {
  const __m128i bytes = Load(p);
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
  return Mask(_mm_or_si128(_mm_or_si128(Equal(bytes, '"'), Equal(bytes, '\\')), control));
}
// Braces, brackets, quotes and backslashes.
inline uint32_t NestingMarks(const char* p) {
  const __m128i bytes = Load(p);
  const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
  return Mask(_mm_or_si128(_mm_or_si128(Equal(folded, '{'), Equal(folded, '}')),
                           _mm_or_si128(Equal(bytes, '"'), Equal(bytes, '\\'))));
}
// All but digits, '-', '.' and '/'.
inline uint32_t NumberEnds(const char* p) {
  const __m128i from_minus = _mm_sub_epi8(Load(p), _mm_set1_epi8('-'));
  const __m128i inside =
      _mm_cmpeq_epi8(_mm_min_epu8(from_minus, _mm_set1_epi8('9' - '-')), from_minus);
  return Mask(inside) ^ 0xFFFF;
}
#else
template <typename IsMark>
uint32_t Marks(const char* p, IsMark is_mark) {
  uint32_t marks = 0;
  for (size_t i = 0; i < kScanAhead; ++i) marks |= (is_mark(p[i]) ? 1u : 0u) << i;
  return marks;
}
inline uint32_t StringMarks(const char* p) {
  return Marks(
      p, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; });
}
inline uint32_t NestingMarks(const char* p) {
  return Marks(
      p, [](char c) { return (c | 0x20) == '{' || (c | 0x20) == '}' || c == '"' || c == '\\'; });
}
inline uint32_t NumberEnds(const char* p) {
  return Marks(p, [](char c) { return c < '-' || c > '9'; });
}
#endif

}  // namespace scan_detail

// Whether two texts are equal, of which most are short; neither ends less than kScanAhead bytes
// before the end of what can be read.
inline bool SameText(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
#ifdef __SSE2__
  if (!a.empty() && a.size() <= kScanAhead) {
    const uint32_t same =
        scan_detail::Mask(_mm_cmpeq_epi8(scan_detail::Load(a.data()), scan_detail::Load(b.data())));
    return ((same ^ 0xFFFF) << (kScanAhead - a.size()) & 0xFFFF) == 0;
  }
#endif
  return a == b;
}

// A string, from its opening quote on; escapes are passed over, not checked.
inline const char* ScanString(const char* p, const char* end) {
  if (p >= end || *p != '"') return nullptr;
  for (++p; p < end;) {
    uint32_t marks = scan_detail::StringMarks(p);
    size_t step = kScanAhead;
    while (marks != 0) {
      const auto at = static_cast<size_t>(std::countr_zero(marks));
      if (p[at] == '"') return p + at < end ? p + at + 1 : nullptr;
      if (p[at] != '\\' || p + at + 1 >= end || static_cast<unsigned char>(p[at + 1]) < 0x20) {
        return nullptr;
      }
      if (at + 2 > step) step = at + 2;
      marks &= ~(uint32_t{3} << at);
    }
    p += step;
  }
  return nullptr;
}

// A plain decimal number. "1/2" passes as well: that a scalar is no number is found out where it is
// used.
inline const char* ScanNumber(const char* p, const char* end) {
  const char* const begin = p;
  while (p < end) {
    const uint32_t ends = scan_detail::NumberEnds(p);
    if (ends != 0) {
      p += std::countr_zero(ends);
      break;
    }
    p += kScanAhead;
  }
  return p > begin && p < end ? p : nullptr;
}

// true, false or null: small letters.
inline const char* ScanWord(const char* p, const char* end) {
  const char* const begin = p;
  while (p < end && *p >= 'a' && *p <= 'z') ++p;
  return p > begin && p < end ? p : nullptr;
}

// An object or array, by counting brackets of either kind outside strings.
inline const char* ScanNested(const char* p, const char* end) {
  if (p >= end || (*p != '{' && *p != '[')) return nullptr;
  int64_t depth = 0;
  while (p < end) {
    const char* next = p + kScanAhead;
    for (uint32_t marks = scan_detail::NestingMarks(p); marks != 0; marks &= marks - 1) {
      const char* const at = p + std::countr_zero(marks);
      if (at >= end || *at == '\\') return nullptr;
      if (*at == '"') {
        next = ScanString(at, end);
        if (next == nullptr) return nullptr;
        break;
      }
      depth += (*at | 0x20) == '{' ? 1 : -1;
      if (depth == 0) return at + 1;
    }
    p = next;
  }
  return nullptr;
}

}  // namespace steplens::readers
