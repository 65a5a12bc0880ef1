// Package codemem owns the memory that machine code lives in: one reserved
// arena of address space per process, a Space in it per module, chunks of a
// space, and the only way to write into them, the WriteScope.
//
// The life of a space whose code is compiled ahead:
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
// the workers that compiled them.
//
// Code that is patched later (SpaceOptions.Patched) has a jump table, at whose
// slots every call goes, and is written through the scopes that V8's pipelines
// had, at the same places: Open and Reserve for a batch, Open and PatchSlot to
// publish it, Open and FreeCode to free what was replaced. Publish ends the
// first fill; the space is then live until Seal or Free.
//
// What a mode does at each of these moments is decided by its policy and
// nowhere else. These invariants hold:
//
//   - in modes Seal and Dual no page of code is ever writable and executable
//     at once, all views of it counted, and bytes that were published never
//     change. The one exception are the pages of the jump table in a live
//     space of mode Dual, while a scope for publishing is open;
//   - every byte of an executable page is code that was placed there, a slot,
//     or a trap instruction: no zero bytes, no data. In mode Dual replaced
//     code stays until nothing else is on its page;
//   - published bytes can't be written through any scope, but for slots, whose
//     target must be finished code of the space, and for code that is freed,
//     which becomes traps.
//
// Every system call the package issues is counted, for the space and for the
// process; what is writable, and for how long, is added up as Exposure.
package codemem
