// Command numbers computes digits of pi with big integers, hashes them and
// multiplies matrices: arithmetic in Go's code.
package main

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math"
	"math/big"
	"os"
	"strconv"
)

// pi gives floor(pi * 10^n), by Machin's formula.
func pi(n int) *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n+10)), nil)
	arccot := func(x int64) *big.Int {
		term := new(big.Int).Div(unit, big.NewInt(x))
		sum, square := new(big.Int).Set(term), big.NewInt(x*x)
		t := new(big.Int)
		for k, sign := int64(3), -1; term.Sign() != 0; k, sign = k+2, -sign {
			term.Div(term, square)
			t.Div(term, big.NewInt(k))
			if sign < 0 {
				sum.Sub(sum, t)
			} else {
				sum.Add(sum, t)
			}
		}
		return sum
	}
	p := new(big.Int).Mul(arccot(5), big.NewInt(16))
	p.Sub(p, new(big.Int).Mul(arccot(239), big.NewInt(4)))
	return p.Div(p, new(big.Int).Exp(big.NewInt(10), big.NewInt(10), nil))
}

func main() {
	n := 6000
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	h := fnv.New64a()
	digits := []byte(pi(n).String())
	sum := sha256.Sum256(digits)
	for range n {
		sum = sha256.Sum256(append(sum[:], digits[:512%len(digits)]...))
	}
	fmt.Fprintf(h, "%x %08x\n", sum, crc32.ChecksumIEEE(digits))

	size := n/20 + 1
	a, b, c := make([][]float64, size), make([][]float64, size), make([][]float64, size)
	for i := range a {
		a[i], b[i], c[i] = make([]float64, size), make([]float64, size), make([]float64, size)
		for j := range a[i] {
			a[i][j], b[i][j] = float64(i*j%17), math.Sqrt(float64(i+j))
		}
	}
	for i := range a {
		for j := range a {
			s := 0.0
			for k := range a {
				s += a[i][k] * b[k][j]
			}
			c[i][j] = s
		}
	}
	for i := range c {
		fmt.Fprintf(h, "%x\n", math.Float64bits(c[i][size-1-i]))
	}
	fmt.Printf("%016x\n", h.Sum64())
}
