package loops

// A test may do this.
func misuse() {
	for {
		w, _ := space.Open(0, "test")
		w.Close()
	}
}
