package main

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/wasmjit/wasmjit/nativemodule"
)

// ledgerStats is the JSON form of nativemodule.Ledger: the mprotects on code
// that the mode's pipeline needs beside those that were counted.
type ledgerStats struct {
	Mode         string       `json:"mode"`
	Publish      string       `json:"publish"`
	Formula      string       `json:"formula"`
	Functions    int64        `json:"n"` // published through slots
	Batches      int64        `json:"b"` // added
	Publications int64        `json:"p"` // of one or more batches
	Constant     int64        `json:"c"`
	Predicted    int64        `json:"predicted"`
	Counted      int64        `json:"counted"`
	Exact        bool         `json:"exact"` // the two must be equal
	Note         string       `json:"note,omitempty"`
	Terms        []ledgerTerm `json:"terms"`
	Hot          hotScope     `json:"hot_scope"`
}

type ledgerTerm struct {
	Name      string `json:"term"`
	Opener    string `json:"opener"`
	What      string `json:"what"`
	Predicted int64  `json:"predicted"`
	Counted   int64  `json:"counted"`
}

// hotScope names the openers with the most switches, and the most time in
// them; "" if there were none.
type hotScope struct {
	BySwitches string `json:"by_switches"`
	Switches   int64  `json:"switches"`
	ByTime     string `json:"by_time"`
	TimeNs     int64  `json:"time_ns"`
}

func newLedger(n *nativemodule.Stats, publish nativemodule.Publish) ledgerStats {
	l := n.Ledger
	s := ledgerStats{
		Mode: l.Mode.String(), Publish: publish.String(), Formula: l.Formula,
		Functions: l.Functions, Batches: l.Batches, Publications: l.Publications, Constant: l.Constant,
		Predicted: l.Predicted, Counted: l.Counted, Exact: l.Exact, Note: l.Note,
		Terms: []ledgerTerm{},
		Hot:   hotScope{l.HotBySwitches, l.HotSwitches, l.HotByTime, int64(l.HotTime)},
	}
	for _, t := range l.Terms {
		s.Terms = append(s.Terms, ledgerTerm(t))
	}
	return s
}

// write prints the ledger term by term, and names the hot scope.
func (l *ledgerStats) write(w io.Writer) {
	t := newTable(w, "mprotects on code", "predicted", "counted")
	for _, term := range l.Terms {
		what := term.What
		if what == "both" {
			what = "switches and commits"
		}
		t.AppendRow(table.Row{sprintf("%s: %s of %s", term.Name, what, term.Opener), thousands(term.Predicted), thousands(term.Counted)})
	}
	t.AppendSeparator()
	t.AppendRow(table.Row{"sum, " + l.Mode + ": " + l.Formula, thousands(l.Predicted), thousands(l.Counted)})
	t.Render()
	if l.Publish == nativemodule.PublishSlots.String() {
		printf(w, "N = %s functions, B = %s batches added, P = %s publications, c = %d\n",
			thousands(l.Functions), thousands(l.Batches), thousands(l.Publications), l.Constant)
	}
	if l.Note != "" {
		printf(w, "not exact: %s\n", l.Note)
	}
	if l.Hot.BySwitches != "" {
		printf(w, "hot scope by switches: %s (%s), by time: %s (%s ms)\n",
			l.Hot.BySwitches, thousands(l.Hot.Switches), l.Hot.ByTime, ms(l.Hot.TimeNs))
	}
}
