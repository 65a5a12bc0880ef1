#!/usr/bin/env bash
# Compares the mprotects that wasmjit counts with what strace and perf see of
# the same processes, in every mode of write protection. They must be equal, to
# the call. Futex calls of whole processes stand beside those counted in the
# phases, which begin a little later and end a little earlier.
#
# Usage: scripts/check-counters.sh [FILE]    (WORKERS="1 4", MODES="seal fine")
#
# Without FILE a synthetic module is compiled. strace stops every thread at each
# call, so the number of switches with several workers is another one than
# without it; both columns are of the same process.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
wasmjit=${WASMJIT:-bin/wasmjit}
modes=${MODES:-off fine hoisted seal dual pku}
workers=${WORKERS:-1 2 8}
module=("${1:---synthetic=unity:5000}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
counted() { field "$1" <"$work/stats"; }
compile() { "$@" "$wasmjit" compile --stats=json --progress=never "--write-protect-code-memory=$mode" "-j$j" "${module[@]}" >"$work/stats" 2>"$work/err"; }
have() { command -v "$1" >/dev/null || { echo "no $1 here: not compared with it" >&2; return 1; }; }

failed=0
printf '%-8s %7s  %-6s %10s %10s  %10s %10s\n' mode workers by mprotect counted futex counted
line() {
	local verdict=''
	if [ "$2" != "$3" ]; then verdict='  DIFFERS' failed=1; fi
	printf '%-8s %7s  %-6s %10s %10s  %10s %10s%s\n' "$mode" "$j" "$1" "$2" "$3" "$4" "$5" "$verdict"
}
strace=0 perf=0
have strace && strace=1
have perf && perf stat -e syscalls:sys_enter_mprotect true 2>/dev/null && perf=1
for mode in $modes; do
	for j in $workers; do
		if ! compile env; then
			printf '%-8s %7s  not here: %s\n' "$mode" "$j" "$(cat "$work/err")"
			break
		fi
		if [ $strace = 1 ]; then
			compile strace -f -qq -o "$work/log" -e trace=mprotect,futex
			line strace "$(grep -cE '^[0-9]+ +mprotect\(' "$work/log" || true)" "$(counted mprotect_issued)" \
				"$(grep -cE '^[0-9]+ +futex\(' "$work/log" || true)" "$(counted futex)"
		fi
		if [ $perf = 1 ]; then
			compile perf stat -x, -o "$work/perf" -e syscalls:sys_enter_mprotect,syscalls:sys_enter_futex
			line perf "$(sed -n 's/^\([0-9]*\),.*enter_mprotect.*/\1/p' "$work/perf")" "$(counted mprotect_issued)" \
				"$(sed -n 's/^\([0-9]*\),.*enter_futex.*/\1/p' "$work/perf")" "$(counted futex)"
		fi
	done
done
[ $failed = 0 ] || { echo "the counters lie" >&2; exit 1; }
