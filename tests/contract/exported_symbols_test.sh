#!/usr/bin/env bash
# libstoker.so may show namespace stoker and nothing else.
set -euo pipefail
shown=$(nm -D --defined-only --demangle "$1" | cut -c20-)
others=$(grep -vE '(^| )stoker::| for stoker::| to stoker::' <<<"$shown" || true)
if [ -n "$others" ]; then printf 'exported besides namespace stoker:\n%s\n' "$others" | head -20; exit 1; fi
grep -q 'stoker::raise' <<<"$shown" || { echo "stoker::raise is not exported"; exit 1; }
