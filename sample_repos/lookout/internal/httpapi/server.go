// Package httpapi shows the state to people and programs.
package httpapi

import (
	"log/slog"
	"net/http"

	"example.org/lookout/internal/monitor"
)

// Statuses tells how every target is.
type Statuses interface {
	Statuses() map[string]monitor.Status
}

// History tells what happened.
type History interface {
	Outcomes(target string) []monitor.Outcome
	Changes() []monitor.Change
}

type server struct {
	statuses Statuses
	history  History
}

// New is a handler for the whole API. Only the check of the service itself works without the token.
func New(statuses Statuses, history History, token string, log *slog.Logger) http.Handler {
	s := &server{statuses: statuses, history: history}
	private := http.NewServeMux()
	private.HandleFunc("GET /targets", s.listTargets)
	private.HandleFunc("GET /targets/{name}/outcomes", s.listOutcomes)
	private.HandleFunc("GET /changes", s.listChanges)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.Handle("/", chain(private, requireToken(token)))
	return chain(mux, logRequests(log), recoverPanics(log))
}

func (s *server) listTargets(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.statuses.Statuses())
}

func (s *server) listOutcomes(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if _, known := s.statuses.Statuses()[name]; !known {
		writeError(w, http.StatusNotFound, "there is no such target")
		return
	}
	writeJSON(w, http.StatusOK, s.history.Outcomes(name))
}

func (s *server) listChanges(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.history.Changes())
}
