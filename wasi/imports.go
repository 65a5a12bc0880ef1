//go:build linux

package wasi

import (
	"context"

	"github.com/wasmjit/wasmjit/runtime"
)

// Imports returns the functions as host functions of the store, under
// wasi_snapshot_preview1 and wasi_unstable. They work on the memory that the
// calling instance exports as "memory"; without one every address is EFAULT.
func (w *System) Imports(store *runtime.Store) runtime.Imports {
	preview1 := make(map[string]runtime.Extern, len(functions))
	unstable := make(map[string]runtime.Extern, len(functions))
	for i := range functions {
		f := &functions[i]
		fn := w.host(store, f, f.run)
		preview1[f.name] = fn
		switch {
		case f.name == "sock_accept":
		case f.unstable != nil:
			unstable[f.name] = w.host(store, f, f.unstable)
		default:
			unstable[f.name] = fn
		}
	}
	return runtime.Imports{modulePreview1: preview1, moduleUnstable: unstable}
}

func (w *System) host(store *runtime.Store, f *function, run implementation) *runtime.Func {
	return store.NewFunc(f.signature(), func(ctx context.Context, caller *runtime.Instance, stack []uint64) error {
		var mem []byte
		if caller != nil {
			if m := caller.Memory("memory"); m != nil {
				mem = m.Bytes()
			}
		}
		return w.call(ctx, run, mem, stack)
	})
}
