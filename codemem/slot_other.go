//go:build !arm64

package codemem

import (
	"encoding/binary"
	"math"
)

const (
	// trapByte fills what no function owns. On amd64 it is int3.
	trapByte = 0xcc
	// slotTrap is a slot that leads nowhere.
	slotTrap uint64 = 0xcccccccc_cccccccc
)

// A slot on amd64: jmp rel32 and three traps.
const (
	jumpOpcode = 0xe9
	jumpSize   = 5
)

// slotJump gives the content of the slot at an address that jumps to target,
// or false beyond the 2 GiB that a jmp reaches.
func slotJump(at, target uintptr) (word uint64, ok bool) {
	rel := int64(target) - int64(at) - jumpSize
	b := [SlotSize]byte{0: jumpOpcode, 5: trapByte, 6: trapByte, 7: trapByte}
	binary.LittleEndian.PutUint32(b[1:], uint32(rel))
	return binary.LittleEndian.Uint64(b[:]), math.MinInt32 <= rel && rel <= math.MaxInt32
}

// slotTarget is where the slot at an address leads to, 0 if it is a trap.
func slotTarget(at uintptr, word uint64) uintptr {
	if byte(word) != jumpOpcode {
		return 0
	}
	return at + jumpSize + uintptr(int32(word>>8))
}

// syncSlot has nothing to do: these processors keep instruction fetch coherent
// with stores.
func syncSlot(uintptr) {}
