//go:build !linux

package main

import "errors"

func measureFaults() (faultCost, error) {
	return faultCost{}, errors.New("code memory is measured on Linux only")
}
