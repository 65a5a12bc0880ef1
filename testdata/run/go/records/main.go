// Command records makes records, sorts and groups them, and takes them
// through JSON and back: maps, slices, strings, interfaces, garbage.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"sort"
	"strconv"
)

type record struct {
	ID    int               `json:"id"`
	Name  string            `json:"name"`
	Tags  []string          `json:"tags"`
	Score float64           `json:"score"`
	Attrs map[string]string `json:"attrs,omitempty"`
}

func main() {
	n := 20000
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	seed := uint32(7)
	next := func() uint32 {
		seed ^= seed << 13
		seed ^= seed >> 17
		seed ^= seed << 5
		return seed
	}
	records := make([]record, n)
	for i := range records {
		r := &records[i]
		r.ID = int(next())
		r.Name = "name" + strconv.Itoa(int(next()%1000))
		for range next() % 4 {
			r.Tags = append(r.Tags, string(rune('a'+next()%26)))
		}
		r.Score = float64(next()) / 7
		if next()%3 == 0 {
			r.Attrs = map[string]string{"k" + strconv.Itoa(i%50): r.Name}
		}
	}
	sort.Slice(records, func(i, j int) bool {
		if records[i].Name != records[j].Name {
			return records[i].Name < records[j].Name
		}
		return records[i].ID < records[j].ID
	})
	groups := map[string]int{}
	for _, r := range records {
		groups[r.Name] += len(r.Tags)
	}
	text, err := json.Marshal(records)
	if err != nil {
		panic(err)
	}
	var back []record
	if err := json.Unmarshal(text, &back); err != nil {
		panic(err)
	}
	h := fnv.New64a()
	for _, r := range back {
		fmt.Fprintln(h, r.ID, r.Name, len(r.Tags), r.Score, len(r.Attrs), groups[r.Name])
	}
	fmt.Printf("%016x\n", h.Sum64())
}
