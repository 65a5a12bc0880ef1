package runtime

import (
	"context"
	"fmt"
	"math"
	"reflect"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

// HostFunc is a Go function that WebAssembly code can call. The parameters
// stand in stack, one uint64 each: integers zero-extended, floats as their
// bits, references as Store.FuncOf and Store.ExternValue understand them (two
// for a v128). The function writes its results over them, from stack[0].
// stack must not be kept.
//
// caller is the calling instance, whose memory the function may use; nil when
// Go code called the function. ctx is derived from the context of the call
// into WebAssembly; calls back into the store should use it, since they then
// run on the same native stack and are cancelled with it.
//
// An error ends the WebAssembly code that called and comes out of Func.Call
// as it is, so that errors.Is and errors.As find it. A panic unwinds through
// Func.Call.
type HostFunc func(ctx context.Context, caller *Instance, stack []uint64) error

// NewFunc makes a host function of type t, which belongs to the store and can
// be imported by its instances. It panics in a closed store.
func (s *Store) NewFunc(t decoder.FuncType, fn HostFunc) *Func {
	if !s.life.enter() {
		panic("runtime: NewFunc: " + errStoreClosed.Error())
	}
	defer s.life.leave()
	f := &Func{store: s, sig: s.signature(&t), host: fn, entry: hostEntry()}
	// The block with its header, and the record behind it.
	alloc := s.blocks.alloc
	if s.locked {
		alloc = s.fixed.alloc
	}
	block, err := alloc(liftoff.InstHeader + liftoff.RecSize)
	if err != nil {
		panic("runtime: NewFunc: " + err.Error())
	}
	f.block = block
	f.record = block + liftoff.InstHeader
	storeWord(block+liftoff.InstID, s.handles.add(&object{host: f}))
	fillRecord(f.record, f.entry, f.block, f.sig.id, 0)
	return f
}

var (
	typeContext  = reflect.TypeFor[context.Context]()
	typeInstance = reflect.TypeFor[*Instance]()
	typeError    = reflect.TypeFor[error]()
	typeFunc     = reflect.TypeFor[*Func]()
	typeAny      = reflect.TypeFor[any]()
)

// valueType is the WebAssembly type of a Go parameter or result.
func valueType(t reflect.Type) (decoder.Type, bool) {
	switch t {
	case typeFunc:
		return decoder.FuncRef, true
	case typeAny:
		return decoder.ExternRef, true
	}
	switch t.Kind() {
	case reflect.Int32, reflect.Uint32:
		return decoder.I32, true
	case reflect.Int64, reflect.Uint64:
		return decoder.I64, true
	case reflect.Float32:
		return decoder.F32, true
	case reflect.Float64:
		return decoder.F64, true
	}
	return decoder.Bot, false
}

// WrapFunc makes a host function of a Go function, whose type gives the
// WebAssembly type: int32 and uint32 are i32, int64 and uint64 i64, float32
// f32, float64 f64, *Func funcref, and any externref. The parameters may begin
// with a context.Context and a *Instance (the caller), in this order, and the
// results may end with an error; see HostFunc for all three. Anything else is
// an error.
//
// Calls go through reflection; NewFunc is several times faster. A NaN may
// lose its signalling bit on the way through a Go float.
func (s *Store) WrapFunc(fn any) (*Func, error) {
	v := reflect.ValueOf(fn)
	if v.Kind() != reflect.Func || v.IsNil() {
		return nil, fmt.Errorf("host function is %T, not a function", fn)
	}
	t := v.Type()
	if t.IsVariadic() {
		return nil, fmt.Errorf("host function %s is variadic", t)
	}
	var ft decoder.FuncType
	lead := 0
	withCtx := t.NumIn() > lead && t.In(lead) == typeContext
	if withCtx {
		lead++
	}
	withCaller := t.NumIn() > lead && t.In(lead) == typeInstance
	if withCaller {
		lead++
	}
	for n := lead; n < t.NumIn(); n++ {
		vt, ok := valueType(t.In(n))
		if !ok {
			return nil, fmt.Errorf("host function %s: parameter %d has type %s, which is no WebAssembly type", t, n, t.In(n))
		}
		ft.Params = append(ft.Params, vt)
	}
	results := t.NumOut()
	withErr := results > 0 && t.Out(results-1) == typeError
	if withErr {
		results--
	}
	for n := range results {
		vt, ok := valueType(t.Out(n))
		if !ok {
			return nil, fmt.Errorf("host function %s: result %d has type %s, which is no WebAssembly type", t, n, t.Out(n))
		}
		ft.Results = append(ft.Results, vt)
	}

	call := func(ctx context.Context, caller *Instance, stack []uint64) error {
		in := make([]reflect.Value, 0, t.NumIn())
		if withCtx {
			in = append(in, reflect.ValueOf(&ctx).Elem())
		}
		if withCaller {
			in = append(in, reflect.ValueOf(caller))
		}
		for n := range ft.Params {
			in = append(in, s.goValue(t.In(lead+n), stack[n]))
		}
		out := v.Call(in)
		if withErr {
			if err, _ := out[results].Interface().(error); err != nil {
				return err
			}
		}
		for n := range results {
			stack[n] = s.wasmValue(out[n])
		}
		return nil
	}
	return s.NewFunc(ft, call), nil
}

// goValue converts a WebAssembly value to the Go type t.
func (s *Store) goValue(t reflect.Type, bits uint64) reflect.Value {
	v := reflect.New(t).Elem()
	switch t {
	case typeFunc:
		return reflect.ValueOf(s.FuncOf(bits))
	case typeAny:
		if x := s.ExternValue(bits); x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return v
	}
	switch t.Kind() {
	case reflect.Int32:
		v.SetInt(int64(int32(bits)))
	case reflect.Int64:
		v.SetInt(int64(bits))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(bits)
	case reflect.Float32:
		v.SetFloat(float64(math.Float32frombits(uint32(bits))))
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(bits))
	}
	return v
}

// wasmValue converts a Go value to a WebAssembly value.
func (s *Store) wasmValue(v reflect.Value) uint64 {
	switch v.Type() {
	case typeFunc:
		return s.FuncRef(v.Interface().(*Func))
	case typeAny:
		if v.IsNil() {
			return 0
		}
		return s.NewExternRef(v.Interface())
	}
	switch v.Kind() {
	case reflect.Int32:
		return uint64(uint32(v.Int()))
	case reflect.Int64:
		return uint64(v.Int())
	case reflect.Float32:
		return uint64(math.Float32bits(float32(v.Float())))
	case reflect.Float64:
		return math.Float64bits(v.Float())
	}
	return v.Uint()
}
