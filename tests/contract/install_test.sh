#!/usr/bin/env bash
# Installs the build into a prefix and compiles programs against find_package(Stoker) there.
#
# Prefix and programs stay in the build folder, so that only what changed is compiled again. A prefix that holds
# anything besides what was just installed is made anew: a header that is no longer installed must be missed.
set -euo pipefail
build=$1
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
cmake -S "$here/consumer" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$work/configure.log"
cmake --build "$work/build" > "$work/build.log" || { cat "$work/build.log"; exit 1; }
"$work/build/consumer"
