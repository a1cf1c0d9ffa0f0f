// Lookoutctl asks a running lookout.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"

	"example.org/lookout/internal/monitor"
)

func main() {
	server := flag.String("server", "http://127.0.0.1:9180", "address of lookout")
	token := flag.String("token", "", "token of lookout")
	flag.Parse()
	if flag.Arg(0) != "status" {
		fmt.Fprintln(os.Stderr, "usage: lookoutctl [-server URL] [-token TOKEN] status")
		os.Exit(2)
	}
	anyDown, err := showStatus(os.Stdout, *server, *token)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case anyDown:
		os.Exit(1)
	}
}

// showStatus prints a line for each target, and tells whether one is down.
func showStatus(out io.Writer, server, token string) (bool, error) {
	request, err := http.NewRequest(http.MethodGet, server+"/targets", nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return false, fmt.Errorf("%s answered %s", server, response.Status)
	}
	var statuses map[string]monitor.Status
	if err := json.NewDecoder(response.Body).Decode(&statuses); err != nil {
		return false, err
	}
	names := make([]string, 0, len(statuses))
	anyDown := false
	for name, status := range statuses {
		names = append(names, name)
		anyDown = anyDown || status == monitor.Down
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(out, "%-20s %s\n", name, statuses[name])
	}
	return anyDown, nil
}
