package attack

import (
	"fmt"
	"os"
	"strings"
)

// Mapping is a line of /proc/self/maps.
type Mapping struct {
	Lo, Hi uintptr
	Perms  string // as in "r-xp"
	Offset uint64
	Dev    string
	Inode  uint64
	Name   string
}

// File identifies what is mapped besides anonymous memory, "" for that.
func (m *Mapping) File() string {
	if m.Inode == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", m.Dev, m.Inode)
}

// Writable and Executable are the rights of the page tables.
func (m *Mapping) Writable() bool   { return strings.Contains(m.Perms, "w") }
func (m *Mapping) Executable() bool { return strings.Contains(m.Perms, "x") }

// Maps reads the mappings of this process.
func Maps() ([]Mapping, error) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	var all []Mapping
	for line := range strings.Lines(string(text)) {
		var m Mapping
		if _, err := fmt.Sscanf(line, "%x-%x %s %x %s %d", &m.Lo, &m.Hi, &m.Perms, &m.Offset, &m.Dev, &m.Inode); err != nil {
			return nil, fmt.Errorf("/proc/self/maps: %q: %w", line, err)
		}
		if f := strings.Fields(line); len(f) > 5 {
			m.Name = strings.Join(f[5:], " ")
		}
		all = append(all, m)
	}
	return all, nil
}

// WritableAndExecutable lists what can be written and executed at once: pages
// with both rights, and pieces of a file that one mapping can write and
// another execute.
func WritableAndExecutable(all []Mapping) []string {
	var bad []string
	for i := range all {
		a := &all[i]
		if a.Writable() && a.Executable() {
			bad = append(bad, fmt.Sprintf("%x-%x %s", a.Lo, a.Hi, a.Perms))
		}
		if a.File() == "" || !a.Writable() || !strings.Contains(a.Perms, "s") {
			continue
		}
		for j := range all {
			b := &all[j]
			aEnd, bEnd := a.Offset+uint64(a.Hi-a.Lo), b.Offset+uint64(b.Hi-b.Lo)
			if b.Executable() && b.File() == a.File() && a.Offset < bEnd && b.Offset < aEnd {
				bad = append(bad, fmt.Sprintf("%x-%x %s and %x-%x %s of %s", a.Lo, a.Hi, a.Perms, b.Lo, b.Hi, b.Perms, a.File()))
			}
		}
	}
	return bad
}
