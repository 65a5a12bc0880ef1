// Package doctor finds out what this machine lets wasmjit do, and why not: the
// system calls and processor features that code memory, memories, counters and
// WASI rely on.
//
// Nothing is concluded from version numbers where it can be tried. What can't
// be undone or could end the process is tried in children.
package doctor
