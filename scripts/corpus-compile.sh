#!/usr/bin/env bash
# Compiles the modules that scripts/corpus.sh got with one and two workers and
# prints a table row each, as PERF.md has them. Fails if one doesn't compile.
set -euo pipefail
cd "$(dirname "$0")/.."
dest=${WASMJIT_CORPUS:-.cache/corpus}
wasmjit=${WASMJIT:-bin/wasmjit}
runs=${RUNS:-3}
shopt -s nullglob
if [ $# -gt 0 ]; then
	files=()
	for n in "$@"; do files+=("$dest/$n.wasm"); done
else
	# The list's order; modules that need later proposals are not fetched.
	files=()
	while read -r n; do [ -f "$dest/$n.wasm" ] && files+=("$dest/$n.wasm"); done \
		< <(grep -v '^#' testdata/corpus.tsv | cut -f1)
fi
if [ ${#files[@]} = 0 ]; then
	echo "corpus: no modules in $dest; run scripts/corpus.sh" >&2
	exit 1
fi

# field NAME reads a number of the JSON on stdin, whose keys are unique here.
field() { sed -n "s/^ *\"$1\": \([0-9.]*\),\{0,1\}$/\1/p" | head -1; }

echo "| module | workers | compile ms | MB/s of code section | code bytes out / in | peak RSS MB |"
echo "|---|---|---|---|---|---|"
status=0
for f in "${files[@]}"; do
	for j in 1 2; do
		best=
		for _ in $(seq "$runs"); do
			if ! json=$("$wasmjit" compile -j "$j" --liftoff-only --progress=never --stats=json "$f"); then
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
		[ -n "$best" ] && echo "| $(basename "$f" .wasm) | $j | $row |"
	done
done
exit $status
