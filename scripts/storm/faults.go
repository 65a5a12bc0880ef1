package main

// faultCost is the time of the first touch of a 4 KiB page, ns: of memory
// without a file (seal), and of a file in memory (dual).
type faultCost struct {
	AnonymousNS float64 `json:"anonymous_ns"`
	FileNS      float64 `json:"file_ns"`
}
