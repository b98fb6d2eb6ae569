// What shorter calls and other layouts leave in the files.
#include <gtest/gtest.h>

#include <ctime>
#include <thread>

#include "collect/test_capture.h"
#include "format/framework_mindspore.h"

namespace steplens::collect {
namespace {

class Records : public testing::Test {
 protected:
  ~Records() override { sl_discard(); }
  void Start() { Start(OptionsFor(capture_)); }
  void Start(const sl_options& options) { ASSERT_EQ(sl_start(&options), SL_OK) << sl_last_error(); }
  void Stop() { EXPECT_EQ(sl_stop(nullptr), SL_OK) << sl_last_error(); }

  ScratchFolder folder_;
  const std::string capture_ = folder_ / "capture";
};

TEST_F(Records, APlainOperatorIsAnOperatorOfItsThread) {
  Start();
  sl_plain_op op = {};
  op.name = Id("aten::mm");
  op.start = sl_now();
  op.sequence = 7;
  op.forward_thread = 3;
  op.scope = 1;
  op.call_stack = Id("a.py(1): f");
  op.modules = Id("Linear");
  op.input_words = 3;
  const uint64_t inputs[] = {SL_INPUT(Id("float"), 1, SL_INPUT_TENSOR, 4, 0, 0), 5,
                             SL_INPUT(Id("Scalar"), 0, SL_INPUT_INT, 0, 0, 0)};
  sl_record_plain_op(&op, inputs);
  sl_record_plain_op(&op, nullptr);  // words without a place: nothing
  op.input_words = 1 << 20;          // more than there can be: without them
  sl_record_plain_op(&op, inputs);
  Stop();
  const auto ops = ReadOps(capture_);
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].fixed.start, static_cast<int64_t>(op.start));
  EXPECT_GE(ops[0].fixed.end, ops[0].fixed.start);
  EXPECT_EQ(ops[0].fixed.sequence, 7);
  EXPECT_EQ(ops[0].fixed.forward_thread, 3u);
  EXPECT_EQ(ops[0].fixed.scope, 1);
  EXPECT_EQ(ops[0].fixed.start_thread, sl_thread());
  EXPECT_EQ(ops[0].fixed.end_thread, sl_thread());
  EXPECT_EQ(ops[0].fields.at(format::kOpName), "aten::mm");
  EXPECT_EQ(ops[0].fields.at(format::kOpDtypes), "float;Scalar");
  EXPECT_EQ(ops[0].fields.at(format::kOpShapes), "5;");
  EXPECT_EQ(ops[0].fields.at(format::kOpCallStack), "a.py(1): f");
  EXPECT_EQ(ops[0].fields.at(format::kOpModules), "Linear");
  EXPECT_FALSE(ops[1].fields.contains(format::kOpShapes));
}

TEST_F(Records, APlainOperatorEndsWhenItIsSaidTo) {
  Start();
  sl_plain_op op = {};
  op.name = Id("aten::mm");
  op.start = sl_now();
  op.end = 77;  // the caller's until it ends
  op.reserved[4] = 1;
  sl_record_plain_op_until(&op, op.start + 500, nullptr);
  sl_record_plain_op_until(nullptr, op.start, nullptr);
  op.input_words = 1;
  sl_record_plain_op_until(&op, op.start + 500, nullptr);  // words without a place: nothing
  Stop();
  const auto ops = ReadOps(capture_);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].fixed.start, static_cast<int64_t>(op.start));
  EXPECT_EQ(ops[0].fixed.end, static_cast<int64_t>(op.start + 500));
  EXPECT_EQ(op.end, 77u);
}

TEST_F(Records, TheCounterIsWhatNowReads) {
  Start();
  const sl_ticks before = sl_now();
  const sl_ticks counter = sl_read_counter();
  const sl_ticks after = sl_now();
  if (sl_now_is_counter() != 0) {
    EXPECT_LE(before, counter);
    EXPECT_LE(counter, after);
  }
  Stop();
}

TEST_F(Records, BlocksGetTheirSizesAndTotals) {
  Start();
  sl_record_block(0x1000, 64, 20, 2);
  std::thread([] { sl_record_block(0x1000, 0, 20, 2); }).join();
  sl_record_block(0x2000, 0, 20, 2);   // allocated before the capture
  sl_record_block(0x3000, -5, 20, 2);  // no size
  Stop();
  const auto events = ReadFramed<format::MemoryUsage>(capture_, format::kMemoryFile);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].fixed.size, 64);
  EXPECT_EQ(events[0].fixed.total_allocated, 64);
  EXPECT_EQ(events[0].fixed.device_type, 20);
  EXPECT_EQ(events[0].fixed.device_index, 2);
  EXPECT_EQ(events[1].fixed.size, -64);
  EXPECT_EQ(events[1].fixed.kind, SL_FREE);
  EXPECT_EQ(events[1].fixed.total_reserved, 0);
  EXPECT_NE(events[1].fixed.thread_id, events[0].fixed.thread_id);
}

TEST_F(Records, WritesMindSporesOwnFilesWhenAsked) {
  sl_options options = OptionsFor(capture_);
  options.mindspore = 1;
  Start(options);
  sl_step_begin(4);
  sl_op op = {};
  op.name = Id("aten::add");
  op.start = sl_now();
  op.end = sl_now();
  op.dtypes = Id("float;Scalar");
  const int64_t shapes[] = {2, 2, 3, -1};
  op.shapes = shapes;
  op.shape_words = 4;
  sl_record_op(&op);
  sl_step_end();
  const std::string name = "/lib/a.py(7): f";
  sl_python_name(11, name.data(), name.size());
  sl_record_python(op.start, 11, 0);
  sl_record_python(op.end, 1, 1);
  sl_memory memory = {};
  memory.address = 0x1000;
  memory.size = 64;
  memory.total_allocated = memory.total_reserved = memory.total_active = 64;
  sl_record_memory(&memory);
  memory.size = -64;
  memory.kind = SL_FREE;
  memory.total_allocated = memory.total_reserved = memory.total_active = 0;
  sl_record_memory(&memory);
  Stop();

  const auto ranges = ReadFramed<format::MindSporeOpRange>(capture_, "mindspore.op_range");
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].fields.at(format::kMindSporeFullName), "aten::add");
  EXPECT_EQ(ranges[0].fixed.start, op.start);
  EXPECT_EQ(ranges[0].fixed.event, format::kMsEventRunOp);
  EXPECT_EQ(ranges[0].fixed.thread_id, sl_thread());
  EXPECT_EQ(ranges[1].fields.at(format::kMindSporeFullName), "ProfilerStep#4");
  EXPECT_EQ(ranges[2].fields.at(format::kMindSporeName), "/lib/a.py(7):f");
  EXPECT_TRUE(ranges[2].fixed.is_stack);
  EXPECT_EQ(ranges[2].fixed.end, op.end);

  const auto inputs = ReadFramed<format::MindSporeShapes>(capture_, "mindspore.record_shapes");
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].type, format::kMindSporeShapesRecord);
  EXPECT_EQ(inputs[0].fields.at(format::kMindSporeInputShapes), "2,3;");
  EXPECT_EQ(inputs[0].fields.at(format::kMindSporeInputTypes), "float;Scalar");

  const auto events = ReadFramed<format::MindSporeMemory>(capture_, "mindspore.memory_usage");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].fixed.numbers[format::kMsSize], 64u);
  EXPECT_EQ(events[1].fixed.numbers[format::kMsSize], format::MindSporeMemory::kFreed);
  EXPECT_EQ(events[1].fixed.numbers[format::kMsUsed], 0u);
  EXPECT_EQ(events[1].fixed.numbers[format::kMsPeak], 64u);
  EXPECT_NEAR(static_cast<double>(events[0].fixed.numbers[format::kMsCreatedAtNs]),
              static_cast<double>(time(nullptr)) * 1e9, 5e9);
}

}  // namespace
}  // namespace steplens::collect
