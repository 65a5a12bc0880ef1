// Command scopelint checks how code memory is written. It is a tool for the go
// command: go vet -vettool=scopelint ./...
//
// It automates the recipe of the change that this project began with: find the
// write scope that is opened in a loop, move it up the call chain out of the
// loop, hand it down as a parameter, and look at every caller.
//
// Two things are reported:
//
//   - a write scope of package codemem that is opened inside a loop, at once or
//     through functions of the same package that are called there. Under a mode
//     that switches permissions each of them costs two mprotects of all code;
//   - code memory written without a scope that was passed as a parameter: a
//     write through a scope that the function took from a field, a variable of
//     the package or anywhere else but its parameters and its own opening, or
//     past any scope, through an address that package codemem or nativemodule
//     gave.
//
// A line that says why, with //scopelint:ok and a reason, is not reported; in
// the comment above a function it vouches for all its openings. One without a
// reason, or that excuses nothing, is reported itself. Tests are not checked:
// they misuse scopes on purpose.
package main

import "golang.org/x/tools/go/analysis/unitchecker"

func main() { unitchecker.Main(analyzer) }
