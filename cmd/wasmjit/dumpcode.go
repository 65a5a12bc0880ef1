package main

import (
	"bufio"
	"os"

	"github.com/wasmjit/wasmjit/nativemodule"
)

// codeDump is the file of --dump-code: the functions' code, one after the
// other and nothing between. It depends on the module, the target and the
// flags that decide the code, not on the host or on the number of workers.
type codeDump struct {
	file *os.File
	out  *bufio.Writer
}

// newCodeDump makes the file, unless the name is empty, and has the compile
// fill it.
func newCodeDump(name string, o *nativemodule.Options) (*codeDump, error) {
	if name == "" {
		return nil, nil
	}
	if o.Publish == nativemodule.PublishAuto {
		o.Publish = nativemodule.PublishLinked
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	d := &codeDump{file, bufio.NewWriterSize(file, 1<<20)}
	o.Unlinked = func(_ uint32, code []byte) {
		_, _ = d.out.Write(code) // Flush gives the error again
	}
	return d, nil
}

// close ends the file; what an error cut short is removed.
func (d *codeDump) close(whole bool) error {
	if d == nil {
		return nil
	}
	err := d.out.Flush()
	if e := d.file.Close(); err == nil {
		err = e
	}
	if !whole || err != nil {
		_ = os.Remove(d.file.Name())
	}
	return err
}
