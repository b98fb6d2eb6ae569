#include <cstdlib>

#include "analysis/testing/store_builder.h"
#include "base/number.h"
#include "server/api/test_api.h"
#include "server/api/test_requests.h"

namespace steplens::server {
namespace {

// Two ranks with every kind of lane.
store::Job TwoRanks() {
  store::Job job;
  for (int64_t rank = 0; rank < 2; ++rank) {
    analysis::StoreBuilder builder;
    const auto host = builder.ThreadOf("Python", "Thread 1");
    const auto stream = builder.ThreadOf("Ascend Hardware", "Stream 2");
    const auto group = builder.ThreadOf("HCCL", "Group 0 Communication");
    for (int64_t i = 0; i < 20; ++i) {
      const int64_t t = 1000 + i * 100 + rank;
      builder.Slice(host, t, t + 90, "aten::op", "cpu_op");
      builder.Slice(host, t + 10, t + 20, "f", "python_function");
      builder.Slice(stream, t + 30, t + 80, "kernel", "AI_CORE");
      builder.Flow("async_npu", host, t, stream, t + 30);
      builder.Kernel("kernel", "MatMul", "AI_CORE", t + 30, t + 80);
    }
    builder.Slice(group, 1500, 1800, "hcom_allReduce__1");
    builder.CommOp("hcom_allReduce__1", 1500, 1800, group);
    builder.Step(1, 1000, 3000);
    builder.store.info.rank = rank;
    job.ranks.push_back(std::move(builder.store));
  }
  return job;
}

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : ParseInt64(text).value_or(otherwise);
}

// The sanitizer builds run this as well: there a read beside a table ends it.
TEST(GeneratedRequests, AreAllAnswered) {
  const int64_t seed = FromEnvironment("STEPLENS_SEED", 1);
  const int64_t count = FromEnvironment("STEPLENS_REQUESTS", 10'000);
  TestApi api(TwoRanks());
  RequestMaker maker(static_cast<uint32_t>(seed));
  std::map<int, int64_t> by_status;
  for (int64_t i = 0; i < count; ++i) {
    const Request request = maker.Make();
    SCOPED_TRACE(request.method + ' ' + request.path + ' ' + request.body);
    const Response response = api.Send(request);
    ++by_status[response.status];
    ASSERT_GE(response.status, 200);
    ASSERT_TRUE(response.status < 500 || response.status == 503) << response.body;
    std::string piece;
    while (response.stream && response.stream(piece)) piece.clear();
  }
  // Most must get past the checks of their parameters, else nothing is tested.
  EXPECT_GT(by_status[200], count / 4);
}

}  // namespace
}  // namespace steplens::server
