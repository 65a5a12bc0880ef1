// Package nativemodule has the names of the real one.
package nativemodule

type Module struct{ base uintptr }

func (m *Module) Entry(fn uint32) uintptr { return m.base }
