#include "readers/ascend_text/communication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace steplens::readers {
namespace {

using store::IssueKind;
using store::TraceStore;
using testing::ElementsAre;

std::vector<std::string_view> Texts(const TraceStore& store,
                                    const store::Column<StringId>& column) {
  std::vector<std::string_view> out;
  for (const StringId id : column) out.push_back(store.Text(id));
  return out;
}

TraceStore ReadTimes(std::string_view text) {
  TraceStore store;
  const Status status = ReadCommunication({"communication.json", text}, store);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return store;
}

TraceStore ReadMatrix(std::string_view text) {
  TraceStore store;
  const Status status = ReadCommunicationMatrix({"communication_matrix.json", text}, store);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return store;
}

TEST(ReadCommunication, ReadsTimesBandwidthsAndPackets) {
  const TraceStore store = ReadTimes(R"json({"step50": {"p2p": {}, "collective": {
    "hcom_allReduce__586_0_1@175": {
      "Communication Time Info": {"Start Timestamp(us)": 1736408883732241.5, "Elapse Time(ms)": 79.5},
      "Communication Bandwidth Info": {
        "RDMA": {"Transit Size(MB)": 0, "Transit Time(ms)": 0, "Size Distribution": {}},
        "HCCS": {"Transit Size(MB)": 28.5, "Transit Time(ms)": 1.8, "Bandwidth(GB/s)": 15.77,
                 "Large Packet Ratio": 0.25, "Size Distribution": {"2.064384": [12, 1.5], "1": [2, 0.3]}}}},
    "Total Op Info": {"Communication Time Info": {"Elapse Time(ms)": 79.5}}}}})json");
  EXPECT_TRUE(store.issues.empty());
  const auto& times = store.comm_times;
  EXPECT_THAT(Texts(store, times.step), ElementsAre("step50", "step50"));
  EXPECT_THAT(Texts(store, times.kind), ElementsAre("collective", "collective"));
  EXPECT_THAT(Texts(store, times.op_name), ElementsAre("hcom_allReduce__586_0_1", "Total Op Info"));
  EXPECT_THAT(Texts(store, times.group_name), ElementsAre("175", ""));
  EXPECT_EQ(times.start_us[0], 1736408883732241.5);
  EXPECT_TRUE(std::isnan(times.start_us[1]));
  EXPECT_THAT(times.elapse_ms.span(), ElementsAre(79.5, 79.5));
  EXPECT_THAT(Texts(store, store.comm_bandwidths.transport), ElementsAre("RDMA", "HCCS"));
  EXPECT_EQ(store.comm_bandwidths.bandwidth_gbps[1], 15.77);
  EXPECT_TRUE(std::isnan(store.comm_bandwidths.bandwidth_gbps[0]));
  EXPECT_THAT(store.comm_packets.bandwidth_row.span(), ElementsAre(1, 1));
  EXPECT_THAT(store.comm_packets.package_size_mb.span(), ElementsAre(2.064384, 1));
  EXPECT_THAT(store.comm_packets.count.span(), ElementsAre(12, 2));
  EXPECT_THAT(store.comm_packets.total_ms.span(), ElementsAre(1.5, 0.3));
}

TEST(ReadCommunication, ReadsTheExportersFormWithoutSteps) {
  const TraceStore store = ReadTimes(
      R"json({"hcom_send__1_0_1@9": {"Communication Time Info": {"Wait Time(ms)": 2}}})json");
  EXPECT_THAT(Texts(store, store.comm_times.step), ElementsAre(""));
  EXPECT_THAT(Texts(store, store.comm_times.op_name), ElementsAre("hcom_send__1_0_1"));
  EXPECT_THAT(store.comm_times.wait_ms.span(), ElementsAre(2));
}

TEST(ReadCommunication, CountsFieldsOfTheWrongForm) {
  const TraceStore store = ReadTimes(R"json({"step1": {"collective": {
    "op@1": {"Communication Time Info": {"Elapse Time(ms)": "long"},
             "Communication Bandwidth Info": {"HCCS": 5, "SDMA": {"Size Distribution": {"x": [1, 2], "1": [1]}}}},
    "bad": []}, "p2p": 7}})json");
  EXPECT_EQ(store.issues.entry(IssueKind::kJsonFieldInvalid).count, 6);
  EXPECT_EQ(store.issues.entry(IssueKind::kJsonFieldInvalid).example,
            "communication.json: operation 'op@1', field 'Elapse Time(ms)': 'long'");
  EXPECT_EQ(store.comm_times.size(), 1);
  EXPECT_EQ(store.comm_bandwidths.size(), 1);
  EXPECT_EQ(store.comm_packets.size(), 0);
}

TEST(ReadCommunication, RefusesWhatIsNoObject) {
  TraceStore store;
  const Status list = ReadCommunication({"communication.json", "[]"}, store);
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().message,
            "communication.json: a JSON object with one member per step was expected");
  EXPECT_FALSE(ReadCommunication({"communication.json", R"json({"step)json"}, store).ok());
  EXPECT_FALSE(ReadCommunicationMatrix({"communication_matrix.json", "1"}, store).ok());
}

TEST(ReadCommunication, WhatIsEmptyWasLost) {
  TraceStore store;
  const Status times = ReadCommunication({"communication.json", "{}"}, store);
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.error().message,
            "communication.json: the file has neither steps nor operations; a file without them is "
            "never written, so they were lost");
  EXPECT_FALSE(ReadCommunicationMatrix({"communication_matrix.json", "{}"}, store).ok());
  // A step may well have no communication, but an operation has times.
  store = ReadTimes(R"json({"step1": {"p2p": {}, "collective": {}}})json");
  EXPECT_TRUE(store.issues.empty());
  store = ReadTimes(
      R"json({"step1": {"collective": {"a@1": {}, "b@1": {"Communication Time Info": {}}}}})json");
  EXPECT_EQ(store.issues.entry(IssueKind::kJsonFieldInvalid).count, 2);
  EXPECT_EQ(store.comm_times.size(), 0);
}

TEST(ReadCommunicationMatrix, ReadsLinks) {
  const TraceStore store =
      ReadMatrix(R"json({"step50": {"p2p": {}, "collective": {"allreduce-top1@175": {
    "0-7": {"Transport Type": "HCCS", "Transit Size(MB)": 37.5, "Transit Time(ms)": 2.5, "Bandwidth(GB/s)": 15,
            "Op Name": "hcom_allReduce__586_2_1"},
    "1-1": {"Transport Type": "LOCAL", "op_name": "x"}, "a-b": {}, "3": {}}}}})json");
  const auto& links = store.comm_links;
  EXPECT_THAT(links.src_rank.span(), ElementsAre(0, 1));
  EXPECT_THAT(links.dst_rank.span(), ElementsAre(7, 1));
  EXPECT_THAT(Texts(store, links.op_name), ElementsAre("allreduce-top1", "allreduce-top1"));
  EXPECT_THAT(Texts(store, links.group_name), ElementsAre("175", "175"));
  EXPECT_THAT(Texts(store, links.transport), ElementsAre("HCCS", "LOCAL"));
  EXPECT_THAT(Texts(store, links.picked_op), ElementsAre("hcom_allReduce__586_2_1", "x"));
  EXPECT_EQ(links.bandwidth_gbps[0], 15);
  EXPECT_EQ(store.issues.entry(IssueKind::kJsonFieldInvalid).count, 2);
}

}  // namespace
}  // namespace steplens::readers
