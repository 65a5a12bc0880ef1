package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
	"github.com/wasmjit/wasmjit/runtime"
	"github.com/wasmjit/wasmjit/wasi"
)

// sample is one measurement, as every engine's process prints it.
type sample struct {
	WallNS    int64 `json:"wall_ns"`
	CPUNS     int64 `json:"cpu_ns"` // of all threads
	PeakRSS   int64 `json:"rss_peak,omitempty"`
	CodeBytes int64 `json:"code_bytes,omitempty"`
}

// child runs one measurement of a Go engine in this process and prints the
// sample; a guest's output comes before it.
func child(args []string) error {
	if len(args) < 3 {
		return errors.New("child ENGINE compile|run FILE [WORKERS|ARGS...]")
	}
	bin, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	ctx := context.Background()
	var s sample
	switch args[0] + " " + args[1] {
	case "wazero compile":
		workers := 1
		if len(args) > 3 {
			if workers, err = strconv.Atoi(args[3]); err != nil {
				return err
			}
		}
		s, err = wazeroCompile(experimental.WithCompilationWorkers(ctx, workers), bin)
	case "wazero run":
		s, err = wazeroRun(ctx, bin, args[2:])
	case "wasmjit run":
		s, err = wasmjitRun(ctx, bin, args[2:])
	default:
		return fmt.Errorf("no measurement %q", args[0]+" "+args[1])
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

// timed measures f: wall time and the processor time of the whole process.
func timed(f func() error) (s sample, err error) {
	start, cpu := time.Now(), cpuTime()
	err = f()
	s.WallNS, s.CPUNS = time.Since(start).Nanoseconds(), cpuTime()-cpu
	return s, err
}

func cpuTime() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return r.Utime.Nano() + r.Stime.Nano()
}

func wazeroCompile(ctx context.Context, bin []byte) (sample, error) {
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
	before, err := executable()
	if err != nil {
		return sample{}, err
	}
	var m wazero.CompiledModule
	s, err := timed(func() (err error) {
		m, err = r.CompileModule(ctx, bin)
		return err
	})
	if err != nil {
		return s, err
	}
	after, err := executable()
	if err != nil {
		return s, err
	}
	s.CodeBytes = after - before
	s.PeakRSS = peak()
	return s, m.Close(ctx)
}

func wazeroRun(ctx context.Context, bin []byte, args []string) (sample, error) {
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return sample{}, err
	}
	m, err := r.CompileModule(ctx, bin)
	if err != nil {
		return sample{}, err
	}
	c := wazero.NewModuleConfig().WithArgs(args...).WithStdout(os.Stdout).WithStderr(os.Stderr).WithSysNanotime().WithSysWalltime().WithStartFunctions()
	inst, err := r.InstantiateModule(ctx, m, c)
	if err != nil {
		return sample{}, err
	}
	s, err := timed(func() error {
		_, err := inst.ExportedFunction("_start").Call(ctx)
		return err
	})
	var exit *sys.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 0 {
		err = nil
	}
	s.PeakRSS = peak()
	return s, err
}

func wasmjitRun(ctx context.Context, bin []byte, args []string) (sample, error) {
	store, err := runtime.NewStore(runtime.Config{BoundsAuto: true})
	if err != nil {
		return sample{}, err
	}
	d, err := decoder.Decode(bin)
	if err != nil {
		return sample{}, err
	}
	m, err := nativemodule.Compile(ctx, d, nativemodule.Options{
		Workers: 1,
		Liftoff: liftoff.Options{Arch: liftoff.AMD64, CPU: liftoff.HostCPU(), Bounds: store.Bounds()},
	})
	if err != nil {
		return sample{}, err
	}
	system, err := wasi.New(wasi.Config{Args: args, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		return sample{}, err
	}
	inst, err := store.Instantiate(ctx, m, system.Imports(store))
	if err != nil {
		return sample{}, err
	}
	s, err := timed(func() error {
		_, err := inst.Call(ctx, "_start")
		return err
	})
	var exit *wasi.ExitError
	if errors.As(err, &exit) && exit.Code == 0 {
		err = nil
	}
	s.PeakRSS = peak()
	return s, err
}

// peak is the process's highest resident size in bytes. VmHWM and not
// getrusage: that one also counts the parent as it was at the fork.
func peak() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// executable is the size in bytes of the anonymous executable mappings: the
// way to a size of code that wazero doesn't tell, rounded up to pages.
func executable() (int64, error) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	var total int64
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 5 || !strings.Contains(f[1], "x") {
			continue
		}
		var lo, hi int64
		if _, err := fmt.Sscanf(f[0], "%x-%x", &lo, &hi); err != nil {
			return 0, err
		}
		total += hi - lo
	}
	return total, lines.Err()
}
