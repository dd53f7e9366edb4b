#include "stoker/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doubles/log_lines.h"

namespace stoker {
namespace {

class LogTest : public testing::Test {
 protected:
  ~LogTest() override { set_log_sink(nullptr); }
};

TEST_F(LogTest, NothingIsWrittenUntilASinkIsInstalled) {
  testing::internal::CaptureStderr();
  log(LogLevel::kError, "nobody listens");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(LogTest, SinkGetsRecordsFromItsLevelUp) {
  const auto sink = std::make_shared<LogLines>();
  set_log_sink(sink, LogLevel::kWarning);
  log(LogLevel::kInfo, "not this");
  log(LogLevel::kWarning, "clip is silent", {{"id", "LJ001-0001"}, {"frames", 566}});
  EXPECT_THAT(sink->lines(),
              testing::ElementsAre("warning: clip is silent (id=LJ001-0001, frames=566)"));
}

TEST_F(LogTest, HostileNamesStayOnOneLine) {
  const auto sink = std::make_shared<LogLines>();
  set_log_sink(sink);
  log(LogLevel::kInfo, "read", {{"file", "a\n\x1b[2Jb"}});
  EXPECT_THAT(sink->lines(), testing::ElementsAre("info: read (file=a\\x0a\\x1b[2Jb)"));
}

TEST_F(LogTest, JsonKeepsNumbersAndQuotesText) {
  const auto sink = std::make_shared<LogLines>(LogFormat::kJson);
  set_log_sink(sink);
  log(LogLevel::kInfo, "say \"hi\"", {{"count", 3}, {"name", "3"}, {"bad", 0.0 / 0.0}});
  ASSERT_EQ(sink->lines().size(), 1U);
  EXPECT_THAT(sink->lines()[0], testing::HasSubstr(R"("level":"info","message":"say \"hi\"")"));
  EXPECT_THAT(sink->lines()[0], testing::HasSubstr(R"("count":3,"name":"3")"));
  EXPECT_THAT(sink->lines()[0], testing::MatchesRegex(R"(.*"bad":"-?nan"})"));
}

TEST_F(LogTest, StderrSinkWritesTheLine) {
  testing::internal::CaptureStderr();
  set_log_sink(make_stderr_sink());
  log(LogLevel::kInfo, "hello", {{"n", 1}});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "info: hello (n=1)\n");
}

TEST_F(LogTest, JsonEscapesWhatItMustAndRepairsBadBytes) {
  const auto sink = std::make_shared<LogLines>(LogFormat::kJson);
  set_log_sink(sink);
  log(LogLevel::kInfo, "", {{"a", "a\"\\\n\t\x01"}, {"b", "caf\xC3\xA9"}, {"c", "\xFF"}});
  ASSERT_EQ(sink->lines().size(), 1U);
  EXPECT_THAT(sink->lines()[0], testing::HasSubstr(R"("a":"a\"\\\n\u0009\u0001")"));
  EXPECT_THAT(sink->lines()[0], testing::HasSubstr("\"b\":\"caf\xC3\xA9\""));
  EXPECT_THAT(sink->lines()[0], testing::HasSubstr("\"c\":\"\xEF\xBF\xBD\""));
}

}  // namespace
}  // namespace stoker
