package store

import (
	"os"
	"path/filepath"
	"testing"

	"example.org/lookout/internal/monitor"
)

func TestMemoryForgetsTheOldest(t *testing.T) {
	m := NewMemory()
	for range mostOutcomes + 5 {
		if err := m.AddOutcome(monitor.Outcome{Target: "shop"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(m.Outcomes("shop")); got != mostOutcomes {
		t.Errorf("kept %d", got)
	}
}

func TestJournalSurvivesARestartAndACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lookout.journal")
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.AddChange(monitor.Change{Target: "shop", To: monitor.Down}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	f.WriteString(`{"target": "da`)
	f.Close()
	j, err = OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if got := j.Changes(); len(got) != 1 || got[0].Target != "shop" {
		t.Errorf("got %v", got)
	}
}

func TestJournalRefusesAFileThatIsNotOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	os.WriteFile(path, []byte("milk\neggs\n"), 0o600)
	if _, err := OpenJournal(path); err == nil {
		t.Error("took a shopping list for a journal")
	}
}
