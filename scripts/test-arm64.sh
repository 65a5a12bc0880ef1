#!/usr/bin/env bash
# Runs the tests that execute compiled code on arm64, under qemu-user: the
# binaries are cross-built, so it works on any Linux host. Needs the package
# qemu-user.
#
# What it proves is that code means the right thing. An emulator keeps no
# instruction cache and orders memory as the host does, and its timings say
# nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
export CGO_ENABLED=0

# The emulator keeps a record for every page that a process has reserved, for
# good. Within 256 GiB of address space that stays below 2 GB.
emulator="qemu-aarch64 -R 0x4000000000"
if [ "$(uname -m)" = aarch64 ]; then
	emulator=
fi
export WASMJIT_TEST_EMULATOR=$emulator

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# run PACKAGE [test flags]: the tests of a package.
run() {
	local package=$1 name
	shift
	name=$(basename "$package")
	echo "--- $package $*"
	# From within the package, which may be of a nested module.
	(cd "$package" &&
		GOOS=linux GOARCH=arm64 go test -c -o "$tmp/$name" . &&
		time $emulator "$tmp/$name" -test.timeout=30m "$@")
}

# The same module gives the same code whatever the host and the number of
# workers: small programs always, real modules where make corpus has been (the
# largest would take the emulator minutes).
modules=(testdata/run/{interp,nbody,regex,sha256}.wasm)
for module in "$dest"/*.wasm; do
	[ -f "$module" ] && [ "$(wc -c <"$module")" -lt 40000000 ] && modules+=("$module")
done
echo "--- --dump-code on both hosts"
go build -o "$tmp/host" ./cmd/wasmjit
GOOS=linux GOARCH=arm64 go build -o "$tmp/arm64" ./cmd/wasmjit
for target in linux/amd64 linux/arm64; do
	for module in "${modules[@]}"; do
		dump() { "$@" --target=$target --cpu=baseline --progress=never --dump-code="$tmp/code" "$module" >/dev/null && sha256sum <"$tmp/code"; }
		want=$(dump "$tmp/host" compile -j1) && got=$(dump $emulator "$tmp/arm64" compile -j2)
		[ "$want" = "$got" ] || { echo "$module for $target: other code on arm64" >&2; exit 1; }
	done
done

run asm/arm64
run liftoff -test.skip 'TestSize|TestReach' # compile only: the same on any host
# The skipped ones ask the kernel for what the emulator doesn't do.
run codemem -test.skip 'PlaceDiffers|Denied|Forbidden|Kills|ThousandSpaces|SystemError'
run nativemodule -test.run 'Liftoff(ARM64|Positions|LowestError)'
# The skipped ones open and close a thousand memories, which takes minutes.
run runtime -test.skip 'OpenClose|CloseConcurrently'
# wasi isn't here: it is the same Go code on any host, and the emulator has no
# openat2. Programs that use it are.
run internal/runset
# These run the command, not the compiler in the test binary; those that take
# modules of make corpus are skipped without them.
if [ -n "$emulator" ]; then
	echo "--- internal/programs"
	go test -count=1 ./internal/programs
fi
# The modules that damage makes are compiled and not run, and the reference
# interpreter is the same on any host.
run internal/matrix -test.skip 'CompileDamaged|.*/reference|.*/.*/reference'
# A script of the specification's may hold seventy memories at once: too many
# reservations for the emulator. Guarded memories are the matrix's.
export WASMJIT_TEST_BOUNDS=explicit
run spectest/wazero -test.run Liftoff
run internal/spectest -test.run Suite
