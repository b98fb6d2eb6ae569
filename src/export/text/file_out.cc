#include "export/text/file_out.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <optional>

#include "base/cancel.h"
#include "base/file.h"

namespace steplens::exporting {
namespace {

// Packs pieces into one gzip member. No time and no name in its header: equal texts give equal
// files.
class Packer {
 public:
  Packer() {
    constexpr int kGzip = 16;
    ok_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, 8,
                       Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Packer() { deflateEnd(&stream_); }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  Status Pack(std::string_view text, bool is_last, AtomicFile& file) {
    if (!ok_) return Error{ErrorCode::kInternal, "zlib could not be started"};
    std::array<char, 1 << 16> packed;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream_.avail_out = static_cast<uInt>(packed.size());
      deflate(&stream_, is_last ? Z_FINISH : Z_NO_FLUSH);
      SL_RETURN_IF_ERROR(file.Write(packed.data(), packed.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
    return {};
  }

 private:
  z_stream stream_{};
  bool ok_ = false;
};

}  // namespace

struct FileOut::Impl {
  // Pieces of any size: zlib counts in 32 bits.
  Status Write(std::string_view text, bool is_last) {
    if (!file) {
      SL_ASSIGN_OR_RETURN(AtomicFile created, AtomicFile::Create(path));
      file.emplace(std::move(created));
      if (path.ends_with(".gz")) packer.emplace();
    }
    if (!packer) return file->Write(text.data(), text.size());
    constexpr size_t kMaxPiece = size_t{1} << 30;
    while (text.size() > kMaxPiece) {
      SL_RETURN_IF_ERROR(packer->Pack(text.substr(0, kMaxPiece), false, *file));
      text.remove_prefix(kMaxPiece);
    }
    return packer->Pack(text, is_last, *file);
  }

  std::string path;
  std::optional<AtomicFile> file;
  std::optional<Packer> packer;
  Status status;
};

FileOut::FileOut(std::string path) : impl_(std::make_unique<Impl>()) {
  impl_->path = std::move(path);
  text_.Reserve(kPieceBytes + kPieceBytes / 8);
}
FileOut::~FileOut() = default;

void FileOut::Flush() {
  if (impl_->status.ok() && IsCancelled())
    impl_->status = Error{ErrorCode::kCancelled, "interrupted"};
  if (impl_->status.ok()) impl_->status = impl_->Write(text_.view(), false);
  text_.Clear();
}

Status FileOut::Commit() {
  SL_RETURN_IF_ERROR(std::move(impl_->status));
  SL_RETURN_IF_ERROR(impl_->Write(text_.view(), true));
  return impl_->file->CommitDurably();
}

Status WriteWholeFile(const std::string& path, std::string_view text) {
  FileOut file(path);
  file.text() += text;
  return file.Commit();
}

}  // namespace steplens::exporting
