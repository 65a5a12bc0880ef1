package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"github.com/wasmjit/wasmjit/internal/measure"
)

// slopeCell is a generated module in one mode, without collections of garbage.
type slopeCell struct {
	Functions int    `json:"functions"`
	Pipeline  string `json:"pipeline"`
	Workers   int    `json:"workers"`
	// Idle is set when there were more processors than workers.
	Idle    bool     `json:"idle"`
	Samples []sample `json:"samples"`
}

// slopeSamples is a count per cell; the median of three is free of one
// outlier.
const slopeSamples = 3

// slope measures futexes by the number of functions. GOGC=off, since each
// collection wakes threads, and a larger module needs more of them.
func (r *report) slope(o *options, t *tools) error {
	if o.slope == "-" {
		return nil
	}
	sizes, err := numbers(o.slope)
	if err != nil {
		return fmt.Errorf("-slope: %w", err)
	}
	var files []string
	for _, n := range sizes {
		f, err := os.Create(t.dir + "/" + strconv.Itoa(n) + ".wasm")
		if err != nil {
			return err
		}
		cmd := exec.Command(t.wasmjit, "synthesize", "unity:"+strconv.Itoa(n))
		cmd.Stdout, cmd.Stderr = f, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("module of %d functions: %w", n, err)
		}
		if err := f.Close(); err != nil {
			return err
		}
		files = append(files, f.Name())
		defer func() { _ = os.Remove(f.Name()) }()
	}
	cells := map[slopeKey]*slopeCell{}
	for range slopeSamples {
		for i, n := range sizes {
			for _, w := range r.Workers {
				for j := range t.pipelines {
					p := &t.pipelines[j]
					if p.Name != offLinked && p.Name != seal {
						continue
					}
					for _, idle := range []bool{false, true} {
						if idle && w >= r.Machine.Cores {
							continue
						}
						key := slopeKey{n, p.Name, w, idle}
						if cells[key] == nil {
							cells[key] = &slopeCell{Functions: n, Pipeline: p.Name, Workers: w, Idle: idle}
							r.Slope = append(r.Slope, cells[key])
						}
						s, err := t.withoutCollections(p, files[i], w, idle)
						if err != nil {
							return err
						}
						cells[key].Samples = append(cells[key].Samples, s)
					}
				}
			}
		}
	}
	return nil
}

type slopeKey struct {
	functions int
	pipeline  string
	workers   int
	idle      bool
}

// withoutCollections takes a sample with GOGC=off and, unless one shall be
// idle, no more processors than workers.
func (t *tools) withoutCollections(p *pipeline, file string, workers int, idle bool) (sample, error) {
	cmd := exec.Command(t.wasmjit, compileArgs(p, file, workers)...)
	cmd.Env = append(os.Environ(), "GOGC=off")
	if !idle {
		cmd.Env = append(cmd.Env, "GOMAXPROCS="+strconv.Itoa(min(workers, runtime.NumCPU())))
	}
	out, err := measure.Output(cmd)
	if err != nil {
		return sample{}, err
	}
	return parseStats(out)
}

// leastSquares is the slope of the line through the points.
func leastSquares(x, y []float64) float64 {
	var mx, my float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(x))
	}
	var xy, xx float64
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
	}
	return xy / xx
}
