#!/usr/bin/env bash
# Builds the programs of testdata/run: C with Debian's clang, lld and
# wasi-libc (apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32, or
# the number of your clang), Go with the go command for wasip1.
#
#   scripts/build-run.sh             C programs into testdata/run, where they are
#                                    checked in so that nobody needs clang
#   scripts/build-run.sh --check     the same into a scratch folder; says which
#                                    checked-in modules differ
#   scripts/build-run.sh --go        Go programs into $WASMJIT_RUN, default
#                                    .cache/run: they are megabytes
#   scripts/build-run.sh --expect    run every module and rewrite
#                                    testdata/run/expected.tsv; NODE names the
#                                    engine whose word is taken
#
# CLANG and WASI_SYSROOT name another compiler and library.
set -euo pipefail
cd "$(dirname "$0")/.."
src=testdata/run
clang=${CLANG:-clang}
goout=${WASMJIT_RUN:-.cache/run}

# SIMD is off: V8 would vectorise what a module without it does not hold. The
# other proposals beyond the core are off so that every engine takes them.
flags=(--target=wasm32-wasi -O2 -Wall -Wextra -Werror -std=c11
	-mno-simd128 -mno-bulk-memory -mno-nontrapping-fptoint -mno-sign-ext
	-mno-exception-handling -mno-reference-types -mno-multivalue -mno-tail-call -mno-atomics
	-Wl,--strip-debug -Wl,-z,stack-size=1048576)
if [ -n "${WASI_SYSROOT:-}" ]; then flags+=(--sysroot="$WASI_SYSROOT"); fi

build() { # build FOLDER
	mkdir -p "$1"
	for f in "$src"/*.c; do
		local out
		out=$1/$(basename "$f" .c).wasm
		"$clang" "${flags[@]}" -o "$out" "$f"
		if [ "$(stat -c %s "$out")" -gt 100000 ]; then
			echo "build-run: $out is over 100,000 bytes" >&2
			exit 1
		fi
	done
}

buildgo() {
	mkdir -p "$goout"
	for d in "$src"/go/*/; do
		GOOS=wasip1 GOARCH=wasm "${GO:-go}" build -trimpath -ldflags=-s -o "$goout/go-$(basename "$d").wasm" "./$d"
	done
}

case "${1:-}" in
"") build "$src" ;;
--check)
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	build "$work"
	status=0
	for f in "$work"/*.wasm; do
		cmp -s "$f" "$src/$(basename "$f")" || { echo "build-run: $(basename "$f") differs" >&2; status=1; }
	done
	exit $status
	;;
--go) buildgo ;;
--expect)
	buildgo
	exec "${NODE:-node}" --no-warnings scripts/run-expect.mjs "$goout" "$src"
	;;
*) sed -n '2,17s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
