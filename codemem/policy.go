package codemem

// Site is a place that V8's pipelines opened a write scope at, or didn't. The
// code that adds, publishes and frees functions is the same in every mode and
// asks for a scope at each of these places; the policy says which of them are
// really opened.
type Site uint8

// Sites.
const (
	SiteBatch    Site = iota // around adding a batch of functions
	SiteFunction             // in adding one function
	SitePublish              // around publishing a batch
	SitePatch                // in patching one slot of the jump table
	SiteFree                 // around freeing code
	SiteFreeOne              // in freeing one function's code
	numSites
)

// toggle says what opening the first write scope and closing the last changes.
type toggle uint8

const (
	// toggleRange makes the whole allocated range writable and executable,
	// then executable only. The zero toggle changes nothing.
	toggleRange toggle = iota + 1
	// toggleTable makes the writable view of the jump table accessible, then
	// inaccessible, once the space is live.
	toggleTable
)

// policy is everything that a mode decides. The rest of the package reads it
// and has no opinion of its own.
type policy struct {
	name string
	// filled is the protection of a span's pages when they are mapped, sealed
	// that of published ones; a switch is made only if they differ.
	filled, sealed prot
	// commit leaves pages without access until a batch needs them: one
	// mprotect a batch, to filled.
	commit bool
	// huge allows huge pages. The comparison modes use small ones: huge pages
	// hide the cost of a switch.
	huge bool
	// alias maps a memfd: pages are written through a view of their own.
	alias bool
	// keyed protects pages by a memory protection key.
	keyed bool
	// linked allows code that is written in chunks and sealed once.
	linked bool
	// patchable allows code to be added and slots to be patched after the
	// first publication.
	patchable bool
	sites     [numSites]bool
	toggle    toggle
}

// hoistedSites are V8 9.3's scopes: one around each entry point.
var hoistedSites = [numSites]bool{SiteBatch: true, SitePublish: true, SiteFree: true}

// fineSites are V8 9.2's: around adding a batch and, nested in it, in adding
// each function; in each patch of a slot; in each freeing of one function.
var fineSites = [numSites]bool{SiteBatch: true, SiteFunction: true, SitePatch: true, SiteFreeOne: true}

// policies: one row per mode. ORDER: Mode.
var policies = [...]policy{
	Auto: {name: "auto"},
	Seal: {name: "seal", filled: protRW, sealed: protRX, huge: true, linked: true,
		sites: hoistedSites},
	Dual: {name: "dual", filled: protRW, sealed: protRX, huge: true, linked: true, alias: true, patchable: true,
		sites: hoistedSites, toggle: toggleTable},
	Off: {name: "off", filled: protRWX, sealed: protRWX, huge: true, linked: true, patchable: true,
		sites: hoistedSites},
	Fine: {name: "fine", filled: protRWX, sealed: protRX, commit: true, patchable: true,
		sites: fineSites, toggle: toggleRange},
	Hoisted: {name: "hoisted", filled: protRWX, sealed: protRX, commit: true, patchable: true,
		sites: hoistedSites, toggle: toggleRange},
	PKU: {name: "pku", filled: protRWX, sealed: protRWX, huge: true, linked: true, keyed: true, patchable: true,
		sites: hoistedSites},
}

// foreign is the policy for code of another machine: it is looked at only.
var foreign = policy{name: "seal", filled: protRW, sealed: protR, huge: true, linked: true, sites: hoistedSites}

// Linkable reports whether code in mode m may be linked and sealed once. The
// comparison modes exist for code that is published through slots.
func (m Mode) Linkable() bool { return m == Auto || int(m) < len(policies) && policies[m].linked }

// Patchable reports whether code in mode m can be replaced after the first
// publication. In Seal it can't: executable pages never become writable.
func (m Mode) Patchable() bool { return m == Auto || int(m) < len(policies) && policies[m].patchable }

// Switching reports whether mode m is one of V8's: permissions of all code are
// switched while scopes are open.
func (m Mode) Switching() bool { return int(m) < len(policies) && policies[m].toggle == toggleRange }
