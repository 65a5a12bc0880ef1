package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wasmjit/wasmjit/internal/measure"
	"github.com/wasmjit/wasmjit/internal/runset"
)

// report is what the JSON file holds.
type report struct {
	Schema  int               `json:"schema"`
	Machine measure.Machine   `json:"machine"`
	Engines map[string]string `json:"engines"`
	Rounds  int               `json:"rounds"`
	Compile []*compileRow     `json:"compile"`
	Run     []*runRow         `json:"run"`
	// Missing says why an engine or a measurement isn't there.
	Missing []string `json:"missing,omitempty"`
}

// compileRow is a module with the samples of each engine; key is ENGINE/1 or
// ENGINE/all, for one thread or all cores.
type compileRow struct {
	Module    string              `json:"module"`
	CodeBytes int64               `json:"code_section_bytes"`
	Samples   map[string][]sample `json:"samples"`
	Emitted   map[string]int64    `json:"emitted_bytes"`
}

// runRow is a program with the samples of each engine.
type runRow struct {
	Program string              `json:"program"`
	Samples map[string][]sample `json:"samples"`
}

func (r *report) miss(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, m := range r.Missing {
		if m == text {
			return
		}
	}
	r.Missing = append(r.Missing, text)
	fmt.Fprintln(os.Stderr, "benchpeers:", text)
}

// compiles measures every picked module. In each round the engines take turns,
// and each round starts with another one.
func (r *report) compiles(o *options, t *tools) error {
	rows, err := r.corpus(o)
	if err != nil {
		return err
	}
	for _, row := range rows {
		file := filepath.Join(o.corpus, row.Module+".wasm")
		kinds := r.kinds(o, t, row)
		for round := range o.rounds {
			for i := range kinds {
				k := kinds[(i+round)%len(kinds)]
				fmt.Fprintf(os.Stderr, "%s %s, round %d\n", row.Module, k.key(), round+1)
				s, err := t.compile(k.engine, file, k.threads)
				if err != nil {
					if k.engine == wasmjit {
						return err
					}
					r.miss("%s: %v", row.Module, err)
					continue
				}
				row.Samples[k.key()] = append(row.Samples[k.key()], s)
				if s.CodeBytes > 0 {
					row.Emitted[k.engine] = s.CodeBytes
				}
			}
		}
		for _, e := range []string{liftoffV8, spidermonkey} {
			if len(row.Samples[e+"/1"]) == 0 {
				continue
			}
			n, err := t.size(e, file)
			if err != nil {
				r.miss("%s: size of %s's code: %v", row.Module, e, err)
				continue
			}
			row.Emitted[e] = n
		}
		r.Compile = append(r.Compile, row)
	}
	return nil
}

// kind is an engine with a number of threads, 0 for all cores.
type kind struct {
	engine  string
	threads int
}

func (k kind) key() string {
	if k.threads == 0 {
		return k.engine + "/all"
	}
	return k.engine + "/" + strconv.Itoa(k.threads)
}

func (r *report) kinds(o *options, t *tools, row *compileRow) []kind {
	engines := []string{wasmjit}
	if t.node != "" {
		engines = append(engines, liftoffV8)
	} else {
		r.miss("V8: no node given")
	}
	if t.js != "" {
		engines = append(engines, spidermonkey)
	} else {
		r.miss("SpiderMonkey: no shell given; Debian's libmozjs-102-dev has js102")
	}
	if float64(row.CodeBytes) <= o.wazeroMB*1e6 {
		engines = append(engines, wazeroEngine)
	} else {
		r.miss("wazero: %s is over -wazero-max-mb", row.Module)
	}
	var kinds []kind
	for _, threads := range []int{1, 0} {
		for _, e := range engines {
			kinds = append(kinds, kind{e, threads})
		}
	}
	return kinds
}

// corpus reads the module list and keeps what was picked and is there.
func (r *report) corpus(o *options) ([]*compileRow, error) {
	text, err := os.ReadFile(filepath.Join(o.root, "testdata", "corpus.tsv"))
	if err != nil {
		return nil, err
	}
	var rows []*compileRow
	for line := range strings.Lines(string(text)) {
		f := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || len(f) < 5 || !picked(o.modules, f[0]) {
			continue
		}
		if !exists(filepath.Join(o.corpus, f[0]+".wasm")) {
			if o.modules != "" {
				return nil, fmt.Errorf("%s is not in %s; scripts/corpus.sh %s gets it", f[0], o.corpus, f[0])
			}
			continue
		}
		n, err := strconv.ParseInt(f[4], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("size of %s in the module list: %w", f[0], err)
		}
		rows = append(rows, &compileRow{f[0], n, map[string][]sample{}, map[string]int64{}})
	}
	return rows, nil
}

// runs measures the run set; an engine that prints something else than the
// table says ends it.
func (r *report) runs(o *options, t *tools) error {
	programs, err := runset.List(o.root)
	if err != nil {
		return err
	}
	engines := []string{wasmjit, wazeroEngine}
	if t.node != "" {
		engines = []string{wasmjit, liftoffV8, turbofan, wazeroEngine}
	}
	for _, p := range programs {
		if !picked(o.programs, p.Name) {
			continue
		}
		file := filepath.Join(o.root, p.Module())
		if p.Go() {
			file = filepath.Join(o.goModules, p.Name+".wasm")
			if !exists(file) {
				r.miss("%s: not built; scripts/build-run.sh --go", p.Name)
				continue
			}
		}
		row := &runRow{p.Name, map[string][]sample{}}
		for round := range o.rounds {
			for i := range engines {
				e := engines[(i+round)%len(engines)]
				fmt.Fprintf(os.Stderr, "%s %s, round %d\n", p.Name, e, round+1)
				s, out, err := t.run(e, file)
				if err != nil {
					return err
				}
				if out != p.Full {
					return fmt.Errorf("%s printed %q under %s, want %q", p.Name, out, e, p.Full)
				}
				row.Samples[e] = append(row.Samples[e], s)
			}
		}
		r.Run = append(r.Run, row)
	}
	return nil
}
