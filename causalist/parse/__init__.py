"""One file and its grammar -> facts and diagnostics."""
