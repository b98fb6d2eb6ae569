#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace steplens::cli {

// Makes sure that the descriptors 0, 1 and 2 are taken: a file opened later must not become the
// place that results or messages go to. Call first thing in main.
void OpenStandardStreams();

// The text as a terminal may get it, line by line (table::ToPrintable).
std::string PrintableLines(std::string_view text);

// Writes to stderr, printable. What cannot be written there is lost: nothing is left to say it
// with.
void Say(std::string_view text);

// Writes to stdout, all of it at once.
Status PrintResult(std::string_view text);

// Whether everything printed so far, by whatever means, has reached stdout.
Status FlushResult();

}  // namespace steplens::cli
