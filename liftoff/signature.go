package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// signature is where the parameters and results of a function type travel,
// worked out once per compiler: calls are too frequent to do it again.
type signature struct {
	params  []travel
	results []travel
	inCells int // stack cells of the parameters
	cells   int // stack cells of parameters and results
}

// travel is where one value travels: in reg, or if that is noReg in a stack
// cell.
type travel struct {
	reg  reg
	cell uint16
}

// newSignatures gives the signatures of the module's types.
func newSignatures(types []decoder.FuncType) []signature {
	sigs := make([]signature, len(types))
	n := 0
	for i := range types {
		n += len(types[i].Params) + len(types[i].Results)
	}
	all := make([]travel, 0, n)
	var locs []ABILoc
	take := func(l []ABILoc) []travel {
		from := len(all)
		for _, at := range l {
			all = append(all, travel{argReg(at), at.Index})
		}
		return all[from:len(all):len(all)]
	}
	for i := range types {
		s := &sigs[i]
		locs, s.inCells = AssignParams(locs[:0], types[i].Params)
		s.params = take(locs)
		locs, s.cells = AssignResults(locs[:0], types[i].Results, s.inCells)
		s.results = take(locs)
	}
	return sigs
}

// argReg is the register of an argument location, or noReg for a stack cell.
func argReg(l ABILoc) reg {
	switch l.Kind {
	case ABIGP:
		return gpArgs[l.Index]
	case ABIFP:
		return fpBase + reg(l.Index)
	}
	return noReg
}
