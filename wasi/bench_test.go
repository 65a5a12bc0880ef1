//go:build linux

package wasi

import (
	"os"
	"testing"
)

func benchGuest(b *testing.B) (*guest, func(name string, args ...uint64)) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := os.WriteFile(dir+"/f", []byte("text"), 0o666); err != nil {
		b.Fatal(err)
	}
	sys, err := New(Config{Stdout: null, Preopens: []Preopen{{Host: dir, Guest: "/"}}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { sys.Close(); null.Close() })
	g := &guest{sys: sys, mem: make([]byte, 1<<16)}
	stack := make([]uint64, 10)
	return g, func(name string, args ...uint64) {
		for i := range functions {
			if functions[i].name == name {
				copy(stack, args)
				if err := sys.call(b.Context(), functions[i].run, g.mem, stack); err != nil || stack[0] != 0 {
					b.Fatal(name, err, stack[0])
				}
			}
		}
	}
}

func BenchmarkClock(b *testing.B) {
	_, call := benchGuest(b)
	b.ReportAllocs()
	for b.Loop() {
		call("clock_time_get", uint64(clockMonotonic), 0, 64)
	}
}

func BenchmarkWriteNull(b *testing.B) {
	g, call := benchGuest(b)
	put32(g.mem[8:], 1024)
	put32(g.mem[12:], 512)
	b.ReportAllocs()
	for b.Loop() {
		call("fd_write", 1, 8, 1, 64)
	}
}

func BenchmarkOpenClose(b *testing.B) {
	g, call := benchGuest(b)
	g.mem[100] = 'f'
	b.ReportAllocs()
	for b.Loop() {
		call("path_open", preopenFd, 1, 100, 1, 0, uint64(rightFdRead), 0, 0, 64)
		call("fd_close", uint64(get32(g.mem[64:])))
	}
}

func BenchmarkStat(b *testing.B) {
	g, call := benchGuest(b)
	g.mem[100] = 'f'
	b.ReportAllocs()
	for b.Loop() {
		call("path_filestat_get", preopenFd, 1, 100, 1, 200)
	}
}
