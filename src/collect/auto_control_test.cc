#include "collect/auto_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "collect/json_text.h"
#include "collect/test_capture.h"

namespace steplens::collect {
namespace {

using testing::HasSubstr;

std::string WhyNot(std::string_view json) {
  std::string why;
  EXPECT_FALSE(ParseAutoCommand(json, &why)) << json;
  return why;
}

TEST(AutoCommand, IsReadWhole) {
  std::string why;
  const auto command = ParseAutoCommand(
      R"({"id":3,"action":"start","ranks":[0,2],"at_step":120,"steps":5,"more":{}})", &why);
  ASSERT_TRUE(command) << why;
  EXPECT_EQ(command->id, 3);
  EXPECT_FALSE(command->is_stop);
  EXPECT_TRUE(command->IsFor(2));
  EXPECT_FALSE(command->IsFor(1));
  EXPECT_EQ(command->at_step, 120);
  EXPECT_EQ(command->steps, 5);
}

TEST(AutoCommand, IsForAllAndNowIfNothingElseIsSaid) {
  std::string why;
  const auto command = ParseAutoCommand(R"({"id": 1, "action": "stop", "at_step": null})", &why);
  ASSERT_TRUE(command) << why;
  EXPECT_TRUE(command->is_stop);
  EXPECT_TRUE(command->IsFor(77));
  EXPECT_FALSE(command->at_step);
}

TEST(AutoCommand, SaysWhatIsWrong) {
  EXPECT_EQ(WhyNot("["), "it is not a JSON object");
  EXPECT_EQ(WhyNot(R"({"action": "start"})"), "it has no id");
  EXPECT_EQ(WhyNot(R"({"id": 1})"), "it has no action");
  EXPECT_EQ(WhyNot(R"({"id": "x", "action": "start"})"), "id is not a number");
  EXPECT_EQ(WhyNot(R"({"id": 1, "action": "go"})"), "action is neither start nor stop");
  EXPECT_THAT(WhyNot(R"({"id": 1, "action": "start", "ranks": "some"})"), HasSubstr("ranks"));
  EXPECT_THAT(WhyNot(R"({"id": 1, "action": "start", "at_step": 0})"), HasSubstr("at_step"));
  EXPECT_THAT(WhyNot(R"({"id": 1, "action": "start", "steps": 1.5})"), HasSubstr("steps"));
}

class ControlTest : public testing::Test {
 protected:
  void Write(const std::string& text) { std::ofstream(folder_ / "command.json") << text; }
  std::string Status() { return ReadWhole(folder_ / "rank_0.json"); }

  ScratchFolder folder_;
  AutoControl control_{folder_.path(), -1};
};

TEST_F(ControlTest, ACommandIsTakenOnceAndAnswered) {
  EXPECT_FALSE(control_.Poll());
  Write(R"({"id": 1, "action": "start"})");
  const auto command = control_.Poll();
  ASSERT_TRUE(command);
  EXPECT_FALSE(control_.Poll());
  control_.Answer(*command, "records from step 3 on");
  control_.Report(2, "armed", "");
  EXPECT_TRUE(IsJson(Status())) << Status();
  EXPECT_THAT(Status(), HasSubstr(R"("command": 1, "answer": "records from step 3 on")"));
  Write(R"({"id": 1, "action": "start" })");
  EXPECT_FALSE(control_.Poll()) << "written again, but not new";
}

TEST_F(ControlTest, ABrokenCommandIsToldAndTheNextOneCounts) {
  Write("{");
  testing::internal::CaptureStderr();
  EXPECT_FALSE(control_.Poll());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("is not a command"));
  Write(R"({"id": 2, "action": "stop"})");
  EXPECT_TRUE(control_.Poll());
}

TEST_F(ControlTest, IsWrittenWhenTheStateChangesAndOtherwiseRarely) {
  control_.Report(1, "idle", "");
  control_.Report(2, "idle", "");
  EXPECT_THAT(Status(), HasSubstr("\"step\": 1, \"state\": \"idle\""));
  control_.Report(3, "recording", "/a \"b\"");
  EXPECT_THAT(Status(), HasSubstr("\"step\": 3, \"state\": \"recording\""));
  EXPECT_THAT(Status(), HasSubstr(R"("/a \"b\"")"));
  EXPECT_TRUE(IsJson(Status())) << Status();
}

TEST(AutoControl, AFolderThatCannotBeMadeIsToldOnce) {
  testing::internal::CaptureStderr();
  AutoControl control("/proc/nowhere/x", 1);
  control.Report(1, "idle", "");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("this rank cannot be controlled"));
  EXPECT_EQ(said.find("steplens:"), said.rfind("steplens:"));
}

TEST_F(ControlTest, WhatIsNoFileOfOursIsNoCommand) {
  const std::string path = folder_ / "command.json";
  testing::internal::CaptureStderr();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(control_.Poll()) << "and it is not waited for";
  unlink(path.c_str());
  std::ofstream(folder_ / "real.json") << R"({"id": 1, "action": "start"})";
  ASSERT_EQ(symlink((folder_ / "real.json").c_str(), path.c_str()), 0);
  EXPECT_FALSE(control_.Poll());
  unlink(path.c_str());
  if (geteuid() == 0) {
    Write(R"({"id": 2, "action": "start"})");
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
    EXPECT_FALSE(control_.Poll());
    unlink(path.c_str());
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("belongs to another user"));
  Write(R"({"id": 3, "action": "start"})");
  EXPECT_TRUE(control_.Poll());
}

TEST_F(ControlTest, AReportDoesNotFollowALinkThatWaitsForIt) {
  std::ofstream(folder_ / "precious") << "kept";
  ASSERT_EQ(symlink((folder_ / "precious").c_str(), (folder_ / "rank_0.json.tmp").c_str()), 0);
  control_.Report(1, "idle", "");
  EXPECT_EQ(ReadWhole(folder_ / "precious"), "kept");
  EXPECT_TRUE(IsJson(Status())) << Status();
}

// What is said of a control folder, and whether a command in it is obeyed.
std::pair<std::string, bool> SaidOf(const std::string& folder) {
  testing::internal::CaptureStderr();
  AutoControl control(folder, 0);
  control.Report(1, "idle", "");
  std::ofstream(folder + "/command.json") << R"({"id": 1, "action": "start"})";
  const bool is_obeyed = control.Poll().has_value();
  return {testing::internal::GetCapturedStderr(), is_obeyed};
}

TEST(AutoControl, OnlyAFolderOfThisUserAloneIsUsed) {
  const ScratchFolder scratch;
  EXPECT_EQ(SaidOf(scratch / "new"), std::pair(std::string(), true));
  struct stat made = {};
  stat((scratch / "new").c_str(), &made);
  EXPECT_EQ(made.st_mode & 0777, 0700u);
  mkdir((scratch / "open").c_str(), 0700);
  chmod((scratch / "open").c_str(), 0777);
  EXPECT_THAT(SaidOf(scratch / "open").first, HasSubstr("other users may write to it"));
  EXPECT_FALSE(SaidOf(scratch / "open").second);
  ASSERT_EQ(symlink((scratch / "new").c_str(), (scratch / "link").c_str()), 0);
  EXPECT_THAT(SaidOf(scratch / "link").first, HasSubstr("it is not a folder, or a link"));
  if (geteuid() != 0) return;
  mkdir((scratch / "theirs").c_str(), 0700);
  ASSERT_EQ(chown((scratch / "theirs").c_str(), 65534, 65534), 0);
  EXPECT_THAT(SaidOf(scratch / "theirs").first, HasSubstr("it belongs to another user"));
}

}  // namespace
}  // namespace steplens::collect
