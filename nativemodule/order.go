package nativemodule

import (
	"cmp"
	"slices"

	"github.com/wasmjit/wasmjit/decoder"
)

// plan is the order of work: order lists the big functions first, the biggest
// at the head, so that no worker starts a huge one when the others run out of
// work; the others follow as they stand in the file, which the processor's
// prefetching rewards. Batch i is order[batches[i]:batches[i+1]], what one turn
// of the cursor hands out.
type plan struct {
	order   []uint32
	batches []uint32
	bytes   int64 // body bytes in all
}

// Limits of the body bytes in a batch: enough that the cursor is touched
// rarely, few enough that a small module still occupies all workers.
const (
	minBatch = 1 << 10
	maxBatch = 32 << 10
	// bigBody is the size from which a body is compiled out of turn.
	bigBody = 8 << 10
)

func makePlan(bodies []decoder.Body, workers int) plan {
	var p plan
	p.order = make([]uint32, 0, len(bodies))
	for i, b := range bodies {
		p.bytes += int64(b.Size())
		if b.Size() >= bigBody {
			p.order = append(p.order, uint32(i))
		}
	}
	slices.SortStableFunc(p.order, func(a, b uint32) int { return cmp.Compare(bodies[b].Size(), bodies[a].Size()) })
	for i, b := range bodies {
		if b.Size() < bigBody {
			p.order = append(p.order, uint32(i))
		}
	}
	p.cut(bodies, workers)
	return p
}

// cut cuts the order into batches. They shrink towards the end, where a worker
// that has taken one lets the others wait.
func (p *plan) cut(bodies []decoder.Body, workers int) {
	left := p.bytes
	size := func() uint32 { return uint32(min(max(left/int64(8*workers), minBatch), maxBatch)) }
	p.batches = append(p.batches, 0)
	var sum uint32
	most := size()
	for i, fn := range p.order {
		n := bodies[fn].Size()
		if sum > 0 && sum+n > most {
			p.batches = append(p.batches, uint32(i))
			sum, most = 0, size()
		}
		sum += n
		left -= int64(n)
	}
	if len(bodies) > 0 {
		p.batches = append(p.batches, uint32(len(bodies)))
	}
}

// numBatches is how many batches there are.
func (p *plan) numBatches() int { return len(p.batches) - 1 }

// sortedBy gives the indices of keys in ascending order of key, ties in
// ascending order of index. It is a radix sort, linear in the number of keys.
func sortedBy(keys []uint32) []uint32 {
	const digit = 11
	from, to := make([]uint32, len(keys)), make([]uint32, len(keys))
	var most uint32
	for i, k := range keys {
		from[i] = uint32(i)
		most = max(most, k)
	}
	for shift := 0; shift < 32 && most>>shift != 0; shift += digit {
		var at [1 << digit]uint32
		for _, k := range keys {
			at[k>>shift&(1<<digit-1)]++
		}
		var sum uint32
		for d, n := range at {
			at[d] = sum
			sum += n
		}
		for _, i := range from {
			d := keys[i] >> shift & (1<<digit - 1)
			to[at[d]] = i
			at[d]++
		}
		from, to = to, from
	}
	return from
}
