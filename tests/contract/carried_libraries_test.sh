#!/usr/bin/env bash
# carried_libraries_test.sh MODULES COMPILER: an installed library finds libraries of a prefix that was unpacked inside the
# source tree (docs/guide/offline.md), in a program that knows nothing of that prefix.
set -euo pipefail
modules=$1
compiler=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clone=$work/clone
deps=$clone/deps/lib/triple

mkdir -p "$deps/pkgconfig"
cp "$here/carried/CMakeLists.txt" "$clone/"
echo 'int neighbour() { return 42; }' > "$work/neighbour.cc"
echo 'int neighbour(); int carried() { return neighbour(); }' > "$work/carried.cc"
echo 'int carried(); int user() { return carried(); }' > "$clone/user.cc"
echo 'int user(); int main() { return user() == 42 ? 0 : 1; }' > "$work/main.cc"
# Carried libraries find each other beside themselves.
"$compiler" -shared -fPIC -Wl,-soname,libneighbour.so.1 "$work/neighbour.cc" -o "$deps/libneighbour.so.1"
"$compiler" -shared -fPIC -Wl,-soname,libcarried.so.1 "$work/carried.cc" "$deps/libneighbour.so.1" \
            -Wl,-rpath,'$ORIGIN' -o "$deps/libcarried.so.1"
ln -s libcarried.so.1 "$deps/libcarried.so"
# Written as tools/sysroot leaves such files.
printf '%s\n' 'prefix=${pcfiledir}/../../..' 'Name: carried' 'Description: carried' 'Version: 1' \
  'Libs: -L${prefix}/lib/triple -lcarried' > "$deps/pkgconfig/carried.pc"

export PKG_CONFIG_PATH=$deps/pkgconfig
cmake -S "$clone" -B "$clone/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DSTOKER_MODULES="$modules" > "$work/log"
cmake --build "$clone/build" >> "$work/log"
cmake --install "$clone/build" --prefix "$work/prefix" >> "$work/log"
"$compiler" "$work/main.cc" -L"$work/prefix/lib" -luser -Wl,-rpath,"$work/prefix/lib" -o "$work/main"
env -u LD_LIBRARY_PATH "$work/main"

# What the system has by itself needs no place in the run path.
run_path=$(readelf -d "$work/prefix/lib/libuser.so" | sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p')
if [ "$run_path" != "\$ORIGIN:$(realpath "$deps")" ]; then
  echo "expected the run path \$ORIGIN and the carried folder, found $run_path"
  exit 1
fi
