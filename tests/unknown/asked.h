#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/trace_store.h"
#include "table/table.h"

// Asks everything there is of a job, and finds numbers in the answers that no capture can have.

namespace steplens::unknown {

// The largest number of each column of each answer, and the long numbers in texts.
class Answers {
 public:
  void Add(const std::string& question, const table::Table& table);
  void AddText(const std::string& where, std::string_view text);

  // Numbers out of proportion beside those of the sound capture, each with where it is.
  std::vector<std::string> Absurd(const Answers& sound) const;
  size_t columns() const { return largest_.size(); }

 private:
  struct Extent {
    double largest = 0;
    bool is_near_none = false;  // what is left of kNone after a bit of arithmetic
  };
  std::map<std::string, Extent> largest_;
  std::map<std::string, std::string> long_numbers_;  // and where they are
};

using Spoil = std::function<void(store::TraceStore& rank)>;

// The ranks of a capture as open/ gives them, each spoilt between reading and completing. Nothing
// if there is no such capture here.
std::optional<store::Job> OpenSpoilt(const std::string& path, const Spoil& spoil);

// Every question with and without its arguments, every recipe, the advisor, explanations,
// comparisons with the sound job both ways, and the exports.
Answers AskEverything(const store::Job& job, const store::Job& sound);

// A capture of ../shared, or the project's sample for "".
std::string CapturePath(std::string_view name);

// Absurd numbers after every rank was spoilt.
std::vector<std::string> AbsurdAfter(const std::string& path, const Spoil& spoil);

}  // namespace steplens::unknown
