package amd64

// Ud2 raises an invalid-opcode exception.
func (a *Asm) Ud2() { a.put(0x0b0f, 2) }

// Int3 is the breakpoint instruction.
func (a *Asm) Int3() { a.put(0xcc, 1) }

// nops are the vendors' recommended instructions of 1 to 9 bytes that do
// nothing (Intel SDM volume 2, NOP), less the last byte, 0, of the longest.
var nops = [10]uint64{
	1: 0x90,
	2: 0x9066,
	3: 0x001f0f,
	4: 0x00401f0f,
	5: 0x0000441f0f,
	6: 0x0000441f0f66,
	7: 0x00000000801f0f,
	8: 0x0000000000841f0f,
	9: 0x00000000841f0f66,
}

// Nop fills n bytes with as few instructions as it takes.
func (a *Asm) Nop(n int) {
	for ; n >= 9; n -= 9 {
		a.put(nops[9], 8)
		a.put(0, 1)
	}
	if n > 0 {
		a.put(nops[n], uint64(n))
	}
}

// RepMovsb copies rcx bytes from [rsi] to [rdi].
func (a *Asm) RepMovsb() { a.put(0xa4f3, 2) }

// RepMovsq copies rcx times 8 bytes from [rsi] to [rdi].
func (a *Asm) RepMovsq() { a.put(0xa548f3, 3) }

// RepStosb stores al rcx times at [rdi].
func (a *Asm) RepStosb() { a.put(0xaaf3, 2) }

// RepStosq stores rax rcx times at [rdi].
func (a *Asm) RepStosq() { a.put(0xab48f3, 3) }

// Std makes string instructions run downwards.
func (a *Asm) Std() { a.put(0xfd, 1) }

// Cld makes string instructions run upwards.
func (a *Asm) Cld() { a.put(0xfc, 1) }

// Mfence orders all earlier loads and stores before all later ones.
func (a *Asm) Mfence() { a.put(0xf0ae0f, 3) }

// Lfence waits for all earlier instructions.
func (a *Asm) Lfence() { a.put(0xe8ae0f, 3) }

// Pause is the hint for the body of a spin loop.
func (a *Asm) Pause() { a.put(0x90f3, 2) }
