"""Others that make agents durable, and the same turn on each of them."""
