#pragma once

#include <string>
#include <vector>

#include "analysis/communication/communication.h"
#include "base/status.h"

namespace steplens::exporting {

// communication.json and communication_matrix.json into `dir`; not created without operations or
// without links.
Status WriteCommunicationFiles(const std::vector<analysis::CommunicationStep>& steps,
                               bool is_mindspore, const std::string& dir);

}  // namespace steplens::exporting
