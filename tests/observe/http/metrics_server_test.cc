// The endpoint as strangers find it: over sockets, with slow, rude, broken and very many clients.
#include "stoker/observe/http/metrics_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "stoker/observe/errors.h"
#include "stoker/observe/http/connection_limits.h"
#include "tests/doubles/fake_clock.h"
#include "tests/observe/http/http_client.h"
#include "tests/observe/live/planted_figures.h"

namespace stoker::observe {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class MetricsServerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!MetricsServer::is_built_in()) GTEST_SKIP() << "built without libmicrohttpd";
  }
  std::uint16_t start(MetricsServerOptions options = {}) {
    options.address = "127.0.0.1:0";
    server_.emplace(options, [figures = shared(planted_figures())] { return figures; });
    const std::string url = server_->url();
    return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
  }
  static const ErrorCode* refusal_of(const MetricsServerOptions& options) {
    try {
      const MetricsServer server(options, [] { return FiguresPtr(); });
    } catch (const Failure& failure) {
      return failure.error().code;
    }
    return nullptr;
  }
  static constexpr std::string_view kScrape = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

  std::optional<MetricsServer> server_;
};

TEST_F(MetricsServerTest, ItAnswersGetAndHead) {
  const std::uint16_t port = start();
  const std::string got = ask(port, kScrape);
  EXPECT_EQ(status_in(got), 200U);
  EXPECT_THAT(got, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(got, HasSubstr("Connection: close"));
  EXPECT_THAT(got, HasSubstr("\nstoker_feed_batches_total 4321\n"));
  const std::string head = ask(port, "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(status_in(head), 200U);
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  EXPECT_THAT(ask(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), HasSubstr("</html>"));
  EXPECT_THAT(ask(port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"), HasSubstr("ok\n"));
}

TEST_F(MetricsServerTest, RefusalsHaveTheirStatus) {
  const std::uint16_t port = start();
  const auto status = [&](const std::string& bytes) { return status_in(ask(port, bytes)); };
  EXPECT_EQ(status("GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"), 404U);
  EXPECT_EQ(status("GET /%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"), 404U);
  EXPECT_EQ(status("GET http://localhost/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"), 404U);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421U);
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), 400U);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"), 400U);
  const std::string post =
      ask(port, "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_EQ(status_in(post), 405U);
  EXPECT_THAT(post, HasSubstr("Allow: GET, HEAD"));
  const std::string long_header(20'000, 'a');
  const unsigned too_long =
      status("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + long_header + "\r\n\r\n");
  EXPECT_TRUE(too_long == 431 || too_long == 0) << too_long;
}

// Ten seconds of one byte each would hold all places; the time of each is over before.
TEST_F(MetricsServerTest, SlowClientsLoseTheirPlace) {
  const std::uint16_t port = start({.connection_time = 300ms});
  std::vector<HttpClient> slow;
  for (int i = 0; i < 200; ++i) slow.emplace_back(port);
  const auto end = std::chrono::steady_clock::now() + 60s;
  std::atomic<bool> is_answered{false};
  std::thread dripping([&] {
    for (std::size_t at = 0; !is_answered && std::chrono::steady_clock::now() < end;
         at = (at + 1) % 10) {
      for (const HttpClient& client : slow)
        client.send(std::string_view("GET /metri").substr(at, 1));
      std::this_thread::sleep_for(50ms);
    }
  });
  const std::string got = ask(port, kScrape);
  is_answered = true;
  dripping.join();
  EXPECT_EQ(status_in(got), 200U);
}

TEST_F(MetricsServerTest, AHeaderWithoutEndIsCutOff) {
  const std::uint16_t port = start({.connection_time = 2s});
  const HttpClient client(port);
  const std::string part(4096, 'x');
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
  int num_sent = 0;
  while (num_sent < 10'000 && client.send(part)) ++num_sent;
  EXPECT_LT(num_sent, 10'000);
  EXPECT_EQ(status_in(ask(port, kScrape)), 200U);
}

// Seeded: a request is cut, repeated and changed at random places.
TEST_F(MetricsServerTest, TenThousandBrokenRequestsChangeNothing) {
  const std::uint16_t port = start({.connection_time = 30ms, .requests_per_s = 1e9});
  std::mt19937 random(42);
  const std::string whole =
      "GET /metrics?a=%zz HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-\r\n"
      "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n-2\r\nabc\r\n";
  for (int i = 0; i < 10'000; ++i) {
    std::string bytes = whole;
    const auto num_changes = random() % 6 + 1;
    for (std::size_t k = 0; k < num_changes; ++k)
      bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
    if (random() % 3 == 0) bytes.resize(random() % bytes.size());
    const HttpClient client(port);
    ASSERT_TRUE(client.is_open()) << i;
    client.send(bytes);
    if (i % 16 == 0) client.read_all();
  }
  // On a busy machine the short time may be over before the answer is read.
  const auto end = std::chrono::steady_clock::now() + 60s;
  unsigned status = 0;
  while (status != 200 && std::chrono::steady_clock::now() < end)
    status = status_in(ask(port, kScrape));
  EXPECT_EQ(status, 200U);
}

TEST_F(MetricsServerTest, AClientThatVanishesEndsNothing) {
  const std::uint16_t port = start();
  for (int i = 0; i < 50; ++i) HttpClient(port).send(kScrape);
  EXPECT_EQ(status_in(ask(port, kScrape)), 200U);
}

TEST_F(MetricsServerTest, ItEndsAtOnceWithConnectionsOpen) {
  const std::uint16_t port = start({.connection_time = 600s});
  const HttpClient idle(port);
  idle.send("GET /");
  const auto begun = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 60s);
}

TEST_F(MetricsServerTest, WhatCannotBeServedIsNamed) {
  const std::uint16_t port = start();
  EXPECT_EQ(refusal_of({.address = "127.0.0.1:" + std::to_string(port)}), &kHttpPort);
  EXPECT_EQ(refusal_of({.address = "0.0.0.0:0"}), &kHttpRemote);
  EXPECT_EQ(refusal_of({.address = "nowhere:80"}), &kHttpAddress);
  const MetricsServer open({.address = "0.0.0.0:0", .allows_remote = true},
                           [] { return FiguresPtr(); });
  EXPECT_TRUE(open.is_remote());
}

TEST(MetricsServerStubTest, ABuildWithoutTheLibrarySaysSo) {
  if (MetricsServer::is_built_in()) GTEST_SKIP() << "built with libmicrohttpd";
  try {
    const MetricsServer server({}, [] { return FiguresPtr(); });
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.error().code, &kHttpLibrary);
  }
}

TEST(RequestPaceTest, ABurstPassesAndThenTheRateHolds) {
  FakeClock clock;
  RequestPace pace(10, 3, clock);
  for (int i = 0; i < 3; ++i) pace.wait_turn();
  std::atomic<bool> has_passed{false};
  std::thread next([&] {
    pace.wait_turn();
    has_passed = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(has_passed);
  clock.advance(101ms);
  next.join();
  std::thread stopped([&] { pace.wait_turn(); });
  pace.stop();
  stopped.join();
}

}  // namespace
}  // namespace stoker::observe
