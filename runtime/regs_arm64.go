package runtime

// Registers in nativeFault.Regs and ctxBlock.savedGP, by hardware number.
const (
	savedRegs    = 32
	memRegNumber = 26
	ctxRegNumber = 27
	fpNumber     = 29
	lrNumber     = 30
	spNumber     = 31
)

var regNames = [savedRegs]string{
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
	"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "fp", "lr", "sp",
}

// returnAddress gives the caller's address at the first instruction of a
// function: it is in the link register.
func (f *nativeFault) returnAddress(*nativeStack) (uintptr, bool) {
	return uintptr(f.Regs[lrNumber]), true
}
