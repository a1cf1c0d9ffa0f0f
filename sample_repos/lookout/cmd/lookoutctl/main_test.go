package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestShowStatus(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"shop": "down", "database": "up"}`)
	}))
	defer server.Close()
	var out strings.Builder
	anyDown, err := showStatus(&out, server.URL, "secret")
	if err != nil || !anyDown {
		t.Fatalf("down %t, error %v", anyDown, err)
	}
	if lines := strings.Split(out.String(), "\n"); !strings.HasPrefix(lines[0], "database") || !strings.HasSuffix(lines[1], "down") {
		t.Errorf("printed %q", out.String())
	}
}
