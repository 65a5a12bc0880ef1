module github.com/wasmjit/wasmjit/scripts/benchpeers

go 1.26.8

require (
	github.com/tetratelabs/wazero v1.12.0
	github.com/wasmjit/wasmjit v0.0.0
)

require golang.org/x/sys v0.50.0 // indirect

replace github.com/wasmjit/wasmjit => ../..
