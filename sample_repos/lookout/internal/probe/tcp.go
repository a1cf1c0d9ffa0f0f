package probe

import (
	"context"
	"net"
)

// TCPProber is content when somebody accepts the connection.
type TCPProber struct {
	dialer net.Dialer
}

func (p *TCPProber) Probe(ctx context.Context, address string) error {
	connection, err := p.dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}
