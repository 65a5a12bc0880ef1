// Package synth builds WebAssembly modules with the shape of a real Unity
// build, for benchmarks and demonstrations on machines that have none.
//
// The sizes of the bodies follow the quantiles of a shipped game (44,721
// functions, 15.1 MB of code), and so do the shares of the opcodes, the
// depth of nesting and the number of locals. Equal options give equal bytes
// on every machine and with every release of Go: the package has its own
// random numbers.
//
// The modules aren't only valid but runnable: addresses are masked into the
// memory, loops are counted, divisors are not zero, and each function that
// calls others first takes one unit of a global fuel, so that the exported
// function run ends. Its checksum depends only on the module. To keep that
// true the bits of a float never reach an integer: f32 and f64 values have
// parts of the memory of their own, since the payload of a NaN is not
// determined.
package synth
