package codemem

const (
	// trapByte fills what no function owns: udf, with any immediate.
	trapByte = 0
	// slotTrap is a slot that leads nowhere: two brk, which a processor may
	// meet where it has just fetched a branch, and the other way round.
	slotTrap uint64 = 0xd4200000_d4200000
)

// slotJump gives the content of the slot at an address that jumps to target,
// a b and a brk, or false beyond the 128 MiB that a b reaches.
func slotJump(at, target uintptr) (word uint64, ok bool) {
	const reach = 1 << 27
	rel := int64(target) - int64(at)
	return slotTrap&^0xffffffff | 0x14000000 | uint64(rel>>2)&0x3ffffff, -reach <= rel && rel < reach && rel%4 == 0
}

// slotTarget is where the slot at an address leads to, 0 if it is a trap.
func slotTarget(at uintptr, word uint64) uintptr {
	if uint32(word)>>26 != 0x14000000>>26 {
		return 0
	}
	return at + uintptr(int64(int32(word<<6))>>4)
}

// syncSlot makes a patched slot visible to instruction fetch. A processor that
// doesn't notice yet runs the old code, which stays until the Barrier of those
// who free it.
func syncSlot(at uintptr) { syncRange(at, at+SlotSize) }
