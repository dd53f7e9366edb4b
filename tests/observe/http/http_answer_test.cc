// What the endpoint answers and refuses, without a socket: paths, methods, hosts, and what must
// never be in an answer.
#include "stoker/observe/http/http_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include "stoker/observe/errors.h"
#include "stoker/observe/http/served_texts.h"
#include "tests/observe/live/planted_figures.h"

namespace stoker::observe {
namespace {

using testing::HasSubstr;
using testing::Not;

HttpAnswers answers_of(const FiguresPtr& figures) {
  return {HttpAddress{}, "machine", [figures] { return figures; }};
}

unsigned status_of(std::string_view method, std::string_view path,
                   std::string_view host = "127.0.0.1:9109", unsigned num_hosts = 1) {
  HttpAnswers answers = answers_of(shared(planted_figures()));
  return answers.answer({method, path, num_hosts, host}).status;
}

TEST(HttpAnswerTest, ThreePathsAndNothingElse) {
  for (const char* path : {"/", "/metrics", "/healthz"}) {
    EXPECT_EQ(status_of("GET", path), 200U);
    EXPECT_EQ(status_of("HEAD", path), 200U);
  }
  for (const char* path : {"", "/metrics/", "//metrics", "/%6detrics", "/../../etc/passwd",
                           "/%2e%2e/etc/passwd", "http://127.0.0.1/metrics", "/etc/passwd", "*"})
    EXPECT_EQ(status_of("GET", path), 404U) << path;
}

TEST(HttpAnswerTest, OnlyGetAndHead) {
  for (const char* method : {"POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "get", ""})
    EXPECT_EQ(status_of(method, "/metrics"), 405U) << method;
}

TEST(HttpAnswerTest, ForeignHostsAreRefused) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:1", "localhost:9109", "LOCALHOST", "[::1]:9109", "127.1.2.3"})
    EXPECT_EQ(status_of("GET", "/", host), 200U) << host;
  for (const char* host :
       {"evil.example", "evil.example:9109", "127.0.0.1.evil.example", "", "machine", "10.0.0.1",
        "[::1", "localhost:99999", "localhost:x", "localhost evil"})
    EXPECT_EQ(status_of("GET", "/", host), 421U) << host;
  EXPECT_EQ(status_of("GET", "/", "", 0), 400U);
  EXPECT_EQ(status_of("GET", "/", "localhost", 2), 400U);
}

TEST(HttpAnswerTest, AnOpenEndpointTakesAddressesAndItsOwnName) {
  const HttpAddress open{.host = "0.0.0.0", .is_loopback = false};
  EXPECT_TRUE(is_host_allowed("10.0.0.1:9109", open, "machine"));
  EXPECT_TRUE(is_host_allowed("[fe80::1]:9109", open, "machine"));
  EXPECT_TRUE(is_host_allowed("Machine:9109", open, "machine"));
  EXPECT_FALSE(is_host_allowed("machine.evil.example", open, "machine"));
  EXPECT_FALSE(is_host_allowed("evil.example", open, ""));
}

// However often it is asked, each of the figures is rendered once.
TEST(HttpAnswerTest, TheSameFiguresGiveTheSameText) {
  FiguresPtr figures = shared(planted_figures());
  HttpAnswers answers(HttpAddress{}, "machine", [&] { return figures; });
  const HttpRequest request{"GET", "/metrics", 1, "localhost"};
  const auto first = answers.answer(request).body;
  EXPECT_EQ(answers.answer(request).body, first);
  LiveFigures next = planted_figures();
  next.number = 8;
  figures = shared(next);
  EXPECT_NE(*answers.answer(request).body, *first);
}

TEST(PrometheusTextTest, LabelsAreEscaped) {
  EXPECT_EQ(label_value("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
  EXPECT_EQ(label_value("سلام"), "سلام");
  EXPECT_EQ(label_value("a\xff"), "a\\\\xff");
}

TEST(PrometheusTextTest, FamiliesHaveTheirHeadAndKnownValues) {
  LiveFigures figures = planted_figures(2);
  figures.fallbacks.push_back({"cache record", "source", "E-CACHE-CORRUPT", 3});
  const std::string text = prometheus_text(figures);
  for (const char* line :
       {"# TYPE stoker_feed_batches_total counter\nstoker_feed_batches_total 4321\n",
        "stoker_gpu_utilization_ratio{gpu=\"1\"} 0.97\n", "stoker_gpu_throttled{gpu=\"0\"} 1\n",
        "stoker_feed_state{state=\"running\"} 1\n", "stoker_feed_state{state=\"ended\"} 0\n",
        "stoker_fallback_total{from=\"cache record\",to=\"source\",reason=\"E-CACHE-CORRUPT\"} 3\n",
        "stoker_feed_verdict{verdict=\"starved\"} 1\n"})
    EXPECT_THAT(text, HasSubstr(line));
  figures.gpus.clear();
  EXPECT_THAT(prometheus_text(figures), Not(HasSubstr("stoker_gpu")));
}

TEST(PrometheusTextTest, NoFileNamesAndNoWordsOfUsers) {
  LiveFigures figures = planted_figures();
  figures.feed.sentence = "run /home/me/secret";
  const std::string text = prometheus_text(figures), page = live_page(figures);
  for (const std::string& each : {text, page}) {
    EXPECT_THAT(each, Not(HasSubstr("slow.wav")));
    EXPECT_THAT(each, Not(HasSubstr("secret")));
  }
}

TEST(LivePageTest, ThePageRefreshesHasNoScriptAndEscapes) {
  LiveFigures figures = planted_figures();
  figures.gpus[0].name = "<script>alert(1)</script>";
  const std::string page = live_page(figures);
  EXPECT_THAT(page, HasSubstr("<meta http-equiv=\"refresh\" content=\"1\">"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(page, HasSubstr("12.3 batches, 196 clips, 81,000 frames a second"));
  EXPECT_THAT(page, HasSubstr("The consumer waits for the feed 7 %"));
}

TEST(HttpAddressTest, FormsThatPeopleType) {
  EXPECT_EQ(parse_http_address("9109").take_or_raise().text(), "127.0.0.1:9109");
  EXPECT_EQ(parse_http_address("localhost:0").take_or_raise().text(), "127.0.0.1:0");
  const HttpAddress six = parse_http_address("[::1]:80").take_or_raise();
  EXPECT_TRUE(six.is_ipv6 && six.is_loopback);
  EXPECT_EQ(six.text(), "[::1]:80");
  EXPECT_FALSE(parse_http_address("0.0.0.0:80").take_or_raise().is_loopback);
  for (const char* bad : {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "example.org:80",
                          "1.2.3:80", "[::1:80", "[::1]80", "127.0.0.1:-1", "127.0.0.1:8 "})
    EXPECT_EQ(parse_http_address(bad).error().code, &kHttpAddress) << bad;
}

TEST(HttpAddressTest, ATakenPortIsNamed) {
  HttpAddress free{.port = 0};
  const int listener = open_listener(free).take_or_raise();
  EXPECT_NE(free.port, 0);
  HttpAddress taken{.port = free.port};
  EXPECT_EQ(open_listener(taken).error().code, &kHttpPort);
  ::close(listener);
}

TEST(HttpAddressTest, WithoutRoomForASocketThereIsNoServer) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  HttpAddress address{.port = 0};
  const Result<int> refused = open_listener(address);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, &kHttpServer);
}

TEST(HttpAddressTest, AnAddressOfAnotherMachineIsNamed) {
  HttpAddress foreign{.host = "192.0.2.1", .port = 0, .is_loopback = false};
  EXPECT_EQ(open_listener(foreign).error().code, &kHttpAddress);
}

}  // namespace
}  // namespace stoker::observe
