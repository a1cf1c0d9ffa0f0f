package httpapi

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.org/lookout/internal/monitor"
	"example.org/lookout/internal/store"
)

type fixedStatuses map[string]monitor.Status

func (f fixedStatuses) Statuses() map[string]monitor.Status {
	if f["boom"] != "" {
		panic("boom")
	}
	return f
}

func TestServer(t *testing.T) {
	cases := map[string]struct {
		path, token string
		statuses    fixedStatuses
		status      int
		body        string
	}{
		"the service itself":  {"/healthz", "", nil, 204, ""},
		"without a token":     {"/targets", "", nil, 401, "a token is needed"},
		"with a wrong token":  {"/targets", "guess", nil, 401, "a token is needed"},
		"all targets":         {"/targets", "secret", fixedStatuses{"shop": monitor.Down}, 200, `"shop":"down"`},
		"an unknown target":   {"/targets/x/outcomes", "secret", fixedStatuses{}, 404, "no such target"},
		"a handler that dies": {"/targets", "secret", fixedStatuses{"boom": monitor.Up}, 500, "something went wrong"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			handler := New(c.statuses, store.NewMemory(), "secret", slog.New(slog.NewTextHandler(io.Discard, nil)))
			request := httptest.NewRequest(http.MethodGet, c.path, nil)
			if c.token != "" {
				request.Header.Set("Authorization", "Bearer "+c.token)
			}
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, request)
			if recorder.Code != c.status || !strings.Contains(recorder.Body.String(), c.body) {
				t.Errorf("got %d %s", recorder.Code, recorder.Body)
			}
		})
	}
}
