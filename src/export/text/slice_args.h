#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/classify/classify.h"
#include "export/export.h"
#include "export/text/rendered_texts.h"
#include "export/timeline.h"

namespace steplens::exporting {

// The args of slices in the trace, with the keys and in the order of the reference tool: as
// options.args_of gives them, else made of the store. Not thread safe.
class SliceArgs {
 public:
  // All three must outlive this.
  SliceArgs(const store::TraceStore& store, const Timeline& timeline, const ExportOptions& options);

  // Appends the JSON object; "{}" if there is nothing to say.
  void Append(std::string& out, uint32_t slice);

 private:
  void AppendHostOp(std::string& out, uint32_t slice);
  void AppendPython(std::string& out, uint32_t slice);
  void AppendCann(std::string& out, uint32_t slice);
  void AppendDeviceTask(std::string& out, uint32_t slice);
  void AppendCommOp(std::string& out, uint32_t slice);
  void AppendCommTask(std::string& out, uint32_t slice);
  void AppendMarker(std::string& out, uint32_t marker);
  void AppendGpuWork(std::string& out, uint32_t slice);
  void AppendCorrelation(std::string& out, uint32_t slice, std::string_view key);
  void IndexDetails();
  void NumberPythonCalls();

  // A slice by where and when, for the tables about slices that do not name them.
  struct Place {
    store::TrackId track;
    int64_t begin_ns;
    StringId name;
    uint32_t row;  // of the other table
    auto operator<=>(const Place&) const = default;
  };
  uint32_t Find(const std::vector<Place>& places, uint32_t slice) const;

  const store::TraceStore& store_;
  const Timeline& timeline_;
  const ExportOptions& options_;
  analysis::SliceKinds kinds_;
  RenderedTexts<std::string (*)(std::string_view)> lines_;

  std::vector<uint32_t> host_op_of_;  // slice -> row of host_ops, or kNoId
  std::vector<Place> comm_ops_;
  std::vector<Place> comm_tasks_;
  std::unordered_map<uint32_t, uint32_t> kernel_of_;     // device slice -> row of kernels
  std::unordered_map<uint32_t, uint32_t> comm_task_of_;  // device slice -> row of comm_tasks
  std::unordered_map<uint32_t, uint32_t> marker_of_;     // slice -> row of markers
  std::unordered_map<uint32_t, std::pair<int64_t, int64_t>> python_ids_;  // slice -> id, parent
};

}  // namespace steplens::exporting
