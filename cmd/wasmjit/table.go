package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// colored reports whether to use colours on w (see no-color.org).
func colored(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func newTable(w io.Writer, header ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Format.HeaderVAlign = text.VAlignDefault
	if colored(w) {
		style.Color.Header = text.Colors{text.Bold}
		text.EnableColors()
	} else {
		text.DisableColors()
	}
	t.SetStyle(style)
	t.AppendHeader(header)
	var right []table.ColumnConfig
	for i := 2; i <= len(header); i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	return t
}

// writeTable prints the statistics for people.
func (s *stats) writeTable(w io.Writer) {
	printf(w, "%s: %s bytes, %s functions, code section of %s bytes\n", oneLine(displayName(s.Module.Path)),
		thousands(int64(s.Module.Bytes)), thousands(int64(s.Module.Functions)), thousands(s.Module.CodeBytes))
	printf(w, "%s, %s, bounds %s, code memory %s, %s, %d %s\n", s.Target, s.Options.CPU, s.Options.Bounds,
		s.Options.Protection, s.Options.Publish, s.Workers, plural(s.Workers, "worker"))

	t := newTable(w, "phase", "wall ms", "CPU ms", "code section MB/s", "per CPU second")
	for _, p := range s.order {
		speed, perCPU := "", ""
		if p.Name == "compile" {
			speed, perCPU = sprintf("%.1f", s.CompileMBPerS), sprintf("%.1f", s.CompileMBPerCPUS)
		}
		t.AppendRow(table.Row{p.Name, ms(p.WallNs), ms(p.CPUNs), speed, perCPU})
	}
	t.AppendSeparator()
	title := "without read and free"
	if _, ran := s.Phases["run"]; ran {
		title = "without read, run and free"
	}
	t.AppendRow(table.Row{title, ms(s.EngineWallNs), ms(s.EngineCPUNs),
		sprintf("%.1f", s.EngineMBPerS), sprintf("%.1f", s.EngineMBPerCPUS)})
	t.Render()

	t = newTable(w, "result", "")
	rss := "n/a (no VmHWM in /proc/self/status)"
	if s.RSSPeak > 0 {
		rss = sprintf("%.1f MB", float64(s.RSSPeak)/1e6)
	}
	t.AppendRows([]table.Row{
		{"code", thousands(s.Code.Bytes) + " bytes"},
		{"bytes out per byte in", sprintf("%.2f", s.Code.PerWasmByte)},
		{"padding", thousands(s.Code.Padding) + " bytes"},
		{"code per function, p50 / p90 / p99 / max", sprintf("%s / %s / %s / %s bytes",
			thousands(int64(s.Code.Sizes.P50)), thousands(int64(s.Code.Sizes.P90)),
			thousands(int64(s.Code.Sizes.P99)), thousands(int64(s.Code.Sizes.Max)))},
		{"direct calls linked", thousands(s.Code.CallSites)},
		{"peak RSS", rss},
	})
	t.Render()
	s.writeCalls(w)
	s.Ledger.write(w)
	s.Protection.write(w)
}

func ms(ns int64) string { return sprintf("%.1f", float64(ns)/float64(time.Millisecond)) }

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// thousands writes n with commas.
func thousands(n int64) string {
	s := sprintf("%d", n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
