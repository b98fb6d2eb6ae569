#pragma once

#include "base/status.h"
#include "export/prof/prof_csv.h"

namespace steplens::exporting {

// README.txt: which of the files of the export there are, and what each holds.
Status WriteReadMe(const ProfTarget& target);

}  // namespace steplens::exporting
