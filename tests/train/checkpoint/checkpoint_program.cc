// Lets the test in Python make and read files of the trainer.
// checkpoint_program copy IN.safetensors OUT.safetensors | save RUN
#include <cstdio>
#include <string>
#include <vector>

#include "stoker/base/error.h"

#include "tests/train/checkpoint/small_checkpoint.h"

namespace stoker::train {
namespace {

void copy(const std::string& from, const std::string& to) {
  const File source = open_file(system_io(), from, OpenFor::kRead).take_or_raise();
  const SealedTensors read = read_tensors(source).take_or_raise();
  const File target = open_file(system_io(), to, OpenFor::kCreateNew).take_or_raise();
  write_tensors(target, read.tensors).take_or_raise();
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3 && arguments[0] == "copy") {
    copy(arguments[1], arguments[2]);
    return 0;
  }
  if (arguments.size() == 2 && arguments[0] == "save") {
    open_and_save(system_io(), arguments[1], {small_checkpoint(1200, 0.25)}).take_or_raise();
    return 0;
  }
  return 2;
}

}  // namespace
}  // namespace stoker::train

int main(int num_arguments, char** arguments) {
  try {
    return stoker::train::run({arguments + 1, arguments + num_arguments});
  } catch (const stoker::Failure& failure) {
    std::fprintf(stderr, "%s\n", stoker::error_line(failure.error()).c_str());
    return static_cast<int>(failure.exit_code());
  }
}
