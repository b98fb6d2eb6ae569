#include "base/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>

namespace steplens {
namespace {

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)) {
    ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;  // 16: gzip framing
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  Result<size_t> Read(char* buffer, size_t size) override {
    if (!ready_) return Error{ErrorCode::kInternal, name_ + ": zlib did not start"};
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out > 0 && !finished_) Step();
    const size_t got = size - stream_.avail_out;
    if (got == 0 && !error_.ok()) return error_.error();
    return got;
  }

  uint64_t file_position() const override { return packed_->file_position(); }

 private:
  void Step() {
    if (stream_.avail_in == 0) {
      Result<size_t> got = packed_->Read(input_.data(), input_.size());
      if (!got.ok()) return Finish(std::move(got).error());
      if (*got == 0) return in_member_ ? Finish(Damaged("it ends in the middle")) : Finish({});
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream_.avail_in = static_cast<uInt>(*got);
    }
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      in_member_ = false;
      after_member_ = true;
      inflateReset(&stream_);
      return;
    }
    if (code == Z_OK || code == Z_BUF_ERROR) {
      in_member_ = in_member_ || stream_.total_out > 0;
      return;
    }
    // Padding after the last member is ignored, as gzip(1) does.
    if (after_member_ && stream_.total_out == 0) return Finish({});
    Finish(Damaged(stream_.msg != nullptr ? stream_.msg : "damaged"));
  }

  // What was unpacked before the damage is handed out first; the error follows with the next call.
  void Finish(Status status) {
    finished_ = true;
    error_ = std::move(status);
  }

  Error Damaged(std::string_view what) const {
    return {ErrorCode::kCorruptData,
            fmt::format("{}: the gzip data is damaged or cut off ({})", name_, what)};
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  z_stream stream_{};
  std::array<char, 256 * 1024> input_;
  bool ready_ = false;
  bool finished_ = false;
  bool in_member_ = true;
  bool after_member_ = false;
  Status error_;
};

}  // namespace

std::unique_ptr<ByteSource> MakeGzipSource(std::unique_ptr<ByteSource> packed, std::string name) {
  return std::make_unique<GzipSource>(std::move(packed), std::move(name));
}

}  // namespace steplens
