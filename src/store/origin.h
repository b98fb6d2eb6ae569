#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// Where a capture comes from, and what follows from that. Code asks one of the questions below
// rather than for a certain source or format: a new one is then decided upon here, in one place,
// and the compiler names every question that it must answer.
namespace steplens::store {

// Which profiler recorded a rank. kUnknown: a lone trace that was not read yet.
enum class Source : uint8_t { kUnknown, kAscendPt, kAscendMs, kMsprof, kKineto, kNsys };

// The form of the files. kJson: a trace alone; kRaw: FRAMEWORK/, which no tool has analysed yet.
enum class Format : uint8_t { kUnknown, kText, kDb, kJson, kRaw };

// As results, the command line and the caches name them: "ascend_pt", "text"; unknown is "".
std::string_view SourceName(Source source);
std::string_view FormatName(Format format);
// Nothing if no source or format has the name.
std::optional<Source> SourceOfName(std::string_view name);
std::optional<Format> FormatOfName(std::string_view name);
// Whether a number that was read is one of the enumerators (base/archive.h refuses others).
bool IsKnownValue(Source source);
bool IsKnownValue(Format format);

// Recorded by a tool for Ascend: advice names the settings of those.
bool IsAscend(Source source);
// MindSpore's own: its files differ from PyTorch's in names, columns and lanes.
bool IsMindSpore(Source source);
// Without a device, the operators of the host are the work to be measured. Where the source's own
// recorder makes kernels of them, those are, and without kernels the work is not known.
bool HostStandsForDevice(Source source);
// Kernels, memory and communication are tables or files beside the timeline, and can be checked
// against it. Kineto has them in its trace alone.
bool HasResultTables(Source source);

// Nobody has derived anything from it: the device and its links are added after reading.
bool IsRaw(Format format);
// Work is divided among steps as step_trace_time.csv has it; otherwise as a db's StepTraceTime. Raw
// captures are measured as their text results will be.
bool DividesStepsAsText(Format format);
// Tasks are launched by calls of the API that share a connection id with them; otherwise by
// operators with an arrow to them.
bool HasApiLaunches(Format format);

}  // namespace steplens::store
