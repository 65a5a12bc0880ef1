#!/usr/bin/env bash
# Compiles the modules that scripts/corpus.sh got with one and two workers and
# prints a table row each. Fails if one doesn't compile.
#
# Usage: scripts/corpus-compile.sh [NAME...]    (RUNS=3, WASMJIT=bin/wasmjit)
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
wasmjit=${WASMJIT:-bin/wasmjit}
runs=${RUNS:-3}
names=${*:-$(corpus_names)}
if [ -z "$names" ]; then
	echo "corpus: no modules in $dest; run scripts/corpus.sh" >&2
	exit 1
fi

echo "| module | workers | compile ms | MB/s of code section | code bytes out / in | peak RSS MB |"
echo "|---|---|---|---|---|---|"
status=0
for name in $names; do
	for j in 1 2; do
		best=
		for _ in $(seq "$runs"); do
			if ! json=$("$wasmjit" compile -j "$j" --liftoff-only --progress=never --stats=json "$dest/$name.wasm"); then
				status=1
				break
			fi
			ns=$(field engine_wall_ns <<<"$json")
			if [ -z "$best" ] || [ "$ns" -lt "$best" ]; then
				best=$ns
				row=$(awk -v ns="$ns" -v mbs="$(field engine_mb_per_s <<<"$json")" -v per="$(field per_wasm_byte <<<"$json")" \
					-v rss="$(field rss_peak <<<"$json")" 'BEGIN { printf "%.0f | %.1f | %.2f | %.0f", ns/1e6, mbs, per, rss/1e6 }')
			fi
		done
		[ -n "$best" ] && echo "| $name | $j | $row |"
	done
done
exit $status
