//! How long a broken stream is tried again, and how soon.

use std::time::Duration;

use tokio::time::Instant;

use crate::settings::Settings;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Counts tries since the server was last heard.
#[derive(Debug)]
pub(crate) struct Patience {
    since: Instant,
    limit: Duration,
    rejoin: Duration,
    pause: Duration,
}

impl Patience {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            since: Instant::now(),
            limit: settings.connect_timeout,
            rejoin: settings.rejoin_timeout,
            pause: FIRST_PAUSE,
        }
    }

    /// Something came.
    pub(crate) fn heard(&mut self) {
        self.since = Instant::now();
        self.limit = self.rejoin;
        self.pause = FIRST_PAUSE;
    }

    /// How long to wait before the next try; none when there has been no word for too long.
    pub(crate) fn pause(&mut self) -> Option<Duration> {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        (self.since.elapsed() + pause <= self.limit).then_some(pause)
    }
}
