package spectest

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/wasmjit/wasmjit/internal/wast"
)

// Entry is a line of the list: a run of neighbouring commands of a script
// that all fail for one proposal. Since a run is unbroken and its commands
// are counted by kind, every assertion in it stays accounted for.
type Entry struct {
	File        string
	First, Last int // script lines of the first and last command
	Counts      map[string]int
	Proposal    string
	Reason      string
}

// key compares what one line of the list may cover.
func (e *Entry) key() string { return e.File + "\x00" + e.Proposal + "\x00" + e.Reason }

func (e *Entry) String() string {
	at := strconv.Itoa(e.First)
	if e.Last != e.First {
		at += "-" + strconv.Itoa(e.Last)
	}
	ops := make([]string, 0, len(e.Counts))
	for op, n := range e.Counts {
		ops = append(ops, fmt.Sprintf("%d %s", n, op))
	}
	// By name, so that the text is the same on every run.
	slices.SortFunc(ops, func(a, b string) int {
		return strings.Compare(a[strings.IndexByte(a, ' '):], b[strings.IndexByte(b, ' '):])
	})
	return fmt.Sprintf("%s:%s: %s: %s: %s", e.File, at, strings.Join(ops, ", "), e.Proposal, e.Reason)
}

// Entries makes the list's lines for a file.
func Entries(f *File) []Entry {
	var list []Entry
	var run *Entry
	for i := range f.Outcomes {
		o := &f.Outcomes[i]
		if o.Status != wast.Failed {
			run = nil
			continue
		}
		e := Entry{File: f.Name, First: o.Command.Line, Last: o.Command.Line, Proposal: f.Proposal(o), Reason: Reason(o)}
		if run == nil || run.key() != e.key() {
			e.Counts = map[string]int{}
			list = append(list, e)
			run = &list[len(list)-1]
		}
		run.Last = o.Command.Line
		run.Counts[o.Command.Op]++
	}
	return list
}

// ReadList reads a list; lines starting with # are comments.
func ReadList(r io.Reader) (map[string][]Entry, error) {
	list := map[string][]Entry{}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		e, err := parseEntry(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		list[e.File] = append(list[e.File], e)
	}
	return list, sc.Err()
}

func parseEntry(line string) (Entry, error) {
	bad := fmt.Errorf("expected file:lines: counts: proposal: reason, found %q", line)
	file, rest, ok1 := strings.Cut(line, ":")
	at, rest, ok2 := strings.Cut(rest, ": ")
	ops, rest, ok3 := strings.Cut(rest, ": ")
	proposal, reason, ok4 := strings.Cut(rest, ": ")
	if !ok1 || !ok2 || !ok3 || !ok4 || proposal == "" {
		return Entry{}, bad
	}
	e := Entry{File: file, Counts: map[string]int{}, Proposal: proposal, Reason: reason}
	first, last, isRange := strings.Cut(at, "-")
	if !isRange {
		last = first
	}
	var err1, err2 error
	e.First, err1 = strconv.Atoi(first)
	e.Last, err2 = strconv.Atoi(last)
	if err1 != nil || err2 != nil {
		return Entry{}, bad
	}
	for _, op := range strings.Split(ops, ", ") {
		n, name, ok := strings.Cut(op, " ")
		count, err := strconv.Atoi(n)
		if !ok || err != nil {
			return Entry{}, bad
		}
		e.Counts[name] = count
	}
	return e, nil
}

// Compare holds a file's outcomes against its lines of the list and gives a
// complaint for each difference.
func Compare(f *File, want []Entry) []string {
	var complaints []string
	covered := make([]*Entry, len(f.Outcomes))
	for i := range want {
		e := &want[i]
		counts := map[string]int{}
		for j := range f.Outcomes {
			c := f.Outcomes[j].Command
			if c.Line >= e.First && c.Line <= e.Last {
				counts[c.Op]++
				covered[j] = e
			}
		}
		// Text-only commands inside a range would make it uncountable.
		for op, n := range counts {
			if e.Counts[op] != n {
				complaints = append(complaints, fmt.Sprintf("%s:%d-%d: the list counts %d %s, the script has %d", f.Name, e.First, e.Last, e.Counts[op], op, n))
			}
		}
		for op, n := range e.Counts {
			if counts[op] == 0 {
				complaints = append(complaints, fmt.Sprintf("%s:%d-%d: the list counts %d %s, the script has none", f.Name, e.First, e.Last, n, op))
			}
		}
	}
	for j := range f.Outcomes {
		o, e := &f.Outcomes[j], covered[j]
		where := fmt.Sprintf("%s:%d: %s", f.Name, o.Command.Line, o.Command.Op)
		switch {
		case o.Status == wast.Failed && e == nil:
			complaints = append(complaints, fmt.Sprintf("%s: %s", where, o.Reason))
		case o.Status != wast.Failed && e != nil:
			complaints = append(complaints, where+": no failure any more, but on the list")
		case o.Status == wast.Failed && f.Proposal(o) != e.Proposal:
			complaints = append(complaints, fmt.Sprintf("%s: waits for %s, the list says %s: %s", where, f.Proposal(o), e.Proposal, o.Reason))
		}
	}
	return complaints
}
