package codemem

// Caches of instructions are not coherent with stores on arm64.

// syncRange is in icache_arm64.s.
func syncRange(lo, hi uintptr)

// syncCode makes the code in [lo, hi), which is mapped readable, visible to
// instruction fetch everywhere. The barrier is for processors that fetched
// something else from these addresses before and whose pipeline still has it.
func (s *Space) syncCode(lo, hi uintptr) {
	syncRange(lo, hi)
	s.Barrier()
}
