#!/usr/bin/env bash
# install_test.sh BUILD [SANITIZER]: installs the build into a prefix and compiles programs against
# find_package(Stoker) there, with the sanitizer of the library: its runtime must be the first in the program.
#
# Prefix and programs stay in the build folder, so that only what changed is compiled again. A prefix that holds
# anything besides what was just installed is made anew: a header that is no longer installed must be missed.
set -euo pipefail
build=$1
flags=${2:+-fsanitize=$2}
here=$(cd "$(dirname "$0")" && pwd)
work=$build/consumer
prefix=$work/prefix

install_build() {
  mkdir -p "$work"
  cmake --install "$build" --prefix "$prefix" > "$work/install.log"
}

holds_only_what_was_installed() {
  diff <(find "$prefix" ! -type d | sort) <(sort -u "$build/install_manifest.txt") > "$work/left_over.log"
}

install_build
if ! holds_only_what_was_installed; then
  rm -rf "$work"
  install_build
  holds_only_what_was_installed || { cat "$work/left_over.log"; exit 1; }
fi
cmake -S "$here/consumer" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
      -DCMAKE_CXX_FLAGS="$flags" > "$work/configure.log"
cmake --build "$work/build" > "$work/build.log" || { cat "$work/build.log"; exit 1; }
"$work/build/consumer"
