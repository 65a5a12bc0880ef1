package liftoff

import "github.com/wasmjit/wasmjit/asm/arm64"

// What a linker needs to know of a direct call's field (Code.CallSites).

// Callee gives the function index in the field of a call that isn't linked
// yet; ok is false if the field can't be one.
func Callee(a Arch, field uint32) (fn uint32, ok bool) {
	if a == ARM64 {
		return arm64.CallTarget(field)
	}
	return field, true
}

// LinkCall gives the field of a call whose callee is distance bytes away from
// the field's start. ok is false beyond the reach: 2 GiB on amd64, 128 MiB on
// arm64.
func LinkCall(a Arch, distance int64) (field uint32, ok bool) {
	if a == ARM64 {
		return arm64.LinkCall(distance)
	}
	// The processor counts from the field's end.
	rel := distance - 4
	return uint32(rel), rel == int64(int32(rel))
}

// FarCallee gives the function index in the two words of a far call
// (Options.FarCalls) that isn't linked yet; ok is false if they can't be one.
func FarCallee(first, second uint32) (fn uint32, ok bool) { return arm64.FarCallTarget(first, second) }

// LinkFarCall gives the two words of the far call at an address whose callee
// is at target. ok is false beyond 4 GiB.
func LinkFarCall(first, second uint32, at, target uint64) (newFirst, newSecond uint32, ok bool) {
	return arm64.LinkFarCall(first, second, at, target)
}
