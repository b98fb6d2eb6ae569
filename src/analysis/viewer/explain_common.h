#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/viewer/explain.h"

namespace steplens::analysis::viewer {

// "12.345 us", "1.2 ms": a time for a sentence.
std::string TimeText(int64_t ns);

// A wording whose English is `english` with "{name}" replaced by the arguments.
Wording Word(std::string key, std::string_view english,
             std::vector<std::pair<std::string, std::string>> args = {});

// `ns` as a share of `whole_ns`.
Evidence MakeEvidence(Wording wording, int64_t ns, int64_t whole_ns);

}  // namespace steplens::analysis::viewer
