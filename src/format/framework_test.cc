#include "format/framework.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "format/device_record.h"
#include "format/framework_mindspore.h"

namespace steplens::format {
namespace {

// Fills a record's fixed part with random bytes, decodes, encodes: the bytes are the same.
template <typename T>
void ExpectRoundTrip(std::vector<size_t> bools = {}) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint8_t> bytes(T::kFixedBytes);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    for (const size_t offset : bools) bytes[offset] &= 1;
    T record;
    ASSERT_TRUE(Decode(bytes, &record));
    std::vector<uint8_t> again(T::kFixedBytes);
    EncodeFixed(record, again.data());
    ASSERT_EQ(bytes, again);
    for (size_t size = 0; size < T::kFixedBytes; ++size) {
      ASSERT_FALSE(Decode(Bytes(bytes).first(size), &record));
    }
  }
}

TEST(Framework, EveryRecordSurvivesTheRoundTrip) {
  ExpectRoundTrip<OpRange>({57});
  ExpectRoundTrip<OpMark>();
  ExpectRoundTrip<MemoryUsage>();
  ExpectRoundTrip<PythonCall>();
  ExpectRoundTrip<GcPause>();
  ExpectRoundTrip<Keyed>();
  ExpectRoundTrip<Mark>();
  ExpectRoundTrip<Thread>();
  ExpectRoundTrip<DeviceActivity>();
  ExpectRoundTrip<MindSporeOpRange>({51, 52, 53});
  ExpectRoundTrip<MindSporeMemory>();
}

TEST(Framework, CounterSampleKeepsItsValue) {
  std::vector<uint8_t> out;
  AppendRecord(out, kCounterSampleRecord, CounterSample{3, -5, 12.625});
  ASSERT_EQ(out.size(), kTlvHeaderBytes + CounterSample::kFixedBytes);
  CounterSample sample;
  ASSERT_TRUE(Decode(TlvReader(out).Next()->value, &sample));
  EXPECT_EQ(sample.series, 3u);
  EXPECT_EQ(sample.time, -5);
  EXPECT_EQ(sample.value, 12.625);
}

// The example of the format: the mark "flow" of MindSpore.
TEST(Framework, MindSporeRangeHasItsFieldsInOrder) {
  std::vector<uint8_t> out;
  TlvWriter writer(out, kMindSporeOpRangeRecord, MindSporeOpRange::kFixedBytes);
  MindSporeOpRange range;
  range.thread_id = 3;
  range.start = range.end = 5;
  EncodeFixed(range, writer.fixed());
  writer.Field(kMindSporeName, "flow");
  writer.Field(kMindSporeFullName, "a/b");
  writer.Field(kMindSporeModuleGraph, "");
  writer.Field(kMindSporeEventGraph, "");
  std::vector<uint8_t> expected = {0, 0, 54 + 10 + 9 + 6 + 6, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0};
  expected.insert(expected.end(), 8, 0xFF);  // no flow
  expected.insert(expected.end(), 8, 0);     // step
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), {5, 0, 0, 0, 0, 0, 0, 0});
  expected.insert(expected.end(), 14, 0);
  expected.insert(expected.end(), {13, 0, 4, 0, 0, 0, 'f', 'l', 'o', 'w'});
  expected.insert(expected.end(), {14, 0, 3, 0, 0, 0, 'a', '/', 'b'});
  expected.insert(expected.end(), {15, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0});
  EXPECT_EQ(out, expected);
}

// The worked example of the format: an op mark "x" of 53 bytes.
TEST(Framework, OpMarkHasTheBytesOfTheExample) {
  std::vector<uint8_t> out;
  OpMark mark;
  mark.time = 5;
  mark.category = 1;
  mark.correlation_id = 7;
  mark.thread_id = 3;
  mark.process_id = 2;
  AppendRecord(out, kOpMarkRecord, mark).Field(kOpMarkName, "x");
  const std::vector<uint8_t> expected = {0x02, 0, 0x2F, 0, 0, 0,          // type 2, 47 bytes
                                         5,    0, 0,    0, 0, 0, 0,   0,  // time
                                         1,    0, 0,    0, 0, 0, 0,   0,  // category
                                         7,    0, 0,    0, 0, 0, 0,   0,  // correlation
                                         3,    0, 0,    0, 0, 0, 0,   0,  // thread
                                         2,    0, 0,    0, 0, 0, 0,   0,  // process
                                         1,    0, 1,    0, 0, 0, 0x78};   // field 1: "x"
  EXPECT_EQ(out, expected);
}

TEST(Framework, OpRangePutsEachFieldAtItsOffset) {
  std::vector<uint8_t> out;
  OpRange op;
  op.start = 0x0102030405060708;
  op.sequence = -1;
  op.forward_thread = 9;
  op.scope = kScopeUser;
  op.is_async = true;
  AppendRecord(out, kOpRangeRecord, op).Field(kOpName, "step");
  ASSERT_EQ(out.size(), 6u + 58 + 6 + 4);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[2], 58 + 6 + 4);
  EXPECT_EQ(out[6], 0x08);
  EXPECT_EQ(out[6 + 7], 0x01);
  EXPECT_EQ(out[6 + 16], 0xFF);
  EXPECT_EQ(out[6 + 48], 9);
  EXPECT_EQ(out[6 + 56], 7);
  EXPECT_EQ(out[6 + 57], 1);
  EXPECT_EQ(out[6 + 58], 2);
}

TEST(Tlv, WalksRecordsAndFieldsAndKeepsAnyBytes) {
  const std::string bytes("a\0\xFF;", 4);
  std::vector<uint8_t> out;
  TlvWriter first = AppendRecord(out, kPythonNameRecord, Keyed{1});
  first.Field(kKeyText, bytes);
  first.Field(40, "");
  AppendRecord(out, kPythonNameRecord, Keyed{2});

  TlvReader records(out);
  const TlvItem record = *records.Next();
  EXPECT_EQ(record.type, kPythonNameRecord);
  TlvReader fields = Fields(record.value, Keyed::kFixedBytes);
  EXPECT_EQ(AsText(fields.Next()->value), bytes);
  EXPECT_EQ(fields.Next()->type, 40);
  EXPECT_FALSE(fields.Next());
  Keyed keyed;
  ASSERT_TRUE(Decode(records.Next()->value, &keyed));
  EXPECT_EQ(keyed.key, 2u);
  EXPECT_FALSE(records.Next());
  EXPECT_FALSE(records.truncated());
}

TEST(Tlv, StopsAtACutOffRecordWhereverTheCutIs) {
  std::vector<uint8_t> out;
  AppendRecord(out, kOpMarkRecord, OpMark()).Field(kOpMarkName, "first");
  const size_t border = out.size();
  AppendRecord(out, kOpMarkRecord, OpMark()).Field(kOpMarkName, "second");
  for (size_t size = 0; size <= out.size(); ++size) {
    TlvReader reader(Bytes(out).first(size));
    size_t count = 0;
    while (reader.Next()) ++count;
    const size_t whole = size < border ? 0u : size < out.size() ? 1u : 2u;
    EXPECT_EQ(count, whole) << size;
    EXPECT_EQ(reader.truncated(), size != 0 && size != border && size != out.size()) << size;
    EXPECT_EQ(reader.offset(), whole == 0 ? 0 : whole == 1 ? border : out.size());
  }
}

TEST(Tlv, ALengthBeyondTheInputIsATruncation) {
  const std::vector<uint8_t> bytes = {1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3};
  TlvReader reader(bytes);
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.truncated());
}

}  // namespace
}  // namespace steplens::format
