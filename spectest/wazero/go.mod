module github.com/wasmjit/wasmjit/spectest/wazero

go 1.26.0

require (
	github.com/tetratelabs/wazero v1.12.0
	github.com/wasmjit/wasmjit v0.0.0
)

require golang.org/x/sys v0.50.0 // indirect

replace github.com/wasmjit/wasmjit => ../..
