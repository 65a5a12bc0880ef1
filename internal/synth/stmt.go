package synth

// room is how many bytes the body may still take.
func (g *gen) room() int { return g.limit - len(g.buf) }

// statements fills the buffer up to length end.
func (g *gen) statements(end int) {
	for len(g.buf) < end {
		g.statement(end)
	}
}

// statement writes one statement; those with a body keep it within end.
func (g *gen) statement(end int) {
	room := end - len(g.buf)
	if room < 24 {
		if room < 12 || g.r.chance(50) {
			g.assign(1)
		} else {
			g.store(0)
		}
		return
	}
	switch g.r.pick([]int{24, 24, 27, 2, 14, 3, 5, 3, 1}) {
	case 0:
		g.assign(2)
	case 1:
		g.store(2)
	case 2:
		g.callStatement()
	case 3:
		g.callIndirect()
	case 4:
		g.ifStatement(g.inner(end))
	case 5:
		g.breakBlock(g.inner(end))
	case 6:
		g.loop(g.inner(end))
	case 7:
		g.leave()
	case 8:
		g.switchStatement(g.inner(end))
	}
}

// inner chooses where the body of a nested statement ends.
func (g *gen) inner(end int) int {
	room := end - len(g.buf) - 8
	share := 10 + g.r.below(50)
	if room > 3000 && !g.r.chance(30) {
		share = 1 + g.r.below(10)
	}
	return len(g.buf) + max(6, room*share/100)
}

// assign sets a local of a kind that statements may write.
func (g *gen) assign(depth int) {
	k := []kind{kindInt, kindPtr, kindF32, kindF64, kindI64, kindFPtr}[g.r.pick([]int{46, 12, 34, 2, 4, 2})]
	ls := g.byKind[k]
	if len(ls) == 0 {
		k = kindInt
		ls = g.byKind[k]
	}
	if len(ls) == 0 {
		g.store(depth)
		return
	}
	g.expr(k, depth+g.r.below(2))
	to := ls[g.r.below(len(ls))]
	if k == kindInt && g.r.chance(35) && len(g.busy) < 2 {
		// The form x = (y = e) op c of optimised code.
		g.opU32(opLocalTee, to)
		g.intConst()
		g.op(opI32Add)
		to = ls[g.r.below(len(ls))]
	}
	g.opU32(opLocalSet, to)
}

func (g *gen) store(depth int) {
	switch g.r.pick([]int{58, 20, 3, 8, 11}) {
	case 0:
		g.address(depth)
		g.int(depth)
		g.mem(opI32Store, 2)
	case 1:
		if g.local(kindFPtr) {
			g.float(depth, &f32Ops)
			g.mem(opF32Store, 2)
			return
		}
		g.store(depth)
	case 2:
		if g.local(kindDPtr) {
			g.float(depth, &f64Ops)
			g.mem(opF64Store, 3)
			return
		}
		g.store(depth)
	case 3:
		g.address(depth)
		g.int(0)
		if g.r.chance(80) {
			g.mem(opI32Store8, 0)
		} else {
			g.mem(opI32Store16, 1)
		}
	case 4:
		g.address(depth)
		g.long(depth)
		g.mem(opI64Store, 3)
	}
}

// call writes a call with a result of kind k, or something like it where
// this function may not call (or none has such a result).
func (g *gen) call(k kind) {
	if sigs := g.b.byResult[k]; g.calls && len(sigs) > 0 {
		g.callTo(sigs[g.r.below(len(sigs))])
		return
	}
	if k != kindVoid {
		g.expr(k, 0)
	}
}

func (g *gen) callTo(sig uint8) {
	for _, p := range signatures[sig].params {
		g.expr(p, g.r.below(2))
	}
	fns := g.b.bySig[sig]
	g.opU32(opCall, g.b.imports+fns[g.r.below(len(fns))])
}

func (g *gen) callStatement() {
	if !g.calls {
		g.assign(2)
		return
	}
	if g.b.o.Import && g.r.chance(2) {
		g.opU32(opCall, 0)
		g.op(opDrop)
		return
	}
	sig := g.b.sigs[g.r.below(len(g.b.sigs))]
	g.callTo(sig)
	g.finish(signatures[sig].result)
}

// callIndirect calls through the part of the table that holds one signature.
func (g *gen) callIndirect() {
	if !g.calls {
		g.store(2)
		return
	}
	sig := g.b.sigs[g.r.below(len(g.b.sigs))]
	for _, p := range signatures[sig].params {
		g.expr(p, g.r.below(2))
	}
	g.int(1)
	g.i32(int32(g.b.slots[sig].mask))
	g.op(opI32And)
	g.i32(int32(g.b.slots[sig].base))
	g.op(opI32Add)
	g.opU32(opCallIndirect, uint32(sig))
	g.op(0)
	g.finish(signatures[sig].result)
}

// finish stores or drops the result of a call.
func (g *gen) finish(k kind) {
	if k == kindVoid {
		return
	}
	if ls := g.byKind[k]; len(ls) > 0 && g.r.chance(75) {
		g.opU32(opLocalSet, ls[g.r.below(len(ls))])
		return
	}
	g.op(opDrop)
}

func (g *gen) open(op, blockType byte, branchable bool) {
	g.op(op, blockType)
	g.labels = append(g.labels, branchable)
}

func (g *gen) close() {
	g.op(opEnd)
	g.labels = g.labels[:len(g.labels)-1]
}

func (g *gen) ifStatement(end int) {
	g.condition(2)
	g.open(opIf, blockEmpty, true)
	if g.r.chance(35) {
		g.statements((len(g.buf) + end) / 2)
		g.op(opElse)
	}
	g.statements(end)
	if g.r.chance(20) {
		g.jump()
	}
	g.close()
}

// ifElse writes an if with a value.
func (g *gen) ifElse(k kind, depth int) {
	g.condition(depth)
	g.open(opIf, byte(valueType(k)), false)
	g.expr(k, depth)
	g.op(opElse)
	g.expr(k, depth)
	g.close()
}

func (g *gen) breakBlock(end int) {
	g.open(opBlock, blockEmpty, true)
	for len(g.buf) < end {
		g.statement(end)
		if g.r.chance(25) {
			g.condition(1)
			g.op(opBrIf, 0)
		}
	}
	g.close()
}

// loop writes a counted loop in one of the two common shapes. Loops nest two
// deep at most, so that a function ends soon.
func (g *gen) loop(end int) {
	if len(g.loops) == 0 || len(g.busy) >= 2 {
		g.breakBlock(end)
		return
	}
	counter := g.loops[len(g.loops)-1]
	g.loops = g.loops[:len(g.loops)-1]
	g.busy = append(g.busy, counter)
	g.i32(int32(2 + g.r.below(3)))
	g.opU32(opLocalSet, counter)
	if g.r.chance(50) {
		g.open(opLoop, blockEmpty, false)
		g.statements(end)
		g.countDown(counter)
		g.opU32(opLocalTee, counter)
		g.op(opBrIf, 0)
		g.close()
	} else {
		g.open(opBlock, blockEmpty, true)
		g.open(opLoop, blockEmpty, false)
		g.opU32(opLocalGet, counter)
		g.op(opI32Eqz, opBrIf, 1)
		g.statements(end)
		g.countDown(counter)
		g.opU32(opLocalSet, counter)
		g.op(opBr, 0)
		g.close()
		g.close()
	}
	g.busy = g.busy[:len(g.busy)-1]
	g.loops = append(g.loops, counter)
}

func (g *gen) countDown(counter uint32) {
	g.opU32(opLocalGet, counter)
	g.i32(1)
	g.op(opI32Sub)
}

// jump leaves the innermost blocks or the function; dead code must not follow.
func (g *gen) jump() {
	if g.r.chance(30) {
		g.result(0)
		g.op(opReturn)
		return
	}
	for d := range len(g.labels) {
		if g.labels[len(g.labels)-1-d] && g.r.chance(60) {
			g.opU32(opBr, uint32(d))
			return
		}
	}
}

// leave ends the function or an outer block early, on a condition.
func (g *gen) leave() {
	g.condition(2)
	for d := range len(g.labels) {
		if g.labels[len(g.labels)-1-d] && g.r.chance(50) {
			g.opU32(opBrIf, uint32(d))
			return
		}
	}
	g.open(opIf, blockEmpty, true)
	g.result(0)
	g.op(opReturn)
	g.close()
}

func (g *gen) switchStatement(end int) {
	cases := 3 + g.r.below(10)
	if g.r.chance(4) {
		cases = 40 + g.r.below(200)
	}
	cases = min(cases, max(2, (end-len(g.buf))/10))
	for range cases + 1 {
		g.open(opBlock, blockEmpty, true)
	}
	g.int(1)
	g.opU32(opBrTable, uint32(cases-1))
	for i := range cases {
		g.u32(uint32(i))
	}
	for i := range cases {
		g.close()
		g.statements(len(g.buf) + max(6, (end-len(g.buf))/(cases-i)))
		if d := cases - 1 - i; g.r.chance(80) {
			g.opU32(opBr, uint32(d))
		}
	}
	g.close()
}

// result writes the function's result, if it has one.
func (g *gen) result(depth int) {
	if g.sig.result != kindVoid {
		g.expr(g.sig.result, depth)
	}
}
