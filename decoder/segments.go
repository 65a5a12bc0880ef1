package decoder

// elementSection reads the element segments (spec 5.5.12). The eight forms
// are three flag bits: not active, explicit table (or declared), expressions.
func (d *sectionDecoder) elementSection() {
	n := d.count("element segments", MaxElems, 2)
	d.m.Elems = make([]ElemSegment, 0, min(n, d.left()/3))
	for i := 0; i < n && d.err == nil; i++ {
		d.element()
	}
}

func (d *sectionDecoder) element() {
	const (
		notActive = 1 << iota
		explicit
		exprs
	)
	at := d.pos
	flags := d.u32("an element segment")
	if flags > 7 {
		d.fail(at, CodeEncoding, "expected the flags of an element segment (0-7), found %d", flags)
		return
	}
	e := ElemSegment{Type: FuncRef}
	switch {
	case flags&notActive == 0:
		at = d.pos
		if flags&explicit != 0 {
			e.Table = d.u32("a table index")
		}
		if d.err == nil && int64(e.Table) >= int64(len(d.m.Tables)) {
			d.fail(at, CodeIndex, "unknown table %d: the module has %d", e.Table, len(d.m.Tables))
			return
		}
		e.Offset = d.constExpr(I32, "the offset of an element segment")
	case flags&explicit != 0:
		e.Mode = SegmentDeclared
	default:
		e.Mode = SegmentPassive
	}
	typeAt := d.pos
	if flags&(notActive|explicit) != 0 {
		if flags&exprs != 0 {
			e.Type = d.refType("the type of an element segment")
		} else if kind := d.byte("an element kind"); kind != 0 {
			d.fail(typeAt, CodeEncoding, "expected the element kind 0x00, found 0x%02x", kind)
		}
	}
	if d.err != nil {
		return
	}
	if e.Mode == SegmentActive && e.Type != d.m.Tables[e.Table].Elem {
		d.fail(typeAt, CodeType, "expected elements of type %s for table %d, found %s", d.m.Tables[e.Table].Elem, e.Table, e.Type)
		return
	}
	if flags&exprs != 0 {
		d.elementExprs(&e)
	} else {
		d.elementFuncs(&e)
	}
	d.m.Elems = append(d.m.Elems, e)
}

func (d *sectionDecoder) elementFuncs(e *ElemSegment) {
	n := d.count("elements", MaxElemEntries, 1)
	if d.err != nil {
		return
	}
	e.Funcs = d.indices(make([]uint32, 0, n), n, len(d.m.Funcs), d.funcIndex)
	for _, fn := range e.Funcs {
		d.m.addRef(fn)
	}
}

// elementExprs reads the general form. If every entry is a ref.func, the
// segment is kept in the common form, which is far smaller.
func (d *sectionDecoder) elementExprs(e *ElemSegment) {
	n := d.count("elements", MaxElemEntries, 2)
	if d.err != nil {
		return
	}
	e.Exprs = make([]ConstExpr, 0, n)
	funcs := 0
	for i := 0; i < n && d.err == nil; i++ {
		x := d.constExpr(e.Type, "an element")
		if len(x) == 1 && x[0].Op == ConstRefFunc {
			funcs++
		}
		e.Exprs = append(e.Exprs, x)
	}
	if d.err != nil || funcs != n {
		return
	}
	e.Funcs = make([]uint32, n)
	for i, x := range e.Exprs {
		e.Funcs[i] = x[0].Index
	}
	e.Exprs = nil
}

// codeSection finds the bodies; validation or the compiler reads them later.
func (d *sectionDecoder) codeSection() {
	m := d.m
	m.CodeStart, m.CodeEnd = uint32(d.pos), uint32(d.end)
	at := d.pos
	n := d.count("function bodies", MaxFuncs, 1)
	if d.err != nil {
		return
	}
	if n != d.defined {
		d.fail(at, CodeCount, "expected %d function bodies, as the function section says, found %d", d.defined, n)
		return
	}
	m.Bodies = make([]Body, 0, n)
	for i := range n {
		// Each size leads to the next, so this loop waits for memory; it only
		// notices a bad one.
		size, start := U32(d.base, d.pos)
		if start > d.end || int64(size) > int64(min(d.end-start, MaxBodySize)) {
			d.badBody()
			d.err.Func = int64(m.NumImportedFuncs) + int64(i)
			return
		}
		d.pos = start + int(size)
		m.Bodies = append(m.Bodies, Body{uint32(start), uint32(d.pos)})
	}
}

// badBody finds the words for the size of a function body that is wrong.
func (d *sectionDecoder) badBody() {
	at := d.pos
	start, end := d.span("a function body")
	d.fail(at, CodeTooLarge, "function body of %d bytes is over the limit of %d", end-start, MaxBodySize)
}

func (d *sectionDecoder) dataSection() {
	m := d.m
	at := d.pos
	n := d.count("data segments", MaxDatas, 2)
	if d.err != nil {
		return
	}
	if m.HasDataCount && int64(m.DataCount) != int64(n) {
		d.fail(at, CodeCount, "expected %d data segments, as the data count section says, found %d", m.DataCount, n)
		return
	}
	m.Datas = make([]DataSegment, 0, n)
	for i := 0; i < n && d.err == nil; i++ {
		at := d.pos
		flags := d.u32("a data segment")
		if flags > 2 {
			d.fail(at, CodeEncoding, "expected the flags of a data segment (0-2), found %d", flags)
			return
		}
		var s DataSegment
		if flags == 1 {
			s.Mode = SegmentPassive
		} else {
			at = d.pos
			if flags == 2 {
				s.Memory = d.u32("a memory index")
			}
			if d.err == nil && int64(s.Memory) >= int64(len(m.Memories)) {
				d.fail(at, CodeIndex, "unknown memory %d: the module has %d", s.Memory, len(m.Memories))
				return
			}
			s.Offset = d.constExpr(I32, "the offset of a data segment")
		}
		start, end := d.span("the bytes of a data segment")
		s.Start, s.End = uint32(start), uint32(end)
		m.Datas = append(m.Datas, s)
	}
}
