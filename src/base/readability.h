#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>

namespace steplens {

// Results are never more readable than the capture they came from. Everything that is read is noted
// here with who may read it: the file's mode and those of all folders above it. One answer for the
// process, as results are made of all that was read. For any thread.

void NoteInput(const std::string& path);
void NoteInput(const std::string& path, const struct stat& info);  // of which this is known
// The same of what another process has read (ReadersOfInputs).
void NoteReaders(mode_t readers);

// Who may read all inputs so far, as the bits of a file's mode: 0600, and 0040, 0004 if so.
mode_t ReadersOfInputs();

void ForgetInputs();  // for tests, which read more than goes into one result

// Takes all bits off a file's mode that are not in `mode`.
void LimitMode(const std::string& path, mode_t mode);

}  // namespace steplens
