//! Connections are made by hyper, but not one after the other to a server that is away.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::time::Instant;
use tower_service::Service;

type Connected = <HttpConnector as Service<Uri>>::Response;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Dials; for a while after a failure it says at once that there is no connection.
#[derive(Debug, Clone)]
pub(crate) struct Dialer {
    tcp: HttpConnector,
    backoff: Arc<Mutex<Backoff>>,
}

impl Dialer {
    pub(crate) fn new() -> Self {
        let mut tcp = HttpConnector::new();
        // TLS comes on top of it.
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        Self { tcp, backoff: Arc::default() }
    }
}

impl Service<Uri> for Dialer {
    type Response = Connected;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Connected, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let backoff = Arc::clone(&self.backoff);
        if let Some(why) = lock(&backoff).refusal(Instant::now()) {
            return Box::pin(async move { Err(why.into()) });
        }
        let dialing = self.tcp.call(target);
        Box::pin(async move {
            let connected = dialing.await;
            match &connected {
                Ok(_) => lock(&backoff).succeeded(),
                Err(error) => lock(&backoff).failed(Instant::now(), &error.to_string()),
            }
            connected.map_err(Into::into)
        })
    }
}

fn lock(backoff: &Mutex<Backoff>) -> std::sync::MutexGuard<'_, Backoff> {
    backoff.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When the next try is due, and what the last one ended with.
#[derive(Debug, Default)]
struct Backoff {
    last: Option<(Instant, Duration, String)>,
}

impl Backoff {
    fn refusal(&self, now: Instant) -> Option<String> {
        self.last.as_ref().filter(|(due, ..)| now < *due).map(|(_, _, why)| why.clone())
    }

    fn failed(&mut self, now: Instant, why: &str) {
        let pause = self.last.as_ref().map_or(FIRST_PAUSE, |(_, pause, _)| (*pause * 2).min(LONGEST_PAUSE));
        self.last = Some((now + pause, pause, why.to_owned()));
    }

    fn succeeded(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::Backoff;

    #[test]
    fn a_server_that_is_away_is_dialled_less_and_less_often_up_to_once_a_second() {
        let (mut backoff, mut now) = (Backoff::default(), Instant::now());
        assert_eq!(backoff.refusal(now), None);
        for pause in [100, 200, 400, 800, 1000, 1000] {
            backoff.failed(now, "refused");
            now += Duration::from_millis(pause);
            assert_eq!(backoff.refusal(now - Duration::from_millis(1)).as_deref(), Some("refused"));
            assert_eq!(backoff.refusal(now), None);
        }
        backoff.succeeded();
        backoff.failed(now, "refused");
        assert_eq!(backoff.refusal(now + Duration::from_millis(100)), None);
    }
}
