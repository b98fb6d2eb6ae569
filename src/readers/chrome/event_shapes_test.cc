#include "readers/chrome/event_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <utility>

#include "readers/chrome/event_parser.h"
#include "readers/testing/batch_text.h"
#include "readers/testing/read_text.h"

namespace steplens::readers {
namespace {

using testing_support::Describe;
using testing_support::DescribeParse;

// The event of `text` as it is known again after `example` was learned; nothing if it is not.
class KnownEvent {
 public:
  KnownEvent(const std::string& example, const std::string& text) : text_(text) {
    const std::string padded = example + std::string(kParserPadding, ' ');
    const std::string_view to_learn(padded.data(), example.size());
    StructuralIndex index;
    EXPECT_TRUE(index.Build(to_learn));
    shapes_.Learn(to_learn, index);
    text_.append(kParserPadding, ' ');
    const char* const end = text_.data() + text.size();
    is_known_ = shapes_.Take(text_.data(), end + 1, event_) == end;
  }
  bool is_known() const { return is_known_; }
  const Event* operator->() const { return &event_; }

 private:
  std::string text_;
  EventShapes shapes_;
  Event event_;
  bool is_known_ = false;
};

const std::string kExample =
    R"({"ph": "X", "name": "a", "pid": 1, "tid": "2", "ts": "3.5", "dur": 4, "cat": "op", "args": {"Task Type": "x", "count": 1, "l": [1], "b": true}})";

TEST(EventShapes, AnEventOfTheSameShapeGivesItsValues) {
  const KnownEvent event(
      kExample,
      R"({"ph": "X", "name": "b\"c", "pid": -17, "tid": "", "ts": "", "dur": 0.25, "cat": "op", "args": {"Task Type": "y, z", "count": 99, "l": [[], "]"], "b": null}})");
  ASSERT_TRUE(event.is_known());
  EXPECT_EQ(event->ph, "X");
  EXPECT_EQ(event->name, R"(b\"c)");
  EXPECT_EQ(event->pid, "-17");
  EXPECT_EQ(event->tid, "");
  EXPECT_EQ(event->ts, "");
  EXPECT_EQ(event->dur, "0.25");
  EXPECT_EQ(event->category, "op");
  EXPECT_EQ(event->args_text, R"({"Task Type": "y, z", "count": 99, "l": [[], "]"], "b": null})");
  ASSERT_EQ(event->args.count, 2u);  // nobody asks for the others
  EXPECT_EQ(event->args.Find(KnownArg::kTaskType), "y, z");
  EXPECT_EQ(event->args.Int(KnownArg::kCount), 99);
}

TEST(EventShapes, AllArgsOfACounterAreGiven) {
  const KnownEvent event(
      R"({"name": "a", "pid": 1, "ts": 1, "args": {"KB": 1, "acc_id": 7, "l": [1]}, "ph": "C"})",
      R"({"name": "a", "pid": 1, "ts": 2, "args": {"KB": 2, "acc_id": 8, "l": [[]]}, "ph": "C"})");
  ASSERT_TRUE(event.is_known());
  ASSERT_EQ(event->args.count, 3u);
  EXPECT_TRUE(KeyIs(event->args.items[0].key, "KB"));
  EXPECT_EQ(event->args.items[0].raw, "2");
  EXPECT_EQ(event->args.Int(KnownArg::kAccId), 8);
  EXPECT_TRUE(KeyIs(event->args.items[2].key, "l"));
  EXPECT_EQ(event->args.items[2].raw, "[[]]");
}

TEST(EventShapes, AnyDifferenceBetweenValuesMakesAnEventUnknown) {
  EXPECT_TRUE(KnownEvent(kExample, kExample).is_known());
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"X\"", "\"B\""},
                                                        {"\"op\"", "\"oq\""},
                                                        {"\"pid\": 1", "\"pid\": \"1\""},
                                                        {"\"pid\": 1", "\"pid\":  1"},
                                                        {"\"dur\": 4", "\"dur\": 4e1"},
                                                        {"\"dur\": 4", "\"dur\": 4 "},
                                                        {"\"dur\"", "\"durs\""},
                                                        {"[1]", "{\"a\": 1"},
                                                        {"}}", ", \"more\": 1}}"},
                                                        {"}}", "}, \"more\": 1}"},
                                                        {"\"a\"", "\"a\tb\""}}) {
    std::string text = kExample;
    text.replace(text.find(from), from.size(), to);
    EXPECT_FALSE(KnownEvent(kExample, text).is_known()) << text;
  }
}

TEST(EventShapes, LongTextBetweenValuesIsCompared) {
  const std::string blanks(200, ' ');
  const std::string example = R"({"ph": "X",)" + blanks + R"("name": "a"})";
  EXPECT_TRUE(KnownEvent(example, example).is_known());
  std::string other = example;
  other[150] = '\n';
  EXPECT_FALSE(KnownEvent(example, other).is_known());
  const std::string much = R"({"ph": "X",)" + std::string(100000, ' ') + R"("name": "a"})";
  EXPECT_FALSE(KnownEvent(much, much).is_known()) << "not worth remembering";
}

TEST(EventShapes, EveryByteBetweenValuesCounts) {
  for (size_t blanks = 0; blanks < 70; ++blanks) {
    const std::string example = R"({"ph": "X",)" + std::string(blanks, ' ') + R"("name": 1})";
    ASSERT_TRUE(KnownEvent(example, example).is_known()) << blanks;
    for (size_t i = 11; i < 11 + blanks; ++i) {
      std::string other = example;
      other[i] = '\n';
      ASSERT_FALSE(KnownEvent(example, other).is_known()) << blanks << " " << i;
    }
  }
}

TEST(EventShapes, KeysThatAreValuesDoNotFillTheMemory) {
  EventParser parser;
  EventBatch batch;
  std::string text = "[";
  for (int i = 0; i < 20000; ++i) {
    if (i > 0) text += ',';
    text += R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,"args":{"k)" +
            std::to_string(i) + R"(":1}})";
  }
  text += "]";
  const size_t size = text.size();
  text.append(kParserPadding, '\0');
  ASSERT_TRUE(parser.Parse({text.data(), size}, 0, batch));
  EXPECT_EQ(batch.slices.size(), 20000u);
}

// Events as writers write them, of each kind the reader takes apart.
const char* const kEvents[] = {
    R"({"ph": "X", "name": "aten::add", "pid": 7, "tid": 8, "ts": "1736408883688177.930", "dur": 145.57, "cat": "cpu_op", "args": {"Sequence number": -1, "Fwd thread id": 0, "Input Dims": ";\r\n3", "Call stack": "a.py(1): f;\r\nb.py(2): g"}})",
    R"j({"name": "Memcpy", "pid": 3, "tid": 1, "ts": "1736408883732241.564", "dur": 0.60003125, "args": {"notify_id": "0", "stream id": 4, "src rank": 0, "transport type": "SDMA", "size(Byte)" :
      64,
  "link type" : "HCCS"
},
                  "ph" : "X"
})",
    R"({"name": "MatMul", "pid": 4, "tid": 2, "ts": "1736408883732241.564", "dur": 6, "args": {"Model Id": 4294967295, "Task Type": "AI_CORE", "connection_id": 1644}, "ph": "X"})j",
    R"({"name": "read_bandwidth", "ts": "1736408883646349.928", "pid": 9, "tid": 0, "args": {"value": 0.5, "acc_id": 0}, "ph": "C"})",
    R"({"ph": "s", "bp": "e", "name": "enqueue", "id": 8226, "pid": 7, "tid": 8, "ts": "1736408883694756.090", "cat": "async_task_queue"})",
    R"({"ph": "f", "bp": "e", "name": "enqueue", "id": 8226, "pid": 7, "tid": 9, "ts": "1736408883694779.330", "cat": "async_task_queue"})",
    R"({"ph": "X", "cat": "Kernel", "name": "ncclKernel", "pid": 0, "tid": "stream 7", "ts": 1623142623531625, "dur": 2, "args": {"device": 0, "stream": 7, "correlation": 34441, "grid": [1, 2, 3], "warps": 0.25, "ok": true}})",
    R"({"ph": "i", "s": "t", "name": "[memory]", "pid": 7, "tid": 8, "ts": 1623142623460121, "args": {"Device Type": 0, "Device Id": -1, "Bytes": 4}})",
    R"({"name": "process_name", "ph": "M", "pid": 7, "tid": 0, "args": {"name": "python"}})",
    R"({"ph": "B", "name": "b", "pid": 7, "tid": 8, "ts": 10})",
    R"({"ph": "E", "pid": 7, "tid": 8, "ts": 12})",
    R"({"ph": "X", "name": "", "pid": 7, "tid": 8, "ts": 12, "dur": -1, "args": {}})",
};

void Mutate(std::string& event, std::mt19937& random) {
  static const char* const kPieces[] = {"\\",
                                        "\"",
                                        "\\\"",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        " ",
                                        "\n",
                                        "\t",
                                        "\x01",
                                        "1e5",
                                        "NaN",
                                        "null",
                                        "-",
                                        "/",
                                        "9",
                                        "\xE4\xB8\xAD",
                                        "\xFF",
                                        "\\u4e2d",
                                        "\"name\": \"twice\", ",
                                        "\"ts\": 5, ",
                                        "\"args\": {\"count\": 2}, ",
                                        ""};
  const size_t at = random() % event.size();
  const size_t length = random() % 3 == 0 ? random() % 4 : 0;
  event.replace(at, length, kPieces[random() % std::size(kPieces)]);
}

std::string RandomEvents(std::mt19937& random, size_t mutation_chance) {
  std::string text = "[";
  const size_t count = 1 + random() % 80;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text += random() % 4 == 0 ? ",\n " : ", ";
    std::string event = kEvents[random() % std::size(kEvents)];
    if (random() % mutation_chance == 0) Mutate(event, random);
    text += event;
  }
  return text + "]";
}

TEST(EventShapes, KnownEventsGiveWhatTheirTokensGive) {
  std::mt19937 random(3);
  EventParser by_tokens(false);
  EventParser by_shapes(true);  // learns all the time
  for (int round = 0; round < 4000; ++round) {
    const std::string text = RandomEvents(random, round % 2 == 0 ? 1000 : 20);
    ASSERT_EQ(DescribeParse(by_shapes, text), DescribeParse(by_tokens, text)) << text;
  }
}

std::string OpsWithStacks(std::initializer_list<std::string> stacks) {
  std::string text;
  for (const std::string& stack : stacks) {
    text += text.empty() ? "[" : ", ";
    text += R"({"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 3, "dur": 4, "cat": "cpu_op", )"
            R"("args": {"Call stack": ")" +
            stack + R"("}})";
  }
  return text + "]";
}

TEST(EventShapes, LongStringsThatBeginAlikeAreKeptApart) {
  const std::string stack(300, 's');
  const std::string text = OpsWithStacks(
      {stack, stack, stack + "t", stack, stack, stack.substr(1), stack + R"(\")", stack});
  EventParser by_shapes(true);
  EventParser by_tokens(false);
  EXPECT_EQ(DescribeParse(by_shapes, text), DescribeParse(by_tokens, text));
}

// Where a long string stood, two operators stand in the next text, and end where it ended.
TEST(EventShapes, ALongStringOfTheTextBeforeIsForgotten) {
  const size_t between = OpsWithStacks({"", ""}).size() - OpsWithStacks({""}).size();
  const std::string one = OpsWithStacks({std::string(300, 's')});
  const std::string two = OpsWithStacks({std::string(100, 'v'), std::string(200 - between, 'v')});
  ASSERT_EQ(one.size(), two.size());
  std::string buffer = one + std::string(kParserPadding, ' ');
  EventParser parser(true);
  EventBatch batch;
  for (const auto& [text, ops] : {std::pair(one, 1u), std::pair(one, 1u), std::pair(two, 2u)}) {
    std::copy(text.begin(), text.end(), buffer.begin());
    ASSERT_TRUE(parser.Parse({buffer.data(), text.size()}, 0, batch));
    EXPECT_EQ(batch.host_ops.size(), ops);
  }
}

TEST(EventShapes, AnyChunkSizeAndThreadCountGivesTheStoreOfTheTokens) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    std::string text = RandomEvents(random, round % 2 == 0 ? 1000 : 30);
    if (round % 5 == 4) text.resize(text.size() - text.size() / 4);  // cut off
    const auto read = [&](size_t chunk_bytes, size_t threads, bool use_shapes) {
      ThreadPool pool(threads);
      ReadOptions options;
      options.pool = &pool;
      options.chunk_bytes = chunk_bytes;
      options.use_event_shapes = use_shapes;
      store::TraceStore store;
      const Status status = ReadChromeText(text, "test.json", options, store);
      return status.ok() ? Describe(store) : status.error().message;
    };
    for (const size_t chunk : {200u, 1000u, 4096u, 1u << 20}) {
      const std::string expected = read(chunk, 1, false);
      for (const size_t threads : {1u, 2u, 7u}) {
        ASSERT_EQ(read(chunk, threads, true), expected) << chunk << " " << threads << "\n" << text;
      }
    }
  }
}

}  // namespace
}  // namespace steplens::readers
