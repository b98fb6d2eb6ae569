#include <gtest/gtest.h>

#include "analysis/cluster/recipes/recipes.h"
#include "analysis/testing/store_builder.h"

// cluster_communication.json and cluster_communication_matrix.json are the same whether their texts
// were rendered beside the ranks' parts or when all ranks were there.

namespace steplens::analysis::cluster {
namespace {

// A rank of two that calls an operation in group "7" and, as the others want it, sends or receives.
struct CommRank : StoreBuilder {
  explicit CommRank(int64_t rank, bool with_metadata = true) {
    store.info.rank = rank;
    store.info.format = store::Format::kText;
    if (with_metadata) {
      store.meta.Append({Text("parallel_group_info"),
                         Text(R"x({"7": {"group_name": "dp", "global_ranks": [0, 1]}})x")});
    }
  }
  void Operation(std::string_view name, std::string_view kind, double ms) {
    store.comm_times.Append({.step = Text("step5"),
                             .kind = Text(kind),
                             .op_name = Text(name),
                             .group_name = Text("7"),
                             .start_us = 100000,
                             .elapse_ms = ms,
                             .transit_ms = ms / 2,
                             .wait_ms = 0.00002,
                             .synchronization_ms = 0,
                             .idle_ms = 0,
                             .wait_ratio = 0,
                             .synchronization_ratio = 0});
    store.comm_bandwidths.Append({.step = Text("step5"),
                                  .kind = Text(kind),
                                  .op_name = Text(name),
                                  .group_name = Text("7"),
                                  .transport = Text("HCCS"),
                                  .transit_size_mb = 4,
                                  .transit_ms = ms / 2,
                                  .bandwidth_gbps = 8 / ms,
                                  .large_packet_ratio = 0});
    store.comm_packets.Append(
        {.bandwidth_row = static_cast<uint32_t>(store.comm_bandwidths.size() - 1),
         .package_size_mb = 2,
         .count = 2,
         .total_ms = ms / 2});
  }
  void Link(std::string_view op, std::string_view kind, int64_t src, int64_t dst, double ms) {
    store.comm_links.Append({.step = Text("step5"),
                             .kind = Text(kind),
                             .op_name = Text(op),
                             .group_name = Text("7"),
                             .src_rank = src,
                             .dst_rank = dst,
                             .transport = Text("HCCS"),
                             .transit_size_mb = 8,
                             .transit_ms = ms,
                             .picked_op = Text("hcom_x__7_0_1")});
  }
};

// What the recipe writes about the ranks, with texts rendered where they are mapped or without.
std::string FileOf(const RecipeSpec& spec, const std::vector<const CommRank*>& ranks,
                   bool is_rendered, size_t* rendered_bytes = nullptr,
                   size_t* used_bytes = nullptr) {
  Result<std::unique_ptr<Recipe>> recipe = spec.make({});
  EXPECT_TRUE(recipe.ok());
  std::vector<std::string> texts;
  for (const CommRank* rank : ranks) {
    const RankFacts facts = DescribeRank(rank->store);
    const std::string part = (*recipe)->Map(rank->store, facts);
    const std::optional<Rendered> rendered = (*recipe)->Render(facts, part);
    if (rendered && rendered_bytes != nullptr) *rendered_bytes += rendered->text.size();
    EXPECT_TRUE((*recipe)->Add(facts, part));
    if (!is_rendered || !rendered) continue;
    (*recipe)->AddRendered(rendered->index, texts.size(), rendered->text.size());
    texts.push_back(rendered->text);
  }
  const Result<Answer> answer = (*recipe)->Finish(Form::kFiles);
  EXPECT_TRUE(answer.ok());
  std::string out;
  if (answer->files.empty()) return out;
  const Status written = answer->files[0].write([&](const FilePiece& piece) -> Status {
    out += piece.is_here() ? piece.bytes()
                           : std::string_view(texts[piece.text]).substr(piece.offset, piece.size);
    if (!piece.is_here() && used_bytes != nullptr) *used_bytes += piece.size;
    return {};
  });
  EXPECT_TRUE(written.ok());
  return out;
}

bool Has(const std::string& file, std::string_view text) {
  return file.find(text) != std::string::npos;
}

TEST(CommunicationFiles, TimesAreThoseOfTheRanks) {
  CommRank one(0);
  CommRank two(1);
  for (CommRank* rank : {&one, &two}) rank->Operation("hcom_allReduce__7_0_1", "collective", 2);
  const std::string file = FileOf(CommunicationTimeSumRecipe(), {&one, &two}, true);
  EXPECT_EQ(file, FileOf(CommunicationTimeSumRecipe(), {&one, &two}, false));
  EXPECT_TRUE(Has(file, R"x({"(0, 1)": {"step5": {"hcom_allReduce__7_0_1@7": {"0": {)x")) << file;
  EXPECT_TRUE(Has(file, R"x("Start Timestamp(us)": 100000.0, "Elapse Time(ms)": 2.0, )x")) << file;
  EXPECT_TRUE(Has(file, R"x("Wait Time(ms)": 2e-05, )x")) << file;
  EXPECT_TRUE(Has(file, R"x("Size Distribution": {"2.0": [2, 1.0]})x")) << file;
  EXPECT_TRUE(Has(file, R"x("Total Op Info@7": {"0": {"Communication Time Info": {"Elapse)x"));
}

TEST(CommunicationFiles, AGroupUsedBothWaysHasOneTotal) {
  CommRank one(0);
  CommRank two(1);
  for (CommRank* rank : {&one, &two}) {
    rank->Operation("hcom_send__7_0_1", "p2p", 1);
    rank->Operation("hcom_allReduce__7_0_1", "collective", 2);
  }
  const std::string file = FileOf(CommunicationTimeSumRecipe(), {&one, &two}, true);
  const size_t total = file.find("Total Op Info");
  ASSERT_NE(total, std::string::npos);
  EXPECT_TRUE(Has(file.substr(total), R"x("Elapse Time(ms)": 3.0)x")) << file;
  EXPECT_EQ(total, file.rfind("Total Op Info"));
}

TEST(CommunicationFiles, LinksAreTheSameRenderedEarlyOrLate) {
  CommRank one(0);
  CommRank two(1);
  for (CommRank* rank : {&one, &two}) {
    const int64_t own = rank->store.info.rank;
    rank->Operation("hcom_allReduce__7_0_1", "collective", 2);
    for (const char* op : {"allreduce-top1", "allreduce-total", "allgather-total"}) {
      rank->Link(op, "collective", own, 1 - own, 2);
      rank->Link(op, "collective", own, own, 1);
    }
  }
  size_t rendered = 0;
  const std::string file = FileOf(CommunicationMatrixSumRecipe(), {&one, &two}, true, &rendered);
  EXPECT_GT(rendered, 0u);
  EXPECT_EQ(file, FileOf(CommunicationMatrixSumRecipe(), {&one, &two}, false));
  const size_t total = file.find(R"x("Total Op Info@7": {"0-0": {"Transport Type": "HCCS", )x");
  ASSERT_NE(total, std::string::npos) << file;
  EXPECT_TRUE(Has(file.substr(total),
                  R"x("Transit Time(ms)": 2.0, "Transit Size(MB)": 16.0, "Op Name": )x"));
}

TEST(CommunicationFiles, LinksThatBothEndsReportAreAddedUp) {
  CommRank one(0);
  CommRank two(1);
  for (CommRank* rank : {&one, &two}) {
    rank->Operation("hcom_batchSendRecv__7_0_1", "p2p", 2);
    rank->Link("batchsendrecv-total", "p2p", 0, 1, 3);
  }
  const std::string file = FileOf(CommunicationMatrixSumRecipe(), {&one, &two}, true);
  EXPECT_EQ(file, FileOf(CommunicationMatrixSumRecipe(), {&one, &two}, false));
  EXPECT_TRUE(Has(file, R"x("batchsendrecv-total@7": {"0-1": {"Transport Type": "HCCS", )x"));
  EXPECT_TRUE(Has(file, R"x("Transit Time(ms)": 6.0)x")) << file;
  EXPECT_FALSE(Has(file, R"x("Transit Time(ms)": 3.0)x")) << file;
}

// A rank of a group whose members nobody lists, with links from its place in it to all places.
CommRank Unlisted(int64_t rank, int64_t place, int64_t places) {
  CommRank one(rank, /*with_metadata=*/false);
  one.Operation("hcom_allReduce__7_0_1", "collective", 2);
  for (int64_t other = 0; other < places; ++other)
    one.Link("allreduce-total", "collective", place, other, 1 + static_cast<double>(other));
  return one;
}

TEST(CommunicationFiles, RanksOfTheGroupOfAllAreGuessed) {
  const CommRank ranks[] = {Unlisted(0, 0, 3), Unlisted(1, 1, 3), Unlisted(2, 2, 3)};
  size_t used = 0;
  const std::string file = FileOf(CommunicationMatrixSumRecipe(), {&ranks[0], &ranks[1], &ranks[2]},
                                  true, nullptr, &used);
  EXPECT_EQ(file, FileOf(CommunicationMatrixSumRecipe(), {&ranks[0], &ranks[1], &ranks[2]}, false));
  EXPECT_TRUE(Has(file, R"x("2-1": {)x")) << file;
  EXPECT_GT(used, file.size() / 2);
}

TEST(CommunicationFiles, AWrongGuessIsNoticed) {
  // 1 and 2 stand at their own numbers, 3 at 0.
  const CommRank ranks[] = {Unlisted(1, 1, 3), Unlisted(2, 2, 3), Unlisted(3, 0, 3)};
  const std::string file =
      FileOf(CommunicationMatrixSumRecipe(), {&ranks[0], &ranks[1], &ranks[2]}, true);
  EXPECT_EQ(file, FileOf(CommunicationMatrixSumRecipe(), {&ranks[0], &ranks[1], &ranks[2]}, false));
  EXPECT_TRUE(Has(file, R"x("1-3": {)x")) << file;
  // The metadata of one say what the others guess wrongly.
  CommRank teller(0);
  teller.Operation("hcom_allReduce__7_0_1", "collective", 2);
  const CommRank guesser = Unlisted(1, 1, 3);
  const std::string told = FileOf(CommunicationMatrixSumRecipe(), {&teller, &guesser}, true);
  EXPECT_EQ(told, FileOf(CommunicationMatrixSumRecipe(), {&teller, &guesser}, false));
  EXPECT_TRUE(Has(told, R"x("1-L2": {)x")) << told;
}

TEST(CommunicationFiles, EndsThatNobodyKnowsAreShownAsTheyAre) {
  CommRank one(0, /*with_metadata=*/false);
  one.Operation("hcom_allReduce__7_0_1", "collective", 2);
  one.Link("allreduce-total", "collective", 0, 0, 1);
  one.Link("allreduce-total", "collective", 0, 5, 1);
  const std::string file = FileOf(CommunicationMatrixSumRecipe(), {&one}, true);
  EXPECT_NE(file.find("\"0-0\""), std::string::npos) << file;
  EXPECT_NE(file.find("\"0-L5\""), std::string::npos) << file;
}

}  // namespace
}  // namespace steplens::analysis::cluster
