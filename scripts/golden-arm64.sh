#!/bin/sh
# Writes asm/arm64/testdata/arm64.golden: each case of the encoder tests with
# the bytes that GNU as makes of it. Run it after a change of the cases and
# read the diff. Needs the package binutils-aarch64-linux-gnu.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

go test ./asm/arm64 -count=1 -run '^TestGolden$' -cases "$tmp/cases.s" >/dev/null
# A listing line is number, address, bytes, tab, source.
aarch64-linux-gnu-as -march=armv8-a -aln="$tmp/cases.lst" -o "$tmp/cases.o" "$tmp/cases.s"
mkdir -p asm/arm64/testdata
awk -F '\t' 'NF > 1 {
	split($1, col, " ")
	if (col[3] != "") print $2 " // " tolower(col[3])
}' "$tmp/cases.lst" >"$tmp/golden"
mv "$tmp/golden" asm/arm64/testdata/arm64.golden
wc -l asm/arm64/testdata/arm64.golden
