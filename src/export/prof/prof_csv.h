#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "export/prof/prof_facts.h"
#include "export/text/csv_file.h"

namespace steplens::exporting {

// Where the csv files of a PROF folder go, and the end of their names.
struct ProfTarget {
  std::string dir;
  std::string stamp;
};

// <dir>/<type>_<stamp>.csv. More than a million rows become <type>_slice_<k>_<stamp>.csv, each with
// the header.
class ProfCsv {
 public:
  static constexpr size_t kRowsPerSlice = 1'000'000;

  // `rows`: how many will come.
  ProfCsv(const ProfTarget& target, std::string type, std::vector<std::string> header, size_t rows)
      : target_(target),
        type_(std::move(type)),
        header_(std::move(header)),
        has_slices_(rows > kRowsPerSlice) {}

  // The file that the next row goes to.
  Result<CsvFile*> Next() {
    if (!file_ || rows_ == kRowsPerSlice) {
      SL_RETURN_IF_ERROR(Finish());
      const std::string number = has_slices_ ? "_slice_" + std::to_string(slice_++) : "";
      const std::string path = target_.dir + "/" + type_ + number + "_" + target_.stamp + ".csv";
      file_ = std::make_unique<CsvFile>(path, header_, "\n");
    }
    ++rows_;
    return file_.get();
  }
  Status Finish() {
    if (!file_) return {};
    rows_ = 0;
    Status status = file_->Commit();
    file_.reset();
    return status;
  }

 private:
  const ProfTarget& target_;
  std::string type_;
  std::vector<std::string> header_;
  bool has_slices_;
  std::unique_ptr<CsvFile> file_;
  size_t rows_ = 0;
  size_t slice_ = 0;
};

// One function a family of files; a file without rows is not created.
Status WriteOpSummary(const ProfFacts& facts, const ProfTarget& target);
Status WriteProfOpStatistic(const ProfFacts& facts, const ProfTarget& target);
Status WriteProfTaskTime(const ProfFacts& facts, const ProfTarget& target);
Status WriteProfApiStatistic(const ProfFacts& facts, const ProfTarget& target);
Status WriteCommunicationStatistic(const ProfFacts& facts, const ProfTarget& target);
Status WriteStepTraceCsv(const ProfFacts& facts, const ProfTarget& target);
Status WriteMarksCsv(const ProfFacts& facts, const ProfTarget& target);
// memory_record, operator_memory, npu_mem and npu_module_mem.
Status WriteProfMemory(const ProfFacts& facts, const ProfTarget& target);
// hbm, ddr, hccs, pcie, nic, roce, llc_read_write.
Status WriteLinkFiles(const ProfFacts& facts, const ProfTarget& target);
// host_cpu_usage, host_mem_usage, host_network_usage, host_disk_usage, os_runtime_statistic.
Status WriteHostFiles(const ProfFacts& facts, const ProfTarget& target);
// aicpu, dp, aicpu_mi, l2_cache and fusion_op: the tables that the reader has made.
Status WriteProfSheets(const ProfFacts& facts, const ProfTarget& target);

// msprof_<stamp>.json, msprof_tx_<stamp>.json and step_trace_<stamp>.json.
Status WriteProfTrace(const ProfFacts& facts, const ProfTarget& target);
Status WriteMarksTrace(const ProfFacts& facts, const ProfTarget& target);
Status WriteStepTrace(const ProfFacts& facts, const ProfTarget& target);

}  // namespace steplens::exporting
