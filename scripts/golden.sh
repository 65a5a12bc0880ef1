#!/bin/sh
# Writes asm/ARCH/testdata/ARCH.golden: each case of the encoder tests with the
# bytes that GNU as makes of it. Run it after a change of the cases and read
# the diff. For arm64 it needs the package binutils-aarch64-linux-gnu.
# Usage: scripts/golden.sh amd64|arm64
set -eu
cd "$(dirname "$0")/.."
arch=${1:-}
case $arch in
# 16 bytes fit on a line of the listing, so every instruction takes one.
amd64) as="as --64 --listing-lhs-width=4 --listing-rhs-width=200" ;;
arm64) as="aarch64-linux-gnu-as -march=armv8-a" ;;
*)
	echo "usage: scripts/golden.sh amd64|arm64" >&2
	exit 2
	;;
esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

go test "./asm/$arch" -count=1 -run '^TestGolden$' -cases "$tmp/cases.s" >/dev/null
$as -aln="$tmp/cases.lst" -o "$tmp/cases.o" "$tmp/cases.s"
# A listing line is number, address, bytes in words, tab, source; a directive's
# has no bytes.
awk -F '\t' 'NF > 1 {
	split($1, col, " ")
	code = ""
	for (i = 3; i in col; i++) code = code tolower(col[i])
	if (code != "") print $2 " // " code
}' "$tmp/cases.lst" >"$tmp/golden"
mv "$tmp/golden" "asm/$arch/testdata/$arch.golden"
wc -l "asm/$arch/testdata/$arch.golden"
