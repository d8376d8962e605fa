"""The contract served: a handler calls the engine and translates, and interceptors do what all calls have in common."""
