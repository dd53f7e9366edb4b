#include "stoker/base/io/open_walk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <vector>

namespace stoker {
namespace {

constexpr int kMaxLinks = 40;

SysResult failed(int error_number) { return {-1, error_number}; }

void prepend_components(std::deque<std::string>& pending, const std::string& path) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at) parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  pending.insert(pending.begin(), parts.begin(), parts.end());
}

// The folders entered so far: ".." steps back along these handles, so a folder moved elsewhere
// meanwhile cannot make it climb out.
class Walk {
 public:
  Walk(int folder, const Io::OpenHow& how) : folder_(folder), how_(how) {}
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;
  ~Walk() {
    for (const int handle : entered_) ::close(handle);
  }

  SysResult open(const std::string& path) {
    if (path.empty()) return failed(ENOENT);
    if (path.front() == '/') return failed(EXDEV);
    prepend_components(pending_, path);
    if (path.back() == '/') pending_.emplace_back(".");
    while (!pending_.empty()) {
      const std::string name = take_next();
      if (pending_.empty() && name != "..") {
        const SysResult last = open_last(name);
        if (last.value >= 0 || !last.ok()) return last;
      } else if (const int error = step(name); error != 0) {
        return failed(error);
      }
    }
    return open_last(".");
  }

 private:
  int current() const { return entered_.empty() ? folder_ : entered_.back(); }

  std::string take_next() {
    std::string name = std::move(pending_.front());
    pending_.pop_front();
    return name;
  }

  int step(const std::string& name) {
    if (name == ".") return 0;
    if (name == "..") {
      if (entered_.empty()) return EXDEV;
      ::close(entered_.back());
      entered_.pop_back();
      return 0;
    }
    const int next =
        ::openat(current(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0) return errno == ENOTDIR || errno == ELOOP ? follow(name, ENOTDIR) : errno;
    entered_.push_back(next);
    return 0;
  }

  // Replaces a link by the components it holds; `otherwise` when it is no link.
  int follow(const std::string& name, int otherwise) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlinkat(current(), name.c_str(), target.data(), target.size());
    if (length < 0) return errno == EINVAL ? otherwise : errno;
    if (!how_.follow_links || ++num_links_ > kMaxLinks) return ELOOP;
    if (length == 0) return ENOENT;
    if (target[0] == '/') return EXDEV;
    prepend_components(pending_, std::string(target.data(), static_cast<std::size_t>(length)));
    return 0;
  }

  // A link in last place gives {-1, no error} and leaves its components pending.
  SysResult open_last(const std::string& name) {
    const int handle = ::openat(current(), name.c_str(), how_.flags | O_NOFOLLOW | O_CLOEXEC,
                                static_cast<mode_t>(how_.mode));
    if (handle >= 0) return {handle, 0};
    // With O_DIRECTORY a link reports ENOTDIR instead of ELOOP.
    const int refused = errno;
    if (refused != ELOOP && refused != ENOTDIR) return failed(refused);
    return failed(follow(name, refused));
  }

  int folder_;
  Io::OpenHow how_;
  std::deque<std::string> pending_;
  std::vector<int> entered_;
  int num_links_ = 0;
};

}  // namespace

SysResult open_by_walking(int folder, const std::string& path, const Io::OpenHow& how) {
  return Walk(folder, how).open(path);
}

}  // namespace stoker
