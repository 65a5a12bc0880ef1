package decoder

import (
	"hash/maphash"
	"math/bits"
)

// nameSet finds the second of two equal export names. A module may have tens
// of thousands of long ones; a Go map of them took most of the time that
// decoding did.
type nameSet struct {
	seed maphash.Seed
	// slots is a hash table with open addressing, at most half full. A slot has
	// the upper half of the name's hash and, in its lower half, one more than
	// the export's index; 0 is empty.
	slots []uint64
}

// newNameSet makes a set for n names.
func newNameSet(n int) nameSet {
	return nameSet{maphash.MakeSeed(), make([]uint64, 2<<bits.Len(uint(n)))}
}

// add enters the name of the next export behind those before it, or reports
// that one of them has it.
func (s *nameSet) add(name string, before []Export) bool {
	h := maphash.String(s.seed, name)
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		e := s.slots[i]
		if e == 0 {
			s.slots[i] = h&^(1<<32-1) | uint64(len(before)+1)
			return true
		}
		if (e^h)>>32 == 0 && before[uint32(e)-1].Name == name {
			return false
		}
	}
}
