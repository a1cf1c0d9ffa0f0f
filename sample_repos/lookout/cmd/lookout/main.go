// Lookout watches services from the outside.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"example.org/lookout/internal/alert"
	"example.org/lookout/internal/clock"
	"example.org/lookout/internal/config"
	"example.org/lookout/internal/httpapi"
	"example.org/lookout/internal/monitor"
	"example.org/lookout/internal/probe"
	"example.org/lookout/internal/schedule"
	"example.org/lookout/internal/state"
	"example.org/lookout/internal/store"
)

func main() {
	path := flag.String("config", "lookout.json", "configuration file")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := run(*path, log); err != nil {
		log.Error("cannot go on", "error", err)
		os.Exit(1)
	}
}

func run(path string, log *slog.Logger) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	c, err := config.Read(file)
	if err != nil {
		return err
	}
	history, err := openStore(c)
	if err != nil {
		return err
	}
	defer history.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return watch(ctx, c, history, log)
}

// watch runs everything until the context ends, then waits for what is under way.
func watch(ctx context.Context, c config.Config, history store.Store, log *slog.Logger) error {
	system := clock.System{}
	tracker := state.NewTracker(c.Targets)
	dispatcher := alert.NewDispatcher(notifier(c, log), system, log)
	report := func(outcome monitor.Outcome) {
		remember(log, history.AddOutcome(outcome))
		if change := tracker.Observe(outcome); change != nil {
			remember(log, history.AddChange(*change))
			dispatcher.Submit(*change)
		}
	}
	scheduler := schedule.New(probe.NewSet(system), system, c.Workers, report)
	server := &http.Server{Addr: c.Listen, Handler: httpapi.New(tracker, history, c.Token, log), ReadHeaderTimeout: 5 * time.Second}

	var parts sync.WaitGroup
	start := func(part func()) {
		parts.Add(1)
		go func() {
			defer parts.Done()
			part()
		}()
	}
	start(func() { dispatcher.Run(ctx) })
	start(func() { scheduler.Run(ctx, c.Targets) })
	start(func() { shutDownLater(ctx, server) })
	err := server.ListenAndServe()
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	parts.Wait()
	return nil
}

func shutDownLater(ctx context.Context, server *http.Server) {
	<-ctx.Done()
	limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = server.Shutdown(limited)
}

func openStore(c config.Config) (store.Store, error) {
	if c.Journal == "" {
		return store.NewMemory(), nil
	}
	return store.OpenJournal(c.Journal)
}

func notifier(c config.Config, log *slog.Logger) alert.Notifier {
	if c.Webhook == "" {
		return alert.Log{Logger: log}
	}
	return alert.NewWebhook(c.Webhook)
}

func remember(log *slog.Logger, err error) {
	if err != nil {
		log.Error("this will be forgotten", "error", err)
	}
}
