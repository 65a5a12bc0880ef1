//go:build linux

package runtime_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
	"github.com/wasmjit/wasmjit/runtime"
)

// binary is a module that exports div, which prints its arguments and divides
// them.
func binary() []byte {
	m := wasmtest.New()
	two := []decoder.Type{decoder.I32, decoder.I32}
	m.ImportFunc("env", "print", m.Type(two, nil))
	var c wasmtest.Code
	c.Get(0).Get(1).Call(0).Get(0).Get(1).Op(0x6d)
	m.Func("div", m.Type(two, two[:1]), nil, c)
	return m.Bytes()
}

// Decode, compile, instantiate and call.
func Example() {
	ctx := context.Background()
	store, err := runtime.NewStore(runtime.Config{BoundsAuto: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	decoded, err := decoder.Decode(binary())
	if err != nil {
		fmt.Println(err)
		return
	}
	module, err := nativemodule.Compile(ctx, decoded, nativemodule.Options{
		Liftoff: liftoff.Options{CPU: liftoff.HostCPU(), Bounds: store.Bounds()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer module.Close()

	print, err := store.WrapFunc(func(a, b int32) { fmt.Println("dividing", a, "by", b) })
	if err != nil {
		fmt.Println(err)
		return
	}
	instance, err := store.Instantiate(ctx, module, runtime.Imports{"env": {"print": print}})
	if err != nil {
		fmt.Println(err)
		return
	}
	results, err := instance.Call(ctx, "div", 42, 6)
	fmt.Println(results, err)

	_, err = instance.Call(ctx, "div", 1, 0)
	var trap *runtime.Trap
	if errors.As(err, &trap) {
		fmt.Println(trap.Kind, "in", trap.Frames[0].FuncName)
	}
	// Output:
	// dividing 42 by 6
	// [7] <nil>
	// dividing 1 by 0
	// integer divide by zero in div
}
