"""The storage port, its records and errors; backends are opened by URL."""
