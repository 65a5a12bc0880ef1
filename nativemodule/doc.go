// Package nativemodule turns a decoded module into published machine code and
// keeps it: the parallel compile job, placing and linking functions, the
// lookup from a code address to a function, positions and lifetimes. It knows
// nothing of instances; code that two instances share is the same code.
//
// A compile has three phases with a barrier between them:
//
//	compile   workers take batches of functions, biggest first, from one
//	          cursor; each compiles with its own liftoff.Compiler and copies
//	          the finished function once into its own chunk, its direct
//	          calls linked whose callees have their places by then
//	link      each worker resolves the other calls of the functions that it
//	          placed and closes its write scopes
//	publish   the space is sealed (one mprotect), then the module is entered
//	          into the process's index of code addresses
//
// Nothing is shared on the way but the cursor, the lowest failure and two
// arrays, of which each worker writes the elements of its own functions. Nothing
// is allocated per function.
//
// Code that may be replaced (Options.Live), and code in the modes that repeat
// V8's pipelines, is published through slots instead: a worker gathers finished
// functions in batches and takes each through four entry points that have their
// write scope as a parameter (slots.go): add a batch, add each of its
// functions, patch the jump table, and later free what was replaced. One
// goroutine publishes at a time, the others append to what it has to do.
//
// A Patcher replaces functions of a live module while others run them. Slots
// are patched by one store each, so a caller meets the old code or the new one.
// Replaced code stays, and Lookup finds it, until every Reader that might be in
// it has left; then Free gives it up. Its addresses aren't used again while the
// module lives.
//
// The Ledger of a compile sets the mprotects on code beside what the mode's
// pipeline must cost.
//
// The outcome doesn't depend on the number of workers: the failure reported is
// that of the lowest function index. After a failure the functions below it
// are still compiled, those above are skipped.
package nativemodule
