package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// v8Flag is what a flag of V8 means here.
type v8Flag struct {
	flag  string // this program's flag; "" if it has no effect
	value string // the value it stands for; "" takes the user's
	// refuse is why the flag can't be honoured; ignoring it would answer
	// another question than was asked.
	refuse string
}

// v8Flags has V8's names (with dashes) that aren't ours with a wasm- prefix.
// The names without effect turn off what wasmjit doesn't have.
var v8Flags = map[string]v8Flag{
	"wasm-num-compilation-tasks":  {flag: "jobs"},
	"single-threaded":             {flag: "jobs", value: "1"},
	"wasm-max-committed-code-mb":  {flag: "max-code-mb"},
	"wasm-max-code-space-size-mb": {flag: "max-code-mb"},
	"wasm-max-code-space":         {flag: "max-code-mb"},

	"wasm-enforce-bounds-checks":    {flag: "bounds", value: "explicit"},
	"no-wasm-enforce-bounds-checks": {flag: "bounds", value: "guard"},

	"no-wasm-write-protect-code-memory": {flag: "write-protect-code-memory", value: "off"},
	"no-write-protect-code-memory":      {flag: "write-protect-code-memory", value: "off"},
	"wasm-memory-protection-keys":       {flag: "write-protect-code-memory", value: "pku"},
	"memory-protection-keys":            {flag: "write-protect-code-memory", value: "pku"},
	"force-memory-protection-keys":      {flag: "write-protect-code-memory", value: "pku"},
	"no-wasm-memory-protection-keys":    {},
	"no-memory-protection-keys":         {},

	"liftoff":                             {},
	"no-wasm-tier-up":                     {},
	"no-wasm-dynamic-tiering":             {},
	"no-wasm-lazy-compilation":            {},
	"no-wasm-lazy-validation":             {},
	"no-wasm-native-module-cache-enabled": {},

	"no-liftoff":            {refuse: "wasmjit has no other compiler"},
	"wasm-tier-up":          {refuse: "wasmjit has no second tier"},
	"wasm-dynamic-tiering":  {refuse: "wasmjit has no second tier"},
	"wasm-lazy-compilation": {refuse: "lazy compilation is not available yet"},
	"wasm-lazy-validation":  {refuse: "every function is validated before anything runs"},
	"no-wasm-bounds-checks": {refuse: "memory accesses are always checked; use --bounds=guard"},
	"no-wasm-stack-checks":  {refuse: "the stack is always checked"},
}

// translate gives the words that a flag stands for. Unknown flags come back
// as they are, for pflag to complain about.
func translate(flags *pflag.FlagSet, arg string) ([]string, error) {
	name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if !strings.HasPrefix(arg, "--") {
		// V8 takes one dash for long names too; ours with one letter stay.
		if len(name) < 2 || !isLong(flags, canonical(name)) {
			return []string{arg}, nil
		}
	}
	name = canonical(name)
	word := func(name, value string, hasValue bool) []string {
		if hasValue {
			return []string{"--" + name + "=" + value}
		}
		return []string{"--" + name}
	}
	if flags.Lookup(name) != nil {
		return word(name, value, hasValue), nil
	}
	if v, ok := v8Flags[name]; ok {
		switch {
		case v.refuse != "":
			return nil, usagef("--%s: %s", name, v.refuse)
		case v.flag == "":
			return nil, nil
		case v.value != "":
			return word(v.flag, v.value, true), nil
		}
		return word(v.flag, value, hasValue), nil
	}
	plain := strings.TrimPrefix(name, "wasm-")
	if flags.Lookup(plain) != nil {
		return word(plain, value, hasValue), nil
	}
	if no, ok := strings.CutPrefix(name, "no-"); ok && !hasValue {
		no = strings.TrimPrefix(no, "wasm-")
		if f := flags.Lookup(no); f != nil && f.Value.Type() == "bool" {
			return word(no, "false", true), nil
		}
	}
	return word(name, value, hasValue), nil
}

func canonical(name string) string { return strings.ReplaceAll(name, "_", "-") }

// isLong reports whether name is a long flag in either spelling.
func isLong(flags *pflag.FlagSet, name string) bool {
	if _, ok := v8Flags[name]; ok || flags.Lookup(name) != nil {
		return true
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "no-"), "wasm-")
	return flags.Lookup(plain) != nil
}
