#!/usr/bin/env bash
# Counts the instructions of a fixed compile, which unlike time don't depend on
# the machine's load, and compares them with testdata/instructions.tsv: more than
# 3 % above the recorded number fails. The number belongs to a version of Go;
# for another one it is printed only. --update records it.
set -euo pipefail
cd "$(dirname "$0")/.."
recorded=testdata/instructions.tsv

if ! command -v valgrind >/dev/null; then
	echo "instructions: n/a, valgrind is not installed"
	exit 0
fi
[ -x bin/wasmjit ] || make -s build
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bin/wasmjit synthesize unity:3000 >"$dir/module.wasm"

# One thread, no collector and no preemption: what is left varies by 0.4 %.
count() {
	GODEBUG=asyncpreemptoff=1 GOGC=off GOMAXPROCS=1 valgrind --tool=callgrind \
		--callgrind-out-file=/dev/null --log-file="$dir/log" \
		bin/wasmjit compile -j1 --cpu=baseline --syscall-counters=off --stats=json "$dir/module.wasm" >/dev/null &&
		sed -n 's/.*Collected : //p' "$dir/log"
}
n=$(for _ in 1 2 3; do count || true; done | sort -n | head -1)
if [ -z "$n" ]; then
	echo "instructions: n/a, valgrind could not run the compile"
	exit 0
fi
version=$(go env GOVERSION)/$(go env GOARCH)
if [ "${1:-}" = --update ]; then
	printf '# instructions of the compile that scripts/instructions.sh describes\n%s\t%s\n' "$version" "$n" >"$recorded"
fi
want=$(awk -v v="$version" '$1 == v {print $2}' "$recorded")
if [ -z "$want" ]; then
	echo "instructions: $n with $version; nothing is recorded for this version"
	exit 0
fi
echo "instructions: $n with $version, recorded $want ($(awk -v a="$n" -v b="$want" 'BEGIN {printf "%+.1f", (a/b-1)*100}') %)"
[ "$n" -le $((want + want * 3 / 100)) ] || { echo "instructions: more than 3 % above what is recorded" >&2; exit 1; }
