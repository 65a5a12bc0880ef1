package liftoff

import "github.com/wasmjit/wasmjit/decoder"

type Compiler struct{}

func newCompiler(m *decoder.Module, l *Layout, o Options) (*Compiler, error) {
	return &Compiler{}, nil
}

// Compile validates and compiles function fn (an index in the function index
// space, not an import). An invalid body gives a *decoder.Error.
func (c *Compiler) Compile(fn uint32) (*Code, error) { panic("liftoff: being written") }

// CompilePositions does the same and records positions.
func (c *Compiler) CompilePositions(fn uint32) (*Code, error) { panic("liftoff: being written") }
