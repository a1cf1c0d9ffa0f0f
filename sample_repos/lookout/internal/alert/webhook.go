package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"example.org/lookout/internal/monitor"
)

// Webhook posts a line of text to a chat.
type Webhook struct {
	url    string
	client *http.Client
}

// NewWebhook posts to url.
func NewWebhook(url string) *Webhook {
	return &Webhook{url: url, client: &http.Client{Timeout: 10 * time.Second}}
}

func (w *Webhook) Notify(ctx context.Context, change monitor.Change) error {
	body, err := json.Marshal(map[string]string{"text": describe(change)})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := w.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("the chat answered %s", response.Status)
	}
	return nil
}

func describe(change monitor.Change) string {
	if change.IsRecovery() {
		return fmt.Sprintf("%s is up again", change.Target)
	}
	return fmt.Sprintf("%s is %s: %s", change.Target, change.To, change.Problem)
}
