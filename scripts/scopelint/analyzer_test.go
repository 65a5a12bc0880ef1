package main

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// The packages below testdata hold what is right and, with a comment that
// wants it reported, what is wrong. They use stand-ins of the two rooms.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), analyzer, "loops", "writes", codemem)
}
