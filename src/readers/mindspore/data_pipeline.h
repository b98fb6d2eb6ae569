#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "store/data_pipeline.h"

namespace steplens::readers {

// The data pipelines in FRAMEWORK of a capture, by file name. One whose description makes no sense
// is an error; one whose other files are missing or damaged says so itself.
std::vector<Result<store::DataPipeline>> ReadDataPipelines(const std::string& capture);

}  // namespace steplens::readers
