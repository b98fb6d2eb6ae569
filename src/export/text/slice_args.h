#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/classify/classify.h"
#include "export/export.h"
#include "export/text/rendered_texts.h"
#include "export/text/row_finder.h"
#include "export/text/text_buffer.h"
#include "export/timeline.h"

namespace steplens::exporting {

// The args of slices in the trace, with the keys and in the order of the reference tool: as
// options.args_of gives them, else made of the store. Not thread safe.
class SliceArgs {
 public:
  // All three must outlive this.
  SliceArgs(const store::TraceStore& store, const Timeline& timeline, const ExportOptions& options);

  // Appends the JSON object; "{}" if there is nothing to say. Fastest in order of the slices.
  void Append(TextBuffer& out, uint32_t slice);

 private:
  void AppendHostOp(TextBuffer& out, size_t row);
  void AppendPython(TextBuffer& out, uint32_t slice);
  PaddedView TaskType(uint32_t slice, uint32_t kernel, bool is_sub_task);
  void AppendCann(TextBuffer& out, uint32_t slice);
  void AppendDeviceTask(TextBuffer& out, uint32_t slice);
  void AppendCommOp(TextBuffer& out, uint32_t slice);
  void AppendCommTask(TextBuffer& out, uint32_t slice);
  void AppendMarker(TextBuffer& out, uint32_t marker);
  void AppendGpuWork(TextBuffer& out, uint32_t slice);
  void AppendCorrelation(TextBuffer& out, uint32_t slice, std::string_view key);
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
  RenderedTexts<RenderText> shapes_, types_, stacks_, modules_;  // as members of args
  RenderedTexts<RenderText> module_ids_;                         // by the name of the function

  RowFinder<store::SliceId> host_ops_;  // in store.host_ops.slice
  std::vector<Place> comm_ops_;
  std::vector<Place> comm_tasks_;
  std::optional<DeviceIndex> device_;
  RowFinder<uint32_t> device_slices_;                 // in device_->slices
  std::unordered_map<uint32_t, uint32_t> marker_of_;  // slice -> row of markers

  // The Python functions in order of their slices.
  struct PythonId {
    int64_t id = 0;
    int64_t parent = 0;
  };
  std::vector<uint32_t> python_slices_;
  std::vector<PythonId> python_ids_;
  RowFinder<uint32_t> python_calls_;

  // The task type of the kernel before, which most share.
  struct {
    StringId category = StringId::kEmpty;
    StringId core = StringId::kEmpty;
    bool is_sub_task = false;
    PaddedView json;
  } task_type_;
  std::map<std::tuple<StringId, StringId, bool>, PaddedView> task_types_;
  PaddedTexts kept_;
};

}  // namespace steplens::exporting
