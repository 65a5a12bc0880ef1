// The guest of the end-to-end tests, built for wasip1 by them. Its first
// argument says what to do.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func main() {
	if err := modes[os.Args[1]](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var modes = map[string]func() error{
	"tour":   tour,
	"exit":   func() error { os.Exit(42); return nil },
	"wait":   func() error { _, err := io.ReadAll(os.Stdin); return err },
	"sleep":  func() error { time.Sleep(time.Hour); return nil },
	"procfs": procfs,
}

// tour uses a bit of everything: input, directories, files, links, time.
func tour() error {
	var lines []string
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		lines = append(lines, sc.Text())
	}
	fmt.Printf("args %q, KEY=%s, input %q\n", os.Args[2:], os.Getenv("KEY"), lines)

	var names []string
	err := filepath.WalkDir("/data", func(path string, d fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	fmt.Println(names, err)

	if err := os.MkdirAll("/data/new/deep", 0o777); err != nil {
		return err
	}
	if err := os.WriteFile("/data/new/deep/file", []byte(strings.Join(lines, "+")), 0o666); err != nil {
		return err
	}
	if err := os.Rename("/data/new/deep/file", "/data/new/file"); err != nil {
		return err
	}
	if err := os.Symlink("new/file", "/data/link"); err != nil {
		return err
	}
	text, err := os.ReadFile("/data/link")
	fmt.Printf("%s %v\n", text, err)
	_, err = os.ReadFile("/data/../secret")
	fmt.Println(err != nil)
	_, err = os.ReadFile("/data/none")
	fmt.Println(errors.Is(err, fs.ErrNotExist))

	begin := time.Now()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { time.Sleep(20 * time.Millisecond) })
	}
	wg.Wait()
	fmt.Println(time.Since(begin) >= 20*time.Millisecond)
	return nil
}

// procfs looks for a way to the process it runs in, to write to its own
// machine code. It fails if it finds one.
func procfs() error {
	dir := os.Args[2]
	links := map[string]string{"mem": "/proc/self/mem", "maps": "/proc/self/maps", "fds": "/proc/self/fd", "proc": "/proc"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	paths := []string{
		"/proc/self/mem", "/proc/thread-self/mem", "/proc/1/mem", "/proc/self/maps", "/proc/self/fd/3", "/dev/fd/3", "/dev/stdin",
		"/proc/self/root/proc/self/mem", "/proc/self/cwd", "/proc", "/proc/self/task", "/proc/self/map_files",
		dir + "/mem", dir + "/maps", dir + "/fds/3", dir + "/proc/self/mem",
	}
	for pid := range 200 {
		paths = append(paths, fmt.Sprintf("/proc/%d/mem", pid))
	}
	for _, path := range paths {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR} {
			f, err := os.OpenFile(path, flag, 0)
			if err == nil {
				return fmt.Errorf("opened %s with %d: %s", path, flag, overwrite(f))
			}
		}
		if _, err := os.ReadDir(path); err == nil {
			return fmt.Errorf("listed %s", path)
		}
	}
	if _, err := os.Stat("/etc/passwd"); err != nil {
		return err
	}
	fmt.Println("nothing")
	return nil
}

// overwrite says what could be done with what was opened.
func overwrite(f *os.File) string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return err.Error()
	}
	for line := range strings.Lines(string(maps)) {
		var lo, hi int64
		if _, err := fmt.Sscanf(line, "%x-%x r-x", &lo, &hi); err == nil {
			_, err := f.WriteAt(make([]byte, 16), lo)
			return fmt.Sprintf("write to %s: %v", line, err)
		}
	}
	return "no code found"
}
