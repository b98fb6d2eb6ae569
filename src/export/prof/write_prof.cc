#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "export/prof/prof_csv.h"
#include "export/prof/prof_export.h"
#include "export/prof/prof_facts.h"
#include "export/prof/read_me.h"

namespace steplens::exporting {
namespace {

using WriteFiles = Status (*)(const ProfFacts&, const ProfTarget&);

// One line per file or family of files; the largest first, so that no core ends up alone with it.
constexpr WriteFiles kWriters[] = {
    WriteProfTrace,        WriteOpSummary,       WriteProfTaskTime,
    WriteProfApiStatistic, WriteProfOpStatistic, WriteCommunicationStatistic,
    WriteMarksTrace,       WriteMarksCsv,        WriteStepTrace,
    WriteStepTraceCsv,     WriteProfMemory,      WriteLinkFiles,
    WriteHostFiles,        WriteProfSheets,
};

}  // namespace

Status WriteProfText(const store::TraceStore& store, const std::string& stamp,
                     const std::string& dir, ThreadPool& pool) {
  // The pool builds its index at the first look-up, which must not be one of several at once.
  static_cast<void>(store.strings.Find({}));
  const ProfFacts facts(store);
  const ProfTarget target{dir, stamp};
  std::array<Status, std::size(kWriters)> results;
  pool.ParallelFor(results.size(), [&](size_t i) { results[i] = kWriters[i](facts, target); });
  for (Status& result : results) SL_RETURN_IF_ERROR(std::move(result));
  return WriteReadMe(target);
}

}  // namespace steplens::exporting
