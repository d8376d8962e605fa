//! The time that a call may take, held to on this side too: a connection that hangs does not tell that it is over.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
use tonic::{Status, body::Body};

const HEADER: &str = "grpc-timeout";
/// Longer than any call, and short enough to be added to any time.
const LONGEST: Duration = Duration::from_secs(3_155_760_000);

/// When a call is over, if ever.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// By what the call's headers say, and else by the default.
    pub(crate) fn of(headers: &HeaderMap, default: Option<Duration>) -> Self {
        let told = headers.get(HEADER).and_then(|value| read(value.to_str().ok()?));
        Self(told.or(default).map(|limit| Instant::now() + limit.min(LONGEST)))
    }

    /// Tells the server how much of it is left.
    pub(crate) fn write(self, headers: &mut HeaderMap) {
        if let Some(at) = self.0 {
            headers.insert(HEADER, written(at.saturating_duration_since(Instant::now())));
        }
    }

    /// Waits for something within it.
    pub(crate) async fn keep<T>(self, work: impl Future<Output = T>) -> Result<T, Status> {
        match self.0 {
            None => Ok(work.await),
            Some(at) => timeout_at(at, work).await.map_err(|_| late()),
        }
    }

    /// The status, or that the time was over, which the transport has words of its own for.
    pub(crate) fn judged(self, status: Status) -> Status {
        let over = self.0.is_some_and(|at| Instant::now() + Duration::from_millis(2) >= at);
        if over && status.code() == tonic::Code::Cancelled { late() } else { status }
    }

    /// The body of an answer, which ends with a status when the time is over.
    pub(crate) fn bound(self, body: Body) -> Body {
        match self.0 {
            None => body,
            Some(at) => Body::new(BoundBody { body, sleep: Box::pin(sleep_until(at)) }),
        }
    }
}

fn late() -> Status {
    Status::deadline_exceeded("the call's time is over")
}

struct BoundBody {
    body: Body,
    sleep: Pin<Box<Sleep>>,
}

impl http_body::Body for BoundBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Pending => self.sleep.as_mut().poll(context).map(|()| Some(Err(late()))),
            ready @ Poll::Ready(_) => ready,
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

/// A time as gRPC writes it: up to 8 digits and a unit.
fn read(value: &str) -> Option<Duration> {
    let (number, unit) = value.split_at_checked(value.len().checked_sub(1)?)?;
    let number: u64 = number.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(number.saturating_mul(3600))),
        "M" => Some(Duration::from_secs(number.saturating_mul(60))),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

fn written(limit: Duration) -> HeaderValue {
    let units = [(limit.as_micros(), 'u'), (limit.as_millis(), 'm'), (limit.as_secs().into(), 'S')];
    let (number, unit) = units
        .into_iter()
        .find(|(number, _)| *number < 100_000_000)
        .unwrap_or((u128::from(limit.as_secs() / 3600).min(99_999_999), 'H'));
    HeaderValue::from_str(&format!("{number}{unit}")).expect("digits and a letter")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LONGEST, read, written};

    #[test]
    fn times_are_written_as_they_are_read() {
        for limit in [Duration::ZERO, Duration::from_micros(1), Duration::from_secs(30), Duration::from_secs(86_400)] {
            assert_eq!(read(written(limit).to_str().unwrap()), Some(limit));
        }
        assert_eq!(written(LONGEST), "876600H");
    }

    #[test]
    fn what_is_no_time_is_none() {
        for value in ["", "u", "12", "12x", "-1S", "ü"] {
            assert_eq!(read(value), None, "{value}");
        }
    }
}
