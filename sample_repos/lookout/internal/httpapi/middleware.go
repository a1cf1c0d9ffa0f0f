package httpapi

import (
	"crypto/subtle"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// Middleware wraps a handler.
type Middleware func(http.Handler) http.Handler

// chain puts the first middleware outermost.
func chain(handler http.Handler, middlewares ...Middleware) http.Handler {
	for i := len(middlewares) - 1; i >= 0; i-- {
		handler = middlewares[i](handler)
	}
	return handler
}

// requireToken lets nobody through who does not know the token. Without a token everybody is.
func requireToken(token string) Middleware {
	return func(next http.Handler) http.Handler {
		if token == "" {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			if !found || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
				w.Header().Set("WWW-Authenticate", "Bearer")
				writeError(w, http.StatusUnauthorized, "a token is needed")
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// statusRecorder remembers what was answered.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (s *statusRecorder) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func logRequests(log *slog.Logger) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			recorder := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
			start := time.Now()
			next.ServeHTTP(recorder, r)
			log.Info("request", "method", r.Method, "path", r.URL.Path, "status", recorder.status, "took", time.Since(start))
		})
	}
}

// recoverPanics answers 500 instead of closing the connection.
func recoverPanics(log *slog.Logger) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				if problem := recover(); problem != nil {
					log.Error("handler panicked", "path", r.URL.Path, "problem", problem)
					writeError(w, http.StatusInternalServerError, "something went wrong")
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}
