// Package attack tries to change code after it was published, in every way
// that a stray write or a hijacked thread of the same process has, and tells
// what the kernel made of it.
//
// Each attempt is made by a child process, which compiles a small module in
// one of code memory's modes, calls it, attacks it and looks whether the code
// changed. Most of the attempts end the child, as they should.
//
// The attacks are the rows of a table; tests hold the table of what is
// expected of each mode against it, and wasmjit doctor --prove prints it.
package attack
