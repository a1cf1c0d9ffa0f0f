package probe

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.org/lookout/internal/clock"
	"example.org/lookout/internal/monitor"
)

type panicking struct{}

func (panicking) Probe(context.Context, string) error { panic("boom") }

func TestHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/well":
			w.WriteHeader(http.StatusNoContent)
		case "/elsewhere":
			http.Redirect(w, r, "http://other.example.org/", http.StatusFound)
		default:
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer server.Close()
	cases := []struct{ path, want string }{
		{"/well", ""},
		{"/elsewhere", ""},
		{"/broken", "answered 502"},
	}
	for _, c := range cases {
		t.Run(c.path, func(t *testing.T) {
			target := monitor.Target{Name: "t", Kind: monitor.HTTP, Address: server.URL + c.path}
			got := NewSet(clock.System{}).Run(context.Background(), target)
			if (c.want == "") != got.OK() || !strings.Contains(got.Problem, c.want) {
				t.Errorf("got %q, want %q", got.Problem, c.want)
			}
		})
	}
}

func TestTCP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := monitor.Target{Name: "t", Kind: monitor.TCP, Address: listener.Addr().String()}
	set := NewSet(clock.System{})
	if got := set.Run(context.Background(), target); !got.OK() {
		t.Errorf("listening, but %q", got.Problem)
	}
	listener.Close()
	if got := set.Run(context.Background(), target); got.OK() {
		t.Error("nobody listens, but all is well")
	}
}

func TestAPanicIsAProblemOfTheTarget(t *testing.T) {
	set := NewSet(clock.System{})
	set.Replace(monitor.TCP, panicking{})
	got := set.Run(context.Background(), monitor.Target{Name: "t", Kind: monitor.TCP})
	if !strings.Contains(got.Problem, "boom") {
		t.Errorf("got %q", got.Problem)
	}
}
