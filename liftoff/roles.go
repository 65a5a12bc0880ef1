package liftoff

// Registers are known by their roles. Roles are numbered like the registers of
// amd64 that play them, so that target costs nothing to consult; arm64 maps
// them (armGP). abi.go has the table.
const (
	roleArg0    reg = 0
	roleArg1    reg = 1
	roleArg2    reg = 2
	memReg      reg = 3 // base of memory 0
	roleExtra0  reg = 4 // rsp on amd64
	roleExtra1  reg = 5 // rbp on amd64
	roleArg3    reg = 6
	roleScratch reg = 7
	rolePin0    reg = 8 // to 13
	instReg     reg = 14
	ctxReg      reg = 15

	// scratchReg carries no argument and is clobbered by a call.
	scratchReg = roleScratch
	resultGP   = roleArg0
	resultFP   = fpBase
)

// gpArgs are the integer argument registers in order.
var gpArgs = [NumGPArgs]reg{roleArg0, roleArg1, roleArg2, roleArg3}

// pinGP and pinFP are the callee-saved registers, in the order in which
// locals are pinned to them.
var (
	pinGP = [...]reg{rolePin0, rolePin0 + 1, rolePin0 + 2, rolePin0 + 3, rolePin0 + 4, rolePin0 + 5}
	pinFP = [...]reg{fpBase + 8, fpBase + 9, fpBase + 10, fpBase + 11, fpBase + 12, fpBase + 13, fpBase + 14, fpBase + 15}
)

const (
	// callerGP and callerFP are the allocatable registers of every target,
	// all caller-saved.
	callerGP regSet = 1<<roleArg0 | 1<<roleArg1 | 1<<roleArg2 | 1<<roleArg3 | 1<<roleScratch
	callerFP regSet = 0xff << fpBase
	// fewGP and fewFP are what the few-registers mode leaves.
	fewGP regSet = 1<<roleArg0 | 1<<roleArg1 | 1<<roleArg2
	fewFP regSet = 7 << fpBase
)

// extraGP are the further allocatable registers of a target.
var extraGP = [...]regSet{AMD64: 0, ARM64: 1<<roleExtra0 | 1<<roleExtra1}

// instSlot is the frame offset of the function's own instance.
const instSlot = -8
