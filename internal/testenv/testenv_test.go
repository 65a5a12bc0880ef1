package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFromEnv(t *testing.T) {
	all := []string{Registers, Reference, Bounds, CPU, Workers, Programs}
	for _, x := range []struct {
		name, value string
		want        Mode
		ok          bool
	}{
		{Registers, "", Mode{Workers: 1}, true},
		{Registers, "3", Mode{Workers: 1, FewRegisters: true}, true},
		{Registers, "4", Mode{}, false},
		{Reference, "1", Mode{Workers: 1, Reference: true}, true},
		{Reference, "yes", Mode{}, false},
		{Bounds, "explicit", Mode{Workers: 1, ExplicitBounds: true}, true},
		{Bounds, "none", Mode{}, false},
		{CPU, "baseline", Mode{Workers: 1, BaselineCPU: true}, true},
		{CPU, "386", Mode{}, false},
		{Workers, "7", Mode{Workers: 7}, true},
		{Workers, "0", Mode{}, false},
		{Programs, "9", Mode{Workers: 1, Programs: 9}, true},
	} {
		for _, v := range all {
			t.Setenv(v, "")
		}
		t.Setenv(x.name, x.value)
		m, err := FromEnv()
		if (err == nil) != x.ok || x.ok && m != x.want {
			t.Errorf("%s=%s: %+v, %v", x.name, x.value, m, err)
		}
	}
}

func TestRoot(t *testing.T) {
	if _, err := os.Stat(filepath.Join(Root(), "go.mod")); err != nil {
		t.Error(err)
	}
}
