#include "base/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/memory_limit.h"

namespace steplens {
namespace {

// A file from some place on, opened anew for each read.
class FileFrom : public ByteSource {
 public:
  FileFrom(std::string path, uint64_t position) : path_(std::move(path)), position_(position) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    SL_ASSIGN_OR_RETURN(const std::string bytes, ReadFileRange(path_, position_, size));
    std::copy(bytes.begin(), bytes.end(), buffer);
    position_ += bytes.size();
    return bytes.size();
  }
  uint64_t file_position() const override { return position_; }

 private:
  const std::string path_;
  uint64_t position_;
};

// NOLINTNEXTLINE: one for the process, as the command line has it
UnpackLimits unpack_limits;

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)) {
    ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;  // 16: gzip framing
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  // Bytes of the packed stream that the text so far came from.
  uint64_t packed_position() const { return packed_->file_position() - stream_.avail_in; }
  // One that goes on where this is; `packed` begins at packed_position().
  std::unique_ptr<GzipSource> Fork(std::unique_ptr<ByteSource> packed) const {
    return std::unique_ptr<GzipSource>(new GzipSource(*this, std::move(packed)));
  }

  Result<size_t> Read(char* buffer, size_t size) override {
    if (!ready_) return Error{ErrorCode::kInternal, name_ + ": zlib did not start"};
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out > 0 && !finished_) Step();
    const size_t got = size - stream_.avail_out;
    given_ += got;
    if (!finished_ && IsTooMuch()) Finish(TooMuch());
    if (got == 0 && !error_.ok()) return error_.error();
    return got;
  }

  uint64_t file_position() const override { return packed_->file_position(); }

 private:
  bool IsTooMuch() const {
    if (given_ > limits_.max_bytes) return true;
    return given_ > limits_.free_bytes && given_ / limits_.max_ratio > packed_position();
  }
  Error TooMuch() const {
    return {ErrorCode::kCorruptData,
            fmt::format("{}: {} packed bytes have become {} MiB and more, which no trace does; "
                        "the rest is not unpacked (--max-unpacked lifts the limit)",
                        name_, packed_position(), given_ >> 20)};
  }

  void Step() {
    if (stream_.avail_in == 0) {
      input_.resize(kInputBytes);
      Result<size_t> got = packed_->Read(input_.data(), input_.size());
      if (!got.ok()) return Finish(std::move(got).error());
      if (*got == 0) return in_member_ ? Finish(Damaged("it ends in the middle")) : Finish({});
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream_.avail_in = static_cast<uInt>(*got);
    }
    const Bytef* const input = stream_.next_in;
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
    // What follows the last member is not text of the file, as gzip(1) says; zeros are padding.
    if (after_member_ && stream_.total_out == 0) {
      const Bytef* const end = stream_.next_in + stream_.avail_in;
      if (std::all_of(input, end, [](Bytef byte) { return byte == 0; })) return Finish({});
      return Finish(Error{ErrorCode::kUnsupported,
                          name_ + ": bytes behind the end of the gzip data are not used"});
    }
    if (code == Z_MEM_ERROR) return Finish(OutOfMemory());
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

  GzipSource(const GzipSource& from, std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)),
        name_(from.name_),
        finished_(from.finished_),
        in_member_(from.in_member_),
        after_member_(from.after_member_),
        given_(from.given_),
        error_(from.error_) {
    ready_ = inflateCopy(&stream_, const_cast<z_stream*>(&from.stream_)) == Z_OK;
    stream_.avail_in = 0;
  }

  static constexpr size_t kInputBytes = size_t{256} << 10;

  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  z_stream stream_{};
  std::vector<char> input_;
  bool ready_ = false;
  bool finished_ = false;
  bool in_member_ = true;
  bool after_member_ = false;
  const UnpackLimits limits_ = unpack_limits;
  uint64_t given_ = 0;  // bytes of text so far
  Status error_;
};

}  // namespace

void SetUnpackLimits(const UnpackLimits& limits) { unpack_limits = limits; }

std::unique_ptr<ByteSource> MakeGzipSource(std::unique_ptr<ByteSource> packed, std::string name) {
  return std::make_unique<GzipSource>(std::move(packed), std::move(name));
}

bool IsGzipFile(const std::string& path) {
  const Result<std::string> magic = ReadFileRange(path, 0, 2);
  return magic.ok() && *magic == "\x1f\x8b";
}

struct GzipText::State {
  uint64_t text_position = 0;
  std::unique_ptr<GzipSource> source;

  std::unique_ptr<State> Fork(const std::string& path) const {
    auto packed = std::make_unique<FileFrom>(path, source->packed_position());
    return std::make_unique<State>(State{text_position, source->Fork(std::move(packed))});
  }
};

GzipText::GzipText(std::string path, uint64_t spacing_bytes)
    : path_(std::move(path)), spacing_bytes_(spacing_bytes) {
  auto source = std::make_unique<GzipSource>(std::make_unique<FileFrom>(path_, 0), path_);
  states_.push_back(std::make_unique<State>(State{0, std::move(source)}));
}
GzipText::~GzipText() = default;

void GzipText::StartBefore(uint64_t offset) {
  const auto after = std::upper_bound(
      states_.begin(), states_.end(), offset,
      [](uint64_t wanted, const auto& state) { return wanted < state->text_position; });
  const State& before = **std::prev(after);
  const bool is_close =
      at_ && at_->text_position <= offset && at_->text_position >= before.text_position;
  if (!is_close) at_ = before.Fork(path_);
}

void GzipText::KeepState() {
  if (at_->text_position < states_.back()->text_position + spacing_bytes_) return;
  states_.push_back(at_->Fork(path_));
  if (states_.size() <= kMaxStates) return;
  spacing_bytes_ *= 2;
  size_t kept = 0;
  for (size_t i = 0; i < states_.size(); i += 2) states_[kept++] = std::move(states_[i]);
  states_.resize(kept);
}

Result<std::string> GzipText::Read(uint64_t offset, size_t size) {
  constexpr size_t kPiece = size_t{1} << 18;
  StartBefore(offset);
  std::string piece;
  while (at_->text_position < offset) {
    piece.resize(std::min<uint64_t>(kPiece, offset - at_->text_position));
    SL_ASSIGN_OR_RETURN(const size_t got, at_->source->Read(piece.data(), piece.size()));
    if (got == 0) return std::string();
    at_->text_position += got;
    KeepState();
  }
  std::string out(size, '\0');
  SL_ASSIGN_OR_RETURN(const size_t got, at_->source->Read(out.data(), out.size()));
  at_->text_position += got;
  out.resize(got);
  return out;
}

}  // namespace steplens
