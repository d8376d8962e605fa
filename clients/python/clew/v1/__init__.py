"""The contract's messages and stubs, generated from `proto/clew/v1` by `make generate`."""
