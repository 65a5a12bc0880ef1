// Package runtime runs compiled WebAssembly modules: it links and
// instantiates them, gives them memories, tables, globals and host functions,
// enters their code and turns faults into traps.
//
// A program decodes a module, compiles it for a store, instantiates it and
// calls it:
//
//	store, err := runtime.NewStore(runtime.Config{BoundsAuto: true})
//	...
//	defer store.Close()
//	decoded, err := decoder.Decode(bytes)
//	...
//	module, err := nativemodule.Compile(ctx, decoded, nativemodule.Options{
//		Liftoff: liftoff.Options{CPU: liftoff.HostCPU(), Bounds: store.Bounds()},
//	})
//	...
//	defer module.Close()
//	print, err := store.WrapFunc(func(n int32) { fmt.Println(n) })
//	...
//	instance, err := store.Instantiate(ctx, module, runtime.Imports{
//		"env": {"print": print},
//	})
//	...
//	results, err := instance.Call(ctx, "add", 2, 3)
//
// # Values
//
// A value is a uint64 in calls, globals and host functions: an i32 in the low
// half (zero-extended), the bits of a float, the address that stands for a
// function (Store.FuncRef, Store.FuncOf), the handle of an external Go value
// (Store.NewExternRef, Store.ExternValue). 0 is the null reference.
//
// # Running
//
// Compiled code runs on a native stack outside the Go heap, one per
// concurrent call, and leaves it for every piece of Go code: host functions,
// runtime routines such as memory.grow, the garbage collector's and the
// scheduler's wishes. An endless WebAssembly loop therefore stalls neither,
// and a context cancels it without polling.
//
// # Lifetimes
//
// Everything compiled code can reach lies outside the Go heap and is freed by
// Close, never by the garbage collector. An instance that nothing else can
// reach is freed by its own Close, any other by the store's; Instance.Close
// has the rule. A module is retained by its instances and may be closed right
// after Instantiate. Slices of Memory.Bytes end with the memory.
//
// # Faults
//
// A hardware fault in compiled code is a trap only if it is one of the
// compiler's trap instructions, or an access that a guest memory's or a native
// stack's guard stopped. Any other ends the process with a diagnosis; a fault
// in Go code stays Go's.
package runtime
