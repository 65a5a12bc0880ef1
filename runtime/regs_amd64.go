package runtime

// Registers in nativeFault.Regs and ctxBlock.savedGP, by hardware number.
const (
	savedRegs    = 16
	memRegNumber = 3 // rbx
	spNumber     = 4
	fpNumber     = 5
	ctxRegNumber = 15
)

var regNames = [savedRegs]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// returnAddress gives the caller's address at the first instruction of a
// function: it is on top of the stack.
func (f *nativeFault) returnAddress(s *nativeStack) (uintptr, bool) {
	ret, ok := s.word(f.SP)
	return uintptr(ret), ok
}
