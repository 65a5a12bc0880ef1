package main

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// protection is how far code memory was protected during a compile, and what
// the scopes and locks did that belong to it.
type protection struct {
	// Sums over memory of the time, in byte seconds, that it was writable and
	// executable at once, and writable before it was published.
	WritableExecutable  float64 `json:"writable_executable_byte_s"`
	WritableUnpublished float64 `json:"writable_unpublished_byte_s"`
	// How long any memory was so.
	ExecutableNs  int64 `json:"writable_executable_ns"`
	UnpublishedNs int64 `json:"writable_unpublished_ns"`

	Batches      int64 `json:"batches"`
	Publications int64 `json:"publications"`
	// Resident are the pages of the code arena after the compile, Huge those
	// in huge pages; -1 if the system doesn't tell.
	Resident int64        `json:"resident_bytes"`
	Huge     int64        `json:"huge_page_bytes"`
	Locks    []lockStat   `json:"locks"`
	Openers  []openerStat `json:"write_scopes"`
}

// lockStat are the trips to a lock.
type lockStat struct {
	Name string `json:"name"`
	lockTrips
}

// addLocks adds up the trips to several locks.
func addLocks(locks []codemem.LockStats) (sum lockTrips) {
	for _, l := range locks {
		sum.Acquired += l.Acquired
		sum.Contended += l.Contended
		sum.WaitNs += int64(l.Wait)
	}
	return sum
}

// openerStat is the account of a place that opens write scopes.
type openerStat struct {
	Name        string `json:"opener"`
	Scopes      int64  `json:"scopes"`
	Nested      int64  `json:"nested"`
	Switches    int64  `json:"switches"`
	Commits     int64  `json:"commits"`
	SwitchingNs int64  `json:"switching_ns"`
	Bytes       int64  `json:"bytes_written"`
	OpenNs      int64  `json:"open_ns"`
}

func newProtection(n *nativemodule.Stats) protection {
	p := protection{
		WritableExecutable:  n.Exposure.WritableExecutable,
		WritableUnpublished: n.Exposure.WritableUnpublished,
		ExecutableNs:        int64(n.Exposure.ExecutableTime),
		UnpublishedNs:       int64(n.Exposure.UnpublishedTime),
		Batches:             n.Batches,
		Publications:        n.Publications,
		Locks:               []lockStat{},
		Openers:             []openerStat{},
	}
	p.Resident, p.Huge = codePages()
	for _, l := range n.Locks {
		p.Locks = append(p.Locks, lockStat{l.Name, addLocks([]codemem.LockStats{l})})
	}
	for _, a := range n.Accounts {
		p.Openers = append(p.Openers, openerStat{a.Opener, a.Scopes, a.Nested, a.Switches, a.Commits,
			int64(a.Switching), a.Bytes, int64(a.Open)})
	}
	return p
}

// codePages tells the resident memory of the code arena and how much of it
// lies in huge pages.
func codePages() (resident, huge int64) {
	arena, err := codemem.Default()
	if err != nil {
		return -1, -1
	}
	return residentPages(arena.Bounds())
}

// trips adds up the locks.
func (p *protection) trips() (acquired, contended, waitNs int64) {
	for _, l := range p.Locks {
		acquired += l.Acquired
		contended += l.Contended
		waitNs += l.WaitNs
	}
	return acquired, contended, waitNs
}

// pageSize describes the pages that code lies in.
func (p *protection) pageSize() string {
	switch {
	case p.Resident < 0:
		return "n/a"
	case p.Huge == 0 || p.Resident == 0:
		return "4 KiB"
	case p.Huge >= p.Resident:
		return "2 MiB"
	}
	return sprintf("%d %% 2 MiB", 100*p.Huge/p.Resident)
}

// write prints the exposure, the locks and the scopes for people.
func (p *protection) write(w io.Writer) {
	t := newTable(w, "write scopes", "opened", "nested", "switches", "commits", "ms switching", "bytes written", "ms open")
	for _, o := range p.Openers {
		t.AppendRow(table.Row{o.Name, thousands(o.Scopes), thousands(o.Nested), thousands(o.Switches), thousands(o.Commits),
			sprintf("%.2f", float64(o.SwitchingNs)/1e6), thousands(o.Bytes), ms(o.OpenNs)})
	}
	t.Render()
	for _, l := range p.Locks {
		printf(w, "lock %s: %s trips, %s contended, waited %.2f ms\n", l.Name, thousands(l.Acquired), thousands(l.Contended), float64(l.WaitNs)/1e6)
	}
	printf(w, "exposure: %.3f MB·s writable and executable (for %s ms), %.3f MB·s writable before publishing (for %s ms); pages: %s\n",
		p.WritableExecutable/1e6, ms(p.ExecutableNs), p.WritableUnpublished/1e6, ms(p.UnpublishedNs), p.pageSize())
}
