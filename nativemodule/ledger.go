package nativemodule

import (
	"fmt"
	"time"

	"github.com/wasmjit/wasmjit/codemem"
)

// Ledger sets the mprotects on code that the mode's pipeline needs beside
// those that were counted, term by term. With one worker and one range of code
// they are equal, to the call; with more workers of a switching mode scopes
// overlap, and code stays writable instead of being switched.
type Ledger struct {
	Mode codemem.Mode
	// Formula is the prediction in terms of N functions, B batches added, P
	// publications (one worker: as many) and the constant c.
	Formula string
	// Functions, Batches and Publications are N, B and P.
	Functions, Batches, Publications int64
	// Constant is c: of making the jump table.
	Constant int64
	Terms    []Term
	// Predicted and Counted are the sums; Counted is what the space issued,
	// whether a term accounts for it or not.
	Predicted, Counted int64
	// Exact says that the prediction holds to the call; Note why not.
	Exact bool
	Note  string
	// HotBySwitches and HotByTime name the openers with the most switches and
	// with the most time in them, "" if there were none.
	HotBySwitches, HotByTime string
	// HotSwitches and HotTime are their figures.
	HotSwitches int64
	HotTime     time.Duration
}

// Term is one term of a ledger.
type Term struct {
	Name      string // e.g. "2N"
	Opener    string // whose scopes it is about
	What      string // "switches" or "commits"
	Predicted int64
	Counted   int64
}

// tableConstant is c: one call makes the pages of the jump table accessible,
// one more ends its scope. Its opening switches nothing, as there is no code.
const tableConstant = 2

// makeLedger accounts for the compile that just ended.
func (m *Module) makeLedger() Ledger {
	s := &m.stats
	l := Ledger{
		Mode:         m.space.Mode(),
		Functions:    m.published.Load(),
		Batches:      m.batches.Load(),
		Publications: m.publications.Load(),
		Counted:      m.space.Counters().OnCode(),
		Exact:        true,
	}
	accounts := make(map[string]codemem.Account)
	for _, a := range s.Accounts {
		accounts[a.Opener] = a
		if n := a.Switches + a.Commits; n > l.HotSwitches {
			l.HotBySwitches, l.HotSwitches = a.Opener, n
		}
		if a.Switching > l.HotTime {
			l.HotByTime, l.HotTime = a.Opener, a.Switching
		}
	}
	term := func(name, opener, what string, predicted int64) {
		counted := accounts[opener].Switches
		if what == "commits" {
			counted = accounts[opener].Commits
		}
		l.Terms = append(l.Terms, Term{name, opener, what, predicted, counted})
		l.Predicted += predicted
	}
	switch mode := l.Mode; mode {
	case codemem.Fine, codemem.Hoisted:
		if m.numDefined() > 0 {
			l.Constant = tableConstant
		}
		if mode == codemem.Fine {
			l.Formula = "2N + 3B + c"
			term("2N", openerPatch, "switches", 2*l.Functions)
			term("2B", openerAdd, "switches", 2*l.Batches)
		} else {
			l.Formula = "2B + 2P + B + c (5B + c)"
			term("2B", openerAdd, "switches", 2*l.Batches)
			term("2P", openerPublish, "switches", 2*l.Publications)
		}
		term("B", openerAdd, "commits", l.Batches)
		table := accounts[codemem.TableOpener]
		l.Terms = append(l.Terms, Term{"c", codemem.TableOpener, "both", l.Constant, table.Switches + table.Commits})
		l.Predicted += l.Constant
		switch {
		case s.Workers > 1:
			l.Exact, l.Note = false, "scopes of several workers overlap: code stays writable, and is switched less often"
		case s.Spans > 1:
			l.Exact, l.Note = false, fmt.Sprintf("code lies in %d ranges, each switched on its own", s.Spans)
		}
	case codemem.Seal:
		l.Formula = "1 per range of code (at most 3)"
		term("1", openerSeal, "switches", int64(s.Spans))
	default:
		l.Formula = "0"
	}
	return l
}
