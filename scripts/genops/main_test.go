package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/wasmjit/wasmjit/internal/optable"
)

const root = "../.."

// TestUpToDate fails when a generated file was edited or the table changed
// without go generate.
func TestUpToDate(t *testing.T) {
	rows, err := optable.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outputs {
		want, err := generate(rows, o.emit)
		if err != nil {
			t.Fatalf("%s: %v", o.path, err)
		}
		have, err := os.ReadFile(filepath.Join(root, o.path))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, want) {
			t.Errorf("%s is out of date: run go generate ./decoder", o.path)
		}
	}
}

func TestPackSig(t *testing.T) {
	r := optable.Row{Class: "rtcall", Pops: "aaa"}
	if s := packSig(&r); s != "0xeb248" {
		t.Errorf("three addresses pack to %s", s)
	}
}
