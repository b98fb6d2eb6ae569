#include "base/gzip.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <random>
#include <string>

namespace steplens {
namespace {

std::string Pack(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// A file with the given bytes that is gone at the end of the test.
class PackedFile {
 public:
  explicit PackedFile(const std::string& bytes) {
    const int fd = ::mkstemp(path_.data());
    EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(fd);
  }
  ~PackedFile() { ::unlink(path_.c_str()); }
  PackedFile(const PackedFile&) = delete;
  PackedFile& operator=(const PackedFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/steplens_gzip_XXXXXX";
};

std::string RandomText(std::mt19937& random, size_t size) {
  std::string text;
  while (text.size() < size) text += std::to_string(random() % 100000) + ", ";
  return text;
}

TEST(GzipText, AnyPlaceIsReadInAnyOrder) {
  std::mt19937 random(1);
  const std::string first = RandomText(random, 3000000);
  const std::string second = RandomText(random, 2000000);
  const std::string text = first + second;
  const PackedFile file(Pack(first) + Pack(second));
  GzipText packed(file.path(), 4096);  // so close that states have to be thinned out
  for (int round = 0; round < 300; ++round) {
    const size_t offset = random() % (text.size() + 100);
    const size_t size = random() % 1000;
    const Result<std::string> found = packed.Read(offset, size);
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(*found, offset < text.size() ? text.substr(offset, size) : "") << offset;
  }
}

TEST(GzipText, DamageIsAnErrorForWhatLiesBehindItOnly) {
  std::mt19937 random(2);
  const std::string text = RandomText(random, 2000000);
  const std::string bytes = Pack(text);
  const PackedFile file(bytes.substr(0, bytes.size() / 2));
  GzipText packed(file.path(), 4096);
  EXPECT_FALSE(packed.Read(text.size() - 10, 5).ok());
  const Result<std::string> found = packed.Read(1000, 50);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, text.substr(1000, 50));
}

TEST(GzipText, AFileThatIsGoneIsAnError) {
  GzipText packed("/nowhere/trace.json.gz");
  EXPECT_FALSE(packed.Read(0, 5).ok());
  EXPECT_FALSE(IsGzipFile("/nowhere/trace.json.gz"));
}

}  // namespace
}  // namespace steplens
