"""One execution of a body: claims, records, failures, keys, and its commit. No SQL, no clock of its own."""
