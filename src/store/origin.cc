#include "store/origin.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace steplens::store {
namespace {

// By value.
constexpr std::array<std::string_view, 6> kSourceNames = {"",       "ascend_pt", "ascend_ms",
                                                          "msprof", "kineto",    "nsys"};
constexpr std::array<std::string_view, 5> kFormatNames = {"", "text", "db", "json", "raw"};
static_assert(kSourceNames.size() == static_cast<size_t>(Source::kNsys) + 1);
static_assert(kFormatNames.size() == static_cast<size_t>(Format::kRaw) + 1);

template <typename Enum, size_t count>
std::optional<Enum> OfName(const std::array<std::string_view, count>& names,
                           std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(std::distance(names.begin(), found));
}

}  // namespace

std::string_view SourceName(Source source) { return kSourceNames[static_cast<size_t>(source)]; }
std::string_view FormatName(Format format) { return kFormatNames[static_cast<size_t>(format)]; }

std::optional<Source> SourceOfName(std::string_view name) {
  return OfName<Source>(kSourceNames, name);
}
std::optional<Format> FormatOfName(std::string_view name) {
  return OfName<Format>(kFormatNames, name);
}

bool IsKnownValue(Source source) { return static_cast<size_t>(source) < kSourceNames.size(); }
bool IsKnownValue(Format format) { return static_cast<size_t>(format) < kFormatNames.size(); }

bool IsAscend(Source source) {
  switch (source) {
    case Source::kAscendPt:
    case Source::kAscendMs:
    case Source::kMsprof:
      return true;
    case Source::kUnknown:
    case Source::kKineto:
    case Source::kNsys:
      return false;
  }
  return false;
}

bool IsMindSpore(Source source) { return source == Source::kAscendMs; }

bool HostStandsForDevice(Source source) {
  switch (source) {
    case Source::kAscendPt:
    case Source::kAscendMs:
      return false;
    case Source::kUnknown:
    case Source::kMsprof:
    case Source::kKineto:
    case Source::kNsys:
      return true;
  }
  return true;
}

bool HasResultTables(Source source) { return source != Source::kKineto; }

bool IsRaw(Format format) { return format == Format::kRaw; }

bool DividesStepsAsText(Format format) {
  switch (format) {
    case Format::kText:
    case Format::kRaw:
      return true;
    case Format::kUnknown:
    case Format::kDb:
    case Format::kJson:
      return false;
  }
  return false;
}

bool HasApiLaunches(Format format) {
  switch (format) {
    case Format::kDb:
      return true;
    case Format::kUnknown:
    case Format::kText:
    case Format::kJson:
    case Format::kRaw:
      return false;
  }
  return false;
}

}  // namespace steplens::store
