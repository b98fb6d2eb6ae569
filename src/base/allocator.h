#pragma once

namespace steplens {

// Asks the allocator for pages of 2 MB from now on. Columns are large and filled once, front to
// back: with pages of 4 KB their first touch is a tenth to a quarter of the time it takes to read a
// profile. For commands that read, answer and end; what lives long or works rank by rank would only
// hold more memory. Does nothing in builds without mimalloc.
void UseLargePages();

// The same, also for what the allocator has asked the system for already and not used yet.
void UseLargePagesEverywhere();

// Asks the allocator to give memory back to the system as soon as it is freed, instead of a while
// later: a tenth more time, a tenth to a seventh less memory at the most. Does nothing in builds
// without mimalloc.
void ReturnFreedMemory();

// Gives what the allocator keeps for later back to the system now, where memory has run out: under
// a limit of ours what is kept counts as used. Takes some milliseconds.
void ReturnUnusedMemory();

}  // namespace steplens
