// Package config reads the configuration file.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"example.org/lookout/internal/monitor"
)

const (
	defaultListen  = "127.0.0.1:9180"
	defaultWorkers = 4
	defaultEvery   = time.Minute
	defaultAfter   = 2
)

// Config is what the file says, with defaults filled in.
type Config struct {
	Listen  string
	Token   string
	Journal string
	Workers int
	Webhook string
	Targets []monitor.Target
}

type file struct {
	Listen  string       `json:"listen"`
	Token   string       `json:"token"`
	Journal string       `json:"journal"`
	Workers int          `json:"workers"`
	Webhook string       `json:"webhook"`
	Targets []fileTarget `json:"targets"`
}

type fileTarget struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Address string   `json:"address"`
	Every   duration `json:"every"`
	After   int      `json:"after"`
}

// duration reads "30s" instead of a number of nanoseconds.
type duration time.Duration

func (d *duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	parsed, err := time.ParseDuration(text)
	*d = duration(parsed)
	return err
}

// Read parses and checks; unknown keys are errors, because they are typing mistakes.
func Read(r io.Reader) (Config, error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	var f file
	if err := decoder.Decode(&f); err != nil {
		return Config{}, fmt.Errorf("config: %w", err)
	}
	c := Config{Listen: f.Listen, Token: f.Token, Journal: f.Journal, Workers: f.Workers, Webhook: f.Webhook}
	if c.Listen == "" {
		c.Listen = defaultListen
	}
	if c.Workers <= 0 {
		c.Workers = defaultWorkers
	}
	seen := map[string]bool{}
	for _, t := range f.Targets {
		target, err := t.check()
		if err != nil {
			return Config{}, fmt.Errorf("config: target %q: %w", t.Name, err)
		}
		if seen[target.Name] {
			return Config{}, fmt.Errorf("config: there are two targets named %q", target.Name)
		}
		seen[target.Name] = true
		c.Targets = append(c.Targets, target)
	}
	return c, nil
}

func (t fileTarget) check() (monitor.Target, error) {
	kind := monitor.Kind(t.Kind)
	switch {
	case t.Name == "":
		return monitor.Target{}, errors.New("it has no name")
	case kind != monitor.HTTP && kind != monitor.TCP:
		return monitor.Target{}, fmt.Errorf("kind %q is neither http nor tcp", t.Kind)
	case t.Address == "":
		return monitor.Target{}, errors.New("it has no address")
	}
	target := monitor.Target{Name: t.Name, Kind: kind, Address: t.Address, Every: time.Duration(t.Every), After: t.After}
	if target.Every <= 0 {
		target.Every = defaultEvery
	}
	if target.After <= 0 {
		target.After = defaultAfter
	}
	return target, nil
}
