#include "export/text/csv_file.h"

namespace steplens::exporting {

void CsvFile::EndRow() {
  EndLine();
  if (!file_ && status_.ok()) {
    Result<FileOut> file = FileOut::Create(path_);
    if (file.ok()) {
      file_.emplace(*std::move(file));
    } else {
      status_ = std::move(file).error();
    }
  }
  if (file_) {
    file_->text() += line_;
    file_->Tick();
  }
  line_.clear();
}

Status CsvFile::Commit() {
  if (!status_.ok() || !file_) return status_;
  return file_->Commit();
}

}  // namespace steplens::exporting
