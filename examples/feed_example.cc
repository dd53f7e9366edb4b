// Runs one epoch of a feed and says what came: a whole program against the installed library.
//   find_package(Stoker REQUIRED)
//   target_link_libraries(feed_example PRIVATE Stoker::stoker)
#include <stoker/feed/feed.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: feed_example DATA_FOLDER\n");
    return 2;
  }
  try {
    stoker::Feed feed = stoker::Feed::open({.data = argv[1], .batch_frames = 20'000});
    while (const auto batch = feed.next()) {
      const auto shape = batch->mel().shape;
      std::printf("batch %llu: mel [%zu, %zu, %zu], first id %.*s\n",
                  static_cast<unsigned long long>(batch->index()), shape[0], shape[1], shape[2],
                  static_cast<int>(batch->id(0).size()), batch->id(0).data());
    }
    std::printf("state %s\n", feed.state().c_str());
  } catch (const stoker::Failure& failure) {
    std::fprintf(stderr, "%s\n", stoker::error_line(failure.error()).c_str());
    return static_cast<int>(failure.exit_code());
  }
  return 0;
}
