#pragma once

#include <string>

#include "base/status.h"
#include "readers/chrome/flow_pairing.h"
#include "readers/read_options.h"
#include "store/trace_store.h"

namespace steplens::readers {

// Reads one trace in JSON (plain or gzip, array or object form) and appends it to `out`. The
// members of an object form beside 'traceEvents' become meta rows, as JSON text. A trace cut off or
// damaged in places gives what can be read and counted issues; a file that is no trace at all is an
// error. Flows without a partner in the file go to `loose` if it is given, for a timeline in
// several files, else they are counted as issues.
Status ReadChromeTrace(const std::string& path, const ReadOptions& options, store::TraceStore& out,
                       LooseFlows* loose = nullptr);

// The same for text in memory; `name` is used in messages.
Status ReadChromeText(std::string_view text, const std::string& name, const ReadOptions& options,
                      store::TraceStore& out);

}  // namespace steplens::readers
