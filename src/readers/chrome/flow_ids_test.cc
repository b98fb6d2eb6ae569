#include "readers/chrome/flow_ids.h"

#include <gtest/gtest.h>

#include <string>

#include "readers/testing/read_text.h"

namespace steplens::readers {
namespace {

using store::IssueKind;
using testing_support::ReadJson;

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// A forward operator with an operator inside it that starts with it, an item of the queue with its
// launch, and the backward operator.
constexpr std::string_view kTrace = R"([
{"ph":"X","name":"aten::linear","pid":1,"tid":1,"ts":"1.000","dur":9,"cat":"cpu_op","args":{"Sequence number":-1}},
{"ph":"X","name":"aten::addmm","pid":1,"tid":1,"ts":"1.000","dur":8,"cat":"cpu_op","args":{"Sequence number":41}},
{"ph":"X","name":"AddmmBackward","pid":1,"tid":2,"ts":"30.000","dur":8,"cat":"cpu_op","args":{"Sequence number":41}},
{"ph":"X","name":"Enqueue","pid":1,"tid":1,"ts":"2.000","dur":1,"cat":"enqueue","args":{"correlation_id":7}},
{"ph":"s","bp":"e","name":"enqueue_to_dequeue","id":7,"pid":1,"tid":1,"ts":"2.000","cat":"async_task_queue"},
{"ph":"X","name":"Dequeue@x","pid":1,"tid":3,"ts":"4.000","dur":1,"cat":"dequeue","args":{"correlation_id":7}},
{"ph":"f","bp":"e","name":"enqueue_to_dequeue","id":7,"pid":1,"tid":3,"ts":"4.000","cat":"async_task_queue"},
{"ph":"s","bp":"e","name":"fwdbwd","id":41,"pid":1,"tid":1,"ts":"1.000","cat":"fwdbwd"},
{"ph":"f","bp":"e","name":"fwdbwd","id":41,"pid":1,"tid":2,"ts":"30.000","cat":"fwdbwd"}
])";

const store::IssueLog::Entry& OddIds(const store::TraceStore& store) {
  return store.issues.entry(IssueKind::kFlowIdInvalid);
}

TEST(FindOddFlowIds, ThoseOfTorchNpuAreTheNumbersOfWhatTheyConnect) {
  EXPECT_EQ(OddIds(ReadJson(std::string(kTrace))).count, 0u);
}

TEST(FindOddFlowIds, AnIdChangedAtBothEndsIsFound) {
  const auto queue = ReadJson(Replaced(std::string(kTrace), R"("id":7)", R"("id":8)"));
  EXPECT_EQ(queue.flows.size(), 2u);
  EXPECT_EQ(OddIds(queue).count, 2u);
  EXPECT_EQ(OddIds(queue).example, "test.json: flow 'async_task_queue' at 2000 ns has the id 8");
  const auto gradient = ReadJson(Replaced(std::string(kTrace), R"("id":41)", R"("id":40)"));
  EXPECT_EQ(gradient.flows.size(), 2u);
  EXPECT_EQ(OddIds(gradient).count, 2u);
  EXPECT_EQ(OddIds(gradient).example, "test.json: flow 'fwdbwd' at 1000 ns has the id 40");
}

TEST(FindOddFlowIds, KinetosFwdbwdIdsAreItsOwn) {
  const auto store = ReadJson(
      Replaced(Replaced(std::string(kTrace), R"("id":41)", R"("id":1)"), "async_task_queue", "x"));
  EXPECT_EQ(OddIds(store).count, 0u);
}

}  // namespace
}  // namespace steplens::readers
