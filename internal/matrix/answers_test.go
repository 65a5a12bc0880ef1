package matrix

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/refinterp"
	"github.com/wasmjit/wasmjit/internal/testenv"
)

var update = flag.Bool("update", false, "ask node for testdata/matrix/answers.json.gz again")

// TestAnswers holds the reference interpreter's numeric functions against
// the recorded answers of another engine.
func TestAnswers(t *testing.T) {
	rows, err := Rows()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		record(t, rows)
	}
	a, err := readAnswers()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for i := range rows {
		r := &rows[i]
		operands, _, ok := r.Numeric()
		if !ok {
			continue
		}
		in := inputs(operands)
		if sig := signature(operands); a.Inputs[sig] != strings.Join(formatInputs(operands), ", ") {
			t.Fatalf("the edge values of %s have changed: run go test ./internal/matrix -run TestAnswers -update", sig)
		}
		answers := strings.Fields(a.Answers[r.Name])
		if len(answers) != len(in) {
			t.Errorf("%s: %d recorded answers for %d inputs", r.Name, len(answers), len(in))
			continue
		}
		for k, args := range in {
			total++
			if msg := compareAnswer(r.Op, args, answers[k]); msg != "" {
				t.Errorf("%s(%x): %s", r.Name, args, msg)
			}
		}
	}
	t.Logf("%d answers of %s", total, a.Engine)
}

func compareAnswer(op uint32, args []uint64, answer string) string {
	want, trap := refinterp.Numeric(op, args[0], args[len(args)-1])
	if trap != "" || answer == "trap" {
		if trap == "" || answer != "trap" {
			return fmt.Sprintf("recorded %s, the interpreter says trap %q", answer, trap)
		}
		return ""
	}
	got, err := strconv.ParseUint(answer, 16, 64)
	if err != nil || !refinterp.Accepts(op, want, got, args...) {
		return fmt.Sprintf("recorded %s, the interpreter says %x", answer, want)
	}
	return ""
}

// record asks node for all answers.
func record(t *testing.T, rows []Row) {
	type op struct {
		Name   string   `json:"name"`
		File   string   `json:"file"`
		Wide   []bool   `json:"wide"`
		Inputs []string `json:"inputs"`
	}
	dir := t.TempDir()
	var ops []op
	a := &Answers{Inputs: map[string]string{}}
	for i := range rows {
		r := &rows[i]
		operands, _, ok := r.Numeric()
		if !ok {
			continue
		}
		o := op{Name: r.Name, File: fmt.Sprintf("%x.wasm", r.Op), Inputs: formatInputs(operands)}
		for _, t := range operands {
			o.Wide = append(o.Wide, bitsType(t) == decoder.I64)
		}
		ops = append(ops, o)
		a.Inputs[signature(operands)] = strings.Join(o.Inputs, ", ")
		if err := os.WriteFile(filepath.Join(dir, o.File), question(r), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(ops)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ops.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(testenv.Root(), "scripts", "matrix-answers.mjs")
	if out, err := exec.Command("node", script, dir).CombinedOutput(); err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	text, err = os.ReadFile(filepath.Join(dir, "answers.json"))
	if err == nil {
		err = json.Unmarshal(text, a)
	}
	if err == nil {
		err = a.write()
	}
	if err != nil {
		t.Fatal(err)
	}
}
