//go:build !amd64 && !arm64

package runtime

// No code runs on other processors; these stand in for their registers.
const (
	savedRegs    = 1
	memRegNumber = 0
)

var regNames [savedRegs]string

func (f *nativeFault) returnAddress(*nativeStack) (uintptr, bool) { return 0, false }
