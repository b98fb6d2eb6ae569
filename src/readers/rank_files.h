#pragma once

#include "readers/detect.h"
#include "readers/folder_listing.h"

// Which files of a folder belong to a rank, and as what. Those that do not are filed under its
// `ignored`, with the reason.

namespace steplens::readers {

bool HasTrace(const Listing& listing);
// Not for files that only say who the rank is and how it was recorded.
bool HoldsData(const SourceFile& file);

// profiler_info_<rank>.json and profiler_metadata.json: also the rank and the level they tell.
void TakeInfoFiles(const std::string& folder, const Listing& listing, RankSource& rank);
// info.json.<n> in a folder device_<n>: the rank, when it is not -1.
void TakeInfoOfDevice(const std::string& folder, RankSource& rank);
// The same for all such folders in a PROF_*.
void TakeDeviceInfo(const std::string& folder, const Listing& listing, RankSource& rank);
// The files of FRAMEWORK/, one of a kind.
void TakeFrameworkFiles(const std::string& folder, RankSource& rank);
// The files of a raw PROF_* folder, and the rank they tell.
void TakeProfFiles(const std::string& folder, RankSource& rank);
// Results: traces, databases, csv and json files.
void TakeOutputFiles(const std::string& folder, const Listing& listing, RankSource& rank);

// Puts the files into reading order: the trace first, since it is the largest and the others are
// appended to it.
void SortFiles(RankSource& rank);
// Sets the format, decides what is read when a rank has the same facts as text and as db, and sorts
// the files. False if none of them holds data.
bool ChooseFiles(RankSource& rank);

}  // namespace steplens::readers
