// Package codemem owns the memory that machine code lives in: one reserved
// arena of address space per process, a Space in it per module, chunks of a
// space per compiling worker, and the only way to write into them, the
// WriteScope.
//
// The life of a space:
//
//	NewSpace   address space is taken from the arena and mapped once,
//	           writable and not executable (Mode Seal)
//	NewChunk   a worker gets a piece of it by one atomic operation, with the
//	           scope that may write this piece and nothing else
//	Close      the scope ends; what nobody owns in its chunk becomes traps
//	Seal       one mprotect makes the used span executable and read-only for
//	           good; the unused rest goes back to the arena
//	Free       everything goes back, address space and pages
//
// So a module costs one mprotect, whatever the number of its functions and of
// the workers that compiled them. Three invariants hold in mode Seal:
//
//   - no page is ever writable and executable at once, and an executable page
//     never becomes writable again;
//   - every byte of an executable page is code that was placed there or a trap
//     instruction: no zero bytes, no data;
//   - published bytes can't be written through any scope: a scope's range lies
//     in a space that is not sealed, and closing it is final.
//
// Every system call the package issues is counted, for the space and for the
// process.
package codemem
