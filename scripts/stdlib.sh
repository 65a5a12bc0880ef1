#!/usr/bin/env bash
# Builds tests of Go's standard library for GOOS=wasip1 and runs them under
# wasmjit. Arguments name other packages than the usual twelve.
set -euo pipefail
cd "$(dirname "$0")/.."
exec="$PWD/scripts/go_wasip1_wasm_exec"
packages=${*:-strconv math math/big sort encoding/json compress/flate regexp crypto/sha256 hash/crc32 text/template bytes time}
export GOOS=wasip1 GOARCH=wasm
# One at a time: each is a process with a compiler that uses all cores.
# shellcheck disable=SC2086 # package names are words
exec ${GO:-go} test -short -count=1 -p 1 -exec "$exec" $packages
