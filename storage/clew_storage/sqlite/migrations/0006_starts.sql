-- What a copy or a rewind asks the log for: intents and forks, by their codes. Few rows are either, so most writes do not touch this.
CREATE INDEX starts ON checkpoints (id) WHERE source IN (2, 7);
