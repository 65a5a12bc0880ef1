package syscount

import (
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkCost measures what counting costs: a counted call, a call that
// isn't counted, opening, reading and closing. The filter of seccomp can't be
// taken away, so it comes last.
func BenchmarkCost(b *testing.B) {
	calls := func(b *testing.B) {
		word := new(uint32)
		b.Run("futex", func(b *testing.B) {
			for b.Loop() {
				wake(word)
			}
		})
		b.Run("getpid", func(b *testing.B) {
			for b.Loop() {
				unix.RawSyscall(unix.SYS_GETPID, 0, 0, 0)
			}
		})
	}
	read := func(b *testing.B, c *Counter) {
		b.Run("read", func(b *testing.B) {
			for b.Loop() {
				if _, err := c.Read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("off", calls)
	b.Run("perf", func(b *testing.B) {
		c, err := OpenPerf()
		if err != nil {
			b.Skip(err)
		}
		calls(b)
		read(b, c)
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
		b.Run("open", func(b *testing.B) {
			for b.Loop() {
				c, err := OpenPerf()
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := c.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
		b.Run("open+close", func(b *testing.B) {
			for b.Loop() {
				c, err := OpenPerf()
				if err != nil {
					b.Fatal(err)
				}
				if err := c.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("seccomp", func(b *testing.B) {
		c, err := OpenSeccomp()
		if err != nil {
			b.Skip(err)
		}
		calls(b)
		read(b, c)
	})
}
