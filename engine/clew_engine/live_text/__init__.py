"""Text while it is written: what there is of it so far, and how it comes to the servers that watch."""
