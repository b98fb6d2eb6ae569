#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "readers/testing/read_text.h"

namespace steplens::readers {
namespace {

using store::TraceStore;
using testing_support::ReadJson;

TEST(KinetoTrace, KernelsOfEveryBackEndAreKernels) {
  for (const char* category : {"kernel", "Kernel", "concurrent_kernel", "mtia_ccp_events"}) {
    const TraceStore store = ReadJson(fmt::format(
        R"([{{"ph":"X","cat":"{}","name":"mm","pid":3,"tid":7,"ts":1,"dur":2,"args":{{"device":3,"stream":7}}}},
            {{"ph":"X","cat":"{}","name":"no args","pid":3,"tid":7,"ts":4,"dur":2}}])",
        category, category));
    ASSERT_EQ(store.kernels.size(), 2u) << category;
    EXPECT_EQ(store.kernels.device[0], 3);
    EXPECT_EQ(store.kernels.stream[0], 7);
    EXPECT_EQ(store.Text(store.kernels.core[0]), category);
  }
}

TEST(KinetoTrace, TracksKnowTheDeviceThatTheirEventsName) {
  const TraceStore store = ReadJson(
      R"([{"ph":"X","cat":"mystery","name":"a","pid":1,"tid":2,"ts":1,"dur":2,"args":{"device":5}},
          {"ph":"X","cat":"mystery","name":"b","pid":1,"tid":2,"ts":4,"dur":2,"args":{"device":6}},
          {"ph":"X","cat":"cpu_op","name":"c","pid":9,"tid":9,"ts":4,"dur":2}])");
  ASSERT_EQ(store.tracks.size(), 4u);  // each thread behind its process
  EXPECT_EQ(store.tracks.device[0], store::kNone);
  EXPECT_EQ(store.tracks.device[1], 5);
  EXPECT_EQ(store.tracks.device[3], store::kNone);
}

TEST(KinetoTrace, StepsOnTheDeviceAreNoStepsOfTheHost) {
  const TraceStore store = ReadJson(
      R"([{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":2,"ts":1,"dur":2},
          {"ph":"X","cat":"npu_user_annotation","name":"ProfilerStep#1","pid":0,"tid":7,"ts":9,"dur":2}])");
  ASSERT_EQ(store.steps.size(), 1u);
  EXPECT_EQ(store.steps.begin_ns[0], 1000);
}

TEST(KinetoTrace, CollectivesOfEveryLibraryAreCommunication) {
  const TraceStore store = ReadJson(
      R"([{"ph":"X","cat":"kernel","name":"hcom_allReduce__586_0_1","pid":0,"tid":7,"ts":1,"dur":1,"args":{"stream":7}},
          {"ph":"X","cat":"kernel","name":"MatMul","pid":0,"tid":7,"ts":2,"dur":1,"args":{"stream":7}}])");
  ASSERT_EQ(store.comm_ops.size(), 1u);
  EXPECT_EQ(store.Text(store.comm_ops.name[0]), "hcom_allReduce__586_0_1");
}

TEST(KinetoTrace, CopiesHaveTheirSizes) {
  const TraceStore store = ReadJson(
      R"j([{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":1,"dur":1,"args":{"bytes":4096,"memory bandwidth (GB/s)":4.096}},)j"
      R"j({"ph":"X","cat":"gpu_memset","name":"Memset","pid":0,"tid":7,"ts":2,"dur":1,"args":{"stream":7}}])j");
  ASSERT_EQ(store.copies.size(), 2u);
  EXPECT_EQ(store.copies.slice[0], store::SliceId{0});
  EXPECT_EQ(store.copies.size_bytes[0], 4096);
  EXPECT_EQ(store.copies.bandwidth_gbps[0], 4.096);
  EXPECT_EQ(store.copies.size_bytes[1], store::kNone);
  EXPECT_TRUE(std::isnan(store.copies.bandwidth_gbps[1]));
}

TEST(KinetoTrace, OperatorsHaveStridesAndConcreteInputs) {
  const TraceStore store = ReadJson(
      R"([{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":1,"dur":1,"args":{
          "Input Dims":[[2,3],[3,4],[]],"Input Strides":[[3,1],[1,3],[]],"Concrete Inputs":["","","2"]}}])");
  ASSERT_EQ(store.host_ops.size(), 1u);
  EXPECT_EQ(store.Text(store.host_ops.input_strides[0]), "[[3,1],[1,3],[]]");
  EXPECT_EQ(store.Text(store.host_ops.concrete_inputs[0]), R"(["","","2"])");
}

}  // namespace
}  // namespace steplens::readers
