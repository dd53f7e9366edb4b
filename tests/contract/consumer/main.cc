// A program of somebody else's: it sees installed headers and one library, nothing of the source
// tree.
#include <stoker/base/build_info.h>
#include <stoker/base/digest/digest.h>
#include <stoker/base/error.h>

#include <iostream>

int main() {
  std::cout << "stoker " << stoker::build_info().version << ' ' << stoker::digest_of("abc").hex()
            << '\n';
  constexpr stoker::ErrorCode kCode{"E-TEST", stoker::ExitCode::kData, "", ""};
  try {
    stoker::raise({&kCode, {}, "", "thrown in the library, caught in the program", "", ""});
  } catch (const stoker::DataError& error) {
    std::cout << error.what() << '\n';
    return 0;
  }
}
