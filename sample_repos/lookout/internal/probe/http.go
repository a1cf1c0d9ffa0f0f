package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

const largestBody = 64 << 10

// HTTPProber wants a status below 400. It does not follow redirects to other hosts.
type HTTPProber struct {
	client *http.Client
}

// NewHTTPProber makes a prober with a client of its own, so that connections are not shared with alerts.
func NewHTTPProber() *HTTPProber {
	return &HTTPProber{client: &http.Client{CheckRedirect: sameHostOnly}}
}

func (p *HTTPProber) Probe(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	// The connection is only used again if the body was read.
	_, _ = io.CopyN(io.Discard, response.Body, largestBody)
	if response.StatusCode >= 400 {
		return fmt.Errorf("answered %s", response.Status)
	}
	return nil
}

func sameHostOnly(request *http.Request, via []*http.Request) error {
	if len(via) >= 5 {
		return errors.New("too many redirects")
	}
	if request.URL.Host != via[0].URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}
