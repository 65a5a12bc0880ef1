package nativemodule

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/wasmjit/wasmjit/codemem"
)

func bytesAt(addr uintptr, n int) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), n)
}

// run calls code that follows Go's own register convention for a function
// func() int32: it uses a few words of stack and returns in eax.
func run(addr uintptr) uint32 {
	code := &struct{ pc uintptr }{addr}
	f := *(*func() uint32)(unsafe.Pointer(&code))
	return f()
}

// Linked code really runs, calls across chunks included.
func TestRun(t *testing.T) {
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		t.Skip("the fake compiler emits amd64 code")
	}
	dm := fakeModule(2, mixedSizes(5000)...)
	for _, o := range []Options{{Workers: 1}, {Workers: 4}, {Workers: 4, Protection: codemem.Off}} {
		o.Arena = testArena(t, 64<<20)
		m := mustBuild(t, dm, o, chain(dm))
		for fn := uint32(2); fn < 5002; fn += 13 {
			if got, want := run(m.Entry(fn)), chainResult(dm, fn); got != want {
				t.Fatalf("%+v: function %d gives %d, want %d", o, fn, got, want)
			}
		}
	}
}
