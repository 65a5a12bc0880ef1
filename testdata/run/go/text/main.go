// Command text makes a text, searches it with regular expressions, packs and
// unpacks it, and counts words over channels.
package main

import (
	"bytes"
	"compress/flate"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

func main() {
	n := 70000
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	words := strings.Fields("the compiler reads a module once from front to back and writes machine code 42 times 7.5 x=1 y:2")
	seed := uint32(3)
	var b strings.Builder
	for i := range n {
		seed ^= seed << 13
		seed ^= seed >> 17
		seed ^= seed << 5
		b.WriteString(words[seed%uint32(len(words))])
		b.WriteByte(" \n"[(i%13)/12])
	}
	text := b.String()
	h := fnv.New64a()

	for _, re := range []string{`\b[a-m]+e\b`, `(\d+)\.(\d)`, `module (once|from)\s+\w+`, `[xy][=:]\d`} {
		found := regexp.MustCompile(re).FindAllStringIndex(text, -1)
		fmt.Fprintln(h, re, len(found))
	}

	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, 6)
	if err != nil {
		panic(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	back, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed.Bytes())))
	if err != nil || string(back) != text {
		panic("unpacked text differs")
	}

	lines := make(chan string)
	counts := make(chan map[string]int)
	go func() {
		m := map[string]int{}
		for line := range lines {
			for _, word := range strings.Fields(line) {
				m[strings.ToUpper(word)]++
			}
		}
		counts <- m
	}()
	for _, line := range strings.Split(text, "\n") {
		lines <- line
	}
	close(lines)
	m := <-counts
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Fprintln(h, k, m[k])
	}
	fmt.Printf("%016x\n", h.Sum64())
}
