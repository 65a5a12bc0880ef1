//go:build linux

package wasi

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// TestRandomCalls calls every function with arguments that are often almost
// right. Nothing may panic or end the guest but proc_exit, and a result lies
// in the range of its type.
func TestRandomCalls(t *testing.T) {
	bothWays(t, func(t *testing.T, walk bool) {
		dir := t.TempDir()
		writeFile(t, dir, "f", "text")
		writeFile(t, dir, "d/f", "text")
		g := newGuest(t, Config{
			Args: []string{"a"}, Env: []string{"K=v"}, Clock: &fixedClock{}, MaxFiles: 64,
			Preopens: []Preopen{{Host: dir, Guest: "/"}},
		})
		g.setWalk(walk)
		g.mem = make([]byte, 1<<16)
		rnd := rand.New(rand.NewPCG(1, 2))
		// Paths of one to four bytes, and vectors of sane size.
		copy(g.mem[100:], "f\x00d/f/../d")
		for i := 200; i < 300; i += 8 {
			put32(g.mem[i:], uint32(rnd.IntN(1<<16)))
			put32(g.mem[i+4:], uint32(rnd.IntN(300)))
		}
		first := append([]byte(nil), g.mem...)
		pick := func() uint64 {
			switch rnd.IntN(9) {
			case 0:
				return uint64(rnd.IntN(3))
			case 1:
				return uint64(3 + rnd.IntN(8))
			case 2:
				return 1 << rnd.IntN(32)
			case 3:
				return 1<<16 - uint64(rnd.IntN(40))
			case 4:
				return uint64(100 + rnd.IntN(12))
			case 5:
				return uint64(200 + 8*rnd.IntN(8))
			case 6:
				return 1<<32 - 1 - uint64(rnd.IntN(20))
			case 7:
				return uint64(1000 + 8*rnd.IntN(100))
			}
			return uint64(1 + rnd.IntN(4))
		}
		answers := map[errno]int{}
		for n := range 30_000 {
			f := &functions[rnd.IntN(len(functions))]
			if f.name == "fd_allocate" {
				continue // it would fill the disk
			}
			args := make([]uint64, len(f.params)+1)
			for i := range f.params {
				if args[i] = pick(); f.params[i] == 'I' && rnd.IntN(3) == 0 {
					args[i] = rnd.Uint64()
				}
			}
			run := f.run
			if f.unstable != nil && rnd.IntN(2) == 0 {
				run = f.unstable
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			err := g.sys.call(ctx, run, g.mem, args)
			cancel()
			var exit *ExitError
			if err != nil && !(f.name == "proc_exit" && errors.As(err, &exit)) {
				t.Fatalf("call %d: %s%v ended the guest: %v", n, f.name, args, err)
			}
			if err == nil {
				if args[0] > uint64(errnoNotCapable) {
					t.Fatalf("call %d: %s returned %d", n, f.name, args[0])
				}
				answers[errno(args[0])]++
			}
			copy(g.mem[:400], first) // results may have fallen there
		}
		if answers[0] < 1000 || len(answers) < 12 {
			t.Errorf("the calls were not interesting enough: %v", answers)
		}
	})
}
