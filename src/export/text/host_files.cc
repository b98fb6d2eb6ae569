#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/classify/text_memo.h"
#include "analysis/operators/host_ops.h"
#include "base/saturate.h"
#include "export/text/csv_file.h"
#include "export/text/csv_files.h"
#include "export/text/rendered_texts.h"

namespace steplens::exporting {
namespace {

using store::TraceStore;

constexpr std::string_view kStepPrefix = "ProfilerStep#";

const std::vector<std::string>& OperatorHeader(bool is_mindspore) {
  static const std::vector<std::string> kMindSpore = {"Name", "Input Shapes"};
  static const std::vector<std::string> kTorch = {"Name",
                                                  "Input Shapes",
                                                  "Call Stack",
                                                  "Host Self Duration(us)",
                                                  "Host Total Duration(us)",
                                                  "Device Self Duration(us)",
                                                  "Device Total Duration(us)",
                                                  "Device Self Duration With AICore(us)",
                                                  "Device Total Duration With AICore(us)"};
  return is_mindspore ? kMindSpore : kTorch;
}

// Whether shapes were recorded: MindSpore's file is about nothing else.
bool HasShapes(const TraceStore& store) {
  const auto has_text = [](StringId shapes) { return shapes != StringId::kEmpty; };
  const auto& of_ops = store.host_ops.input_shapes;
  return store.operator_details.size() > 0 || std::any_of(of_ops.begin(), of_ops.end(), has_text);
}

class OperatorFile {
 public:
  OperatorFile(const TraceStore& store, const std::string& dir)
      : is_mindspore_(IsMindSpore(store)),
        csv_(dir + "/operator_details.csv", OperatorHeader(is_mindspore_)),
        names_(store, CsvText),
        lines_(store, is_mindspore_ ? CsvText : CsvLines) {}

  void Add(StringId name, StringId shapes, StringId stack,
           std::initializer_list<int64_t> times_ns) {
    csv_.Rendered(names_[name]);
    csv_.Rendered(lines_[shapes]);
    if (!is_mindspore_) {
      csv_.Rendered(lines_[stack]);
      for (const int64_t ns : times_ns) csv_.UsNumber(ns);
    }
    csv_.EndRow();
  }
  Status Commit() { return csv_.Commit(); }

 private:
  bool is_mindspore_;
  CsvFile csv_;
  RenderedTexts<RenderText> names_;
  RenderedTexts<RenderText> lines_;
};

}  // namespace

Status WriteOperatorDetails(const TraceStore& store, const std::string& dir) {
  if (IsMindSpore(store) && !HasShapes(store)) return {};
  OperatorFile file(store, dir);
  const store::OperatorDetailTable& details = store.operator_details;
  for (size_t i = 0; i < details.size(); ++i) {
    file.Add(details.name[i], details.input_shapes[i], details.call_stack[i],
             {details.host_self_ns[i], details.host_total_ns[i], details.device_self_ns[i],
              details.device_total_ns[i], details.device_self_aicore_ns[i],
              details.device_total_aicore_ns[i]});
  }
  if (details.size() > 0 || store.host_ops.size() == 0) return file.Commit();
  analysis::TextMemo is_step(store,
                             [](std::string_view name) { return name.starts_with(kStepPrefix); });
  analysis::ForEachHostOp(store, [&](const analysis::HostOp& op) {
    const StringId name = store.slices.name[static_cast<size_t>(op.slice)];
    if (is_step(name)) return;
    const bool has_detail = op.detail != store::kNoId;
    file.Add(name, has_detail ? store.host_ops.input_shapes[op.detail] : StringId::kEmpty,
             has_detail ? store.host_ops.call_stack[op.detail] : StringId::kEmpty,
             {op.host_self_ns, op.host_total_ns, op.device_self_ns, op.device_total_ns,
              op.device_self_aicore_ns, op.device_total_aicore_ns});
  });
  return file.Commit();
}

namespace {

// The first two pairs of "k:v;k:v" as Python shows a dict: "{'k': 'v', 'k': 'v'}".
std::string CustomInfoText(std::string_view pairs) {
  std::string out;
  for (int count = 0; count < 2 && !pairs.empty(); ++count) {
    const size_t end = std::min(pairs.find(';'), pairs.size());
    const std::string_view pair = pairs.substr(0, end);
    pairs.remove_prefix(std::min(end + 1, pairs.size()));
    const size_t colon = std::min(pair.find(':'), pair.size());
    out += fmt::format("{}'{}': '{}'", out.empty() ? "" : ", ", pair.substr(0, colon),
                       pair.substr(std::min(colon + 1, pair.size())));
  }
  return out.empty() ? out : "{" + out + "}";
}

// The operation and the stage that a range of the data pipeline stands for. MindSpore names them
// "Dataset::<operation>::<stage>", torch's DataLoader "enumerate(DataLoader)#<class>.<method>".
std::optional<std::pair<std::string_view, std::string_view>> PipelineStage(std::string_view name) {
  for (const auto& [prefix, separator] :
       {std::pair<std::string_view, std::string_view>{"Dataset::", "::"},
        std::pair<std::string_view, std::string_view>{"enumerate(DataLoader)#", "."}}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    const size_t cut = std::min(name.find(separator), name.size());
    return std::pair{name.substr(0, cut),
                     name.substr(std::min(cut + separator.size(), name.size()))};
  }
  return std::nullopt;
}

// What MindSpore says of single slices beside their names.
std::map<size_t, StringId> CustomInfos(const TraceStore& store) {
  std::map<size_t, StringId> infos;
  for (const store::DynamicTable& sheet : store.sheets) {
    if (sheet.name != "mindspore_custom_info") continue;
    for (size_t row = 0; row < sheet.size(); ++row)
      infos[static_cast<size_t>(sheet.columns[0].numbers[row])] = sheet.columns[1].texts[row];
  }
  return infos;
}

}  // namespace

Status WriteDataset(const TraceStore& store, const Timeline& timeline, const std::string& dir) {
  if (!IsMindSpore(store)) return {};
  struct Total {
    int64_t count = 0;
    int64_t total_ns = 0;
  };
  const std::map<size_t, StringId> infos = CustomInfos(store);
  std::map<std::tuple<std::string_view, std::string_view, std::string>, Total> totals;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto stage = PipelineStage(store.Text(store.slices.name[i]));
    if (!stage) continue;
    if (timeline.of(store.slices.track[i]).kind == analysis::TrackKind::kDevice) continue;
    const auto info = infos.find(i);
    Total& total =
        totals[{stage->first, stage->second,
                info == infos.end() ? std::string() : CustomInfoText(store.Text(info->second))}];
    ++total.count;
    total.total_ns = AddSaturating(total.total_ns, store.slices.dur_ns[i]);
  }
  const std::string header[] = {"Operation", "Stage", "Occurrences", "Avg. time (us)",
                                "Custom Info"};
  CsvFile csv(dir + "/dataset.csv", header);
  for (const auto& [key, total] : totals) {
    csv.Text(std::get<0>(key));
    csv.Text(std::get<1>(key));
    csv.Int(total.count);
    const double avg_us =
        static_cast<double>(total.total_ns) / 1000 / static_cast<double>(total.count);
    csv.Number(std::round(avg_us * 100) / 100);
    csv.Text(std::get<2>(key));
    csv.EndRow();
  }
  return csv.Commit();
}

}  // namespace steplens::exporting
