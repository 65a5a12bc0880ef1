package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/wasmjit/wasmjit/codemem"
)

// codeCalls are the system calls on code memory, counted where they are
// issued. In JSON each kind has its calls, bytes of address space and ns.
type codeCalls struct{ codemem.Counters }

// callKind is a kind of call: its name in JSON and in the table, where
// always says that it has a column even if nobody made such a call.
type callKind struct {
	json, title string
	always      bool
	of          func(c *codemem.Counters) *codemem.Counter
}

var callKinds = []callKind{
	{"mprotect_to_rw", "mprotect to RW", true, func(c *codemem.Counters) *codemem.Counter { return &c.MprotectRW }},
	{"mprotect_to_rx", "to RX", true, func(c *codemem.Counters) *codemem.Counter { return &c.MprotectRX }},
	{"mprotect_other", "to RWX or other", false, func(c *codemem.Counters) *codemem.Counter { return &c.MprotectOther }},
	{"mprotect_view", "of a view", false, func(c *codemem.Counters) *codemem.Counter { return &c.MprotectView }},
	{"pkey_mprotect", "pkey_mprotect", false, func(c *codemem.Counters) *codemem.Counter { return &c.PkeyMprotect }},
	{"mmap", "mmap", true, func(c *codemem.Counters) *codemem.Counter { return &c.Mmap }},
	{"munmap", "munmap", false, func(c *codemem.Counters) *codemem.Counter { return &c.Munmap }},
	{"madvise", "madvise", false, func(c *codemem.Counters) *codemem.Counter { return &c.Madvise }},
	{"memfd", "memfd", false, func(c *codemem.Counters) *codemem.Counter { return &c.Memfd }},
	{"membarrier", "membarrier", false, func(c *codemem.Counters) *codemem.Counter { return &c.Membarrier }},
	{"mseal", "mseal", false, func(c *codemem.Counters) *codemem.Counter { return &c.Mseal }},
}

// callCost is what calls of one kind cost.
type callCost struct {
	Calls int64 `json:"calls"`
	Bytes int64 `json:"bytes"`
	Ns    int64 `json:"ns"`
}

// MarshalJSON writes every kind, in the order of the table.
func (c codeCalls) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, k := range callKinds {
		n := k.of(&c.Counters)
		cost, err := json.Marshal(callCost{n.Calls, n.Bytes, n.Ns})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%c%q:%s", "{,"[min(i, 1)], k.json, cost)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *codeCalls) UnmarshalJSON(b []byte) error {
	costs := map[string]callCost{}
	if err := json.Unmarshal(b, &costs); err != nil {
		return err
	}
	for _, k := range callKinds {
		n := costs[k.json]
		*k.of(&c.Counters) = codemem.Counter{Calls: n.Calls, Bytes: n.Bytes, Ns: n.Ns}
	}
	return nil
}
