#!/bin/sh
# Writes asm/amd64/testdata/amd64.golden: each case of the encoder tests with
# the bytes that GNU as makes of it. Run it after a change of the cases and
# read the diff.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

go test ./asm/amd64 -count=1 -run '^TestGolden$' -cases "$tmp/cases.s" >/dev/null
# A listing line is number, address, bytes in words, tab, source; 16 bytes fit
# on a line, so every instruction takes one.
as --64 --listing-lhs-width=4 --listing-rhs-width=200 -aln="$tmp/cases.lst" -o "$tmp/cases.o" "$tmp/cases.s"
mkdir -p asm/amd64/testdata
awk -F '\t' 'NR > 1 && NF > 1 {
	split($1, col, " ")
	code = ""
	for (i = 3; i in col; i++) code = code tolower(col[i])
	print $2 " // " code
}' "$tmp/cases.lst" >"$tmp/golden"
mv "$tmp/golden" asm/amd64/testdata/amd64.golden
wc -l asm/amd64/testdata/amd64.golden
