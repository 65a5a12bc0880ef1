package amd64

import "golang.org/x/sys/cpu"

// Features lists the instruction-set extensions that generated code may use.
// The zero value is the x86-64 baseline, which has SSE2 and nothing listed
// here.
type Features struct {
	Popcnt bool
	Lzcnt  bool
	BMI1   bool // tzcnt
	BMI2   bool // shlx, shrx, sarx, rorx
	SSSE3  bool
	SSE41  bool // roundss, roundsd, blendvps, blendvpd
	SSE42  bool
	AVX    bool
	AVX2   bool
	FMA    bool
	ERMS   bool // fast rep movsb and rep stosb
}

// Detect gives the features of the CPU this process runs on, and the baseline
// on another architecture.
func Detect() Features {
	x := &cpu.X86
	return Features{
		Popcnt: x.HasPOPCNT,
		Lzcnt:  x.HasLZCNT,
		BMI1:   x.HasBMI1,
		BMI2:   x.HasBMI2,
		SSSE3:  x.HasSSSE3,
		SSE41:  x.HasSSE41,
		SSE42:  x.HasSSE42,
		AVX:    x.HasAVX,
		AVX2:   x.HasAVX2,
		FMA:    x.HasFMA,
		ERMS:   x.HasERMS,
	}
}
