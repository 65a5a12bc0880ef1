package main

import (
	"encoding/json"
	goruntime "runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/liftoff"
)

// versionInfo is the answer of version --json. Schema grows when a field
// changes its meaning.
type versionInfo struct {
	Schema   int             `json:"schema"`
	Version  string          `json:"version"`
	Commit   string          `json:"commit,omitempty"`
	Modified bool            `json:"modified"`
	Go       string          `json:"go"`
	Host     string          `json:"host"`
	Targets  []string        `json:"targets"`
	CPU      map[string]bool `json:"cpu"`
	Features []string        `json:"features"`
}

func about() versionInfo {
	c := liftoff.HostCPU()
	v := versionInfo{
		Schema:  1,
		Version: version,
		Go:      goruntime.Version(),
		Host:    goruntime.GOOS + "/" + goruntime.GOARCH,
		Targets: []string{"linux/amd64", "linux/arm64"},
		CPU:     map[string]bool{"popcnt": c.Popcnt, "lzcnt": c.Lzcnt, "bmi1": c.BMI1, "bmi2": c.BMI2},
		Features: []string{"mutable-globals", "sign-extension", "saturating-float-to-int", "multi-value",
			"bulk-memory", "reference-types", "extended-const"},
	}
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	return v
}

func newVersion(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the targets and the features",
		Example: `  wasmjit version
  wasmjit version --json`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			v := about()
			if asJSON {
				e := json.NewEncoder(s.out)
				e.SetIndent("", "  ")
				return e.Encode(v)
			}
			commit := v.Commit
			if len(commit) > 12 {
				commit = commit[:12]
			}
			if commit != "" && v.Modified {
				commit += ", modified"
			}
			if commit != "" {
				commit = " (" + commit + ")"
			}
			printf(s.out, "wasmjit %s%s %s %s\n", v.Version, commit, v.Host, v.Go)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}
