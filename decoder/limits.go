package decoder

// Limits of this implementation. They are those that browsers share, so what
// they accept is accepted here, and what they refuse is no use elsewhere.
const (
	// MaxModuleSize is the largest module in bytes.
	MaxModuleSize = 1 << 30
	// MaxTypes, MaxFuncs and MaxGlobals bound the index spaces.
	MaxTypes   = 1_000_000
	MaxFuncs   = 1_000_000
	MaxGlobals = 1_000_000
	// MaxTables bounds the number of tables.
	MaxTables = 100_000
	// MaxImports, MaxExports and MaxDatas bound the sections' entries.
	MaxImports = 100_000
	MaxExports = 100_000
	MaxDatas   = 100_000
	// MaxElems bounds the number of element segments and MaxElemEntries the
	// entries of one.
	MaxElems       = 10_000_000
	MaxElemEntries = 10_000_000
	// MaxParams and MaxResults bound a function type.
	MaxParams  = 1_000
	MaxResults = 1_000
	// MaxBodySize is the largest function body in bytes.
	MaxBodySize = 7_654_321
	// MaxLocals is the largest number of locals, parameters included.
	MaxLocals = 50_000
	// MaxBrTable is the largest number of br_table targets, default excluded.
	MaxBrTable = 65_520
	// MaxTableSize is the largest number of entries of a table that can be
	// made. A module that declares a larger one is valid; the runtime refuses
	// to instantiate it.
	MaxTableSize = 10_000_000
	// MaxMemoryPages is the largest size of a 32-bit memory, in 64 KiB pages.
	MaxMemoryPages = 65_536
	// MaxOperands is the deepest operand stack between two opcodes. The specification has no
	// bound, but two bytes of code can push a thousand call results, so
	// without one memory would not be bounded by the module's size.
	MaxOperands = 1 << 17
)
