package measure

import (
	"fmt"
	"math"
)

// Number formats a figure for a table, "-" for one that isn't there.
func Number(format string, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf(format, v)
}
