#pragma once

#include <vector>

#include "analysis/question/question.h"

namespace steplens::analysis {

// `critical_path` and `whatif`: what the step graph of the ranks says (analysis/whatif).
Result<QuestionAnswer> AskCriticalPath(const QuestionArgs& args, const store::Job& job);
Result<QuestionAnswer> AskWhatIf(const QuestionArgs& args, const store::Job& job);

}  // namespace steplens::analysis
