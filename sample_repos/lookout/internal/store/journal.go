package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"example.org/lookout/internal/monitor"
)

// Journal is a Memory that appends changes to a file and reads them back at start. Outcomes are not worth the disk.
type Journal struct {
	*Memory
	file *os.File
}

var _ Store = (*Journal)(nil)

// OpenJournal reads what is there. A last line that was cut off by a crash is dropped.
func OpenJournal(path string) (*Journal, error) {
	j := &Journal{Memory: NewMemory()}
	if err := j.replay(path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	j.file = file
	return j, nil
}

func (j *Journal) replay(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		var change monitor.Change
		if err := json.Unmarshal(lines.Bytes(), &change); err != nil {
			if !lines.Scan() {
				return nil // nothing follows: the crash cut it off
			}
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if err := j.Memory.AddChange(change); err != nil {
			return err
		}
	}
	return lines.Err()
}

// AddChange writes before it remembers, so that what is shown was written.
func (j *Journal) AddChange(change monitor.Change) error {
	line, err := json.Marshal(change)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return j.Memory.AddChange(change)
}

func (j *Journal) Close() error { return j.file.Close() }
