#pragma once

namespace steplens {

// Takes the pages of the program and its libraries out of the process's memory: the code and
// constants that starting, parsing options or an earlier phase needed are mostly not needed again.
// What is comes back from the system's cache, some tens of pages at a time, for a tenth of a
// millisecond altogether. Pages that were written to stay. Any thread may go on meanwhile.
void ForgetProgramPages();

}  // namespace steplens
