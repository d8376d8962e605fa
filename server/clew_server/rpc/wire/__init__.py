"""Between the engine's values and the contract's messages: pure functions, one module a noun."""
