#pragma once

#include <span>
#include <string>

#include "cluster/output.h"

namespace steplens::cluster {

enum class ReportLanguage : uint8_t { kEnglish, kChinese };

// The answers as one self-contained HTML page: findings, step time by rank, wait versus transfer,
// the link matrix, slow ranks, and for every other recipe its tables with a box plot where they
// have quartiles.
std::string MakeReport(std::span<const Export> exports, const std::string& input,
                       ReportLanguage language);

}  // namespace steplens::cluster
