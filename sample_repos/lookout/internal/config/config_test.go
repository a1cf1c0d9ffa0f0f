package config

import (
	"strings"
	"testing"
	"time"
)

func TestReadFillsInDefaults(t *testing.T) {
	c, err := Read(strings.NewReader(`{"targets": [{"name": "shop", "kind": "http", "address": "http://x", "every": "30s"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != defaultListen || c.Workers != defaultWorkers {
		t.Errorf("listen %q, workers %d", c.Listen, c.Workers)
	}
	if got := c.Targets[0]; got.Every != 30*time.Second || got.After != defaultAfter {
		t.Errorf("every %s, after %d", got.Every, got.After)
	}
}

func TestReadRefuses(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"unknown key":   {`{"tagrets": []}`, "unknown field"},
		"unknown kind":  {`{"targets": [{"name": "a", "kind": "icmp", "address": "b"}]}`, "neither http nor tcp"},
		"no address":    {`{"targets": [{"name": "a", "kind": "tcp"}]}`, "no address"},
		"twice":         {`{"targets": [{"name": "a", "kind": "tcp", "address": "b"}, {"name": "a", "kind": "tcp", "address": "c"}]}`, "two targets"},
		"bad duration":  {`{"targets": [{"name": "a", "kind": "tcp", "address": "b", "every": "soon"}]}`, "invalid duration"},
		"not even JSON": {`listen = 9180`, "invalid character"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
}
