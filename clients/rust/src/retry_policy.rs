//! What is tried again, and how soon: the service config that all clients share.

use std::{sync::LazyLock, time::Duration};

use serde_json::Value;
use tonic::Code;
use uuid::Uuid;

const SERVICE_CONFIG: &str = include_str!("generated/service_config.json");
/// How much a pause varies, so that clients which failed together do not come again together.
const JITTER: f64 = 0.2;

/// The policy of every method of the contract.
pub(crate) static POLICY: LazyLock<RetryPolicy> =
    LazyLock::new(|| RetryPolicy::read(SERVICE_CONFIG).expect("the service config is part of this crate"));

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RetryPolicy {
    tries: u64,
    first_pause: Duration,
    longest_pause: Duration,
    growth: f64,
    statuses: Vec<Code>,
}

impl RetryPolicy {
    fn read(config: &str) -> Option<Self> {
        let config: Value = serde_json::from_str(config).ok()?;
        let policy = &config["methodConfig"][0]["retryPolicy"];
        Some(Self {
            tries: policy["maxAttempts"].as_u64()?,
            first_pause: seconds(&policy["initialBackoff"])?,
            longest_pause: seconds(&policy["maxBackoff"])?,
            growth: policy["backoffMultiplier"].as_f64()?,
            statuses: policy["retryableStatusCodes"].as_array()?.iter().map(status).collect::<Option<_>>()?,
        })
    }

    /// Whether a call that ended so, before anything came, may be made again.
    pub(crate) fn covers(&self, status: Code) -> bool {
        self.statuses.contains(&status)
    }

    /// The pauses between tries; as many as there are.
    pub(crate) fn pauses(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        let (longest, growth) = (self.longest_pause, self.growth);
        let mut pause = self.first_pause;
        (1..self.tries).map(move |_| {
            let varied = pause.mul_f64(1.0 - JITTER + 2.0 * JITTER * chance());
            pause = pause.mul_f64(growth).min(longest);
            varied
        })
    }
}

fn seconds(told: &Value) -> Option<Duration> {
    told.as_str()?.strip_suffix('s')?.parse().ok().map(Duration::from_secs_f64)
}

/// The codes that gRPC lets a policy name, as far as the contract's does.
fn status(told: &Value) -> Option<Code> {
    match told.as_str()? {
        "ABORTED" => Some(Code::Aborted),
        "RESOURCE_EXHAUSTED" => Some(Code::ResourceExhausted),
        "UNAVAILABLE" => Some(Code::Unavailable),
        _ => None,
    }
}

/// Between 0 and 1.
fn chance() -> f64 {
    f64::from(Uuid::new_v4().as_bytes()[0]) / 255.0
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tonic::Code;

    use super::POLICY;

    #[test]
    fn the_shared_service_config_is_what_is_kept_to() {
        assert!(POLICY.covers(Code::Unavailable));
        assert!(![Code::Internal, Code::Unknown, Code::Aborted].into_iter().any(|status| POLICY.covers(status)));
        assert_eq!((POLICY.tries, POLICY.first_pause), (5, Duration::from_millis(100)));
        assert_eq!((POLICY.longest_pause, POLICY.statuses.len()), (Duration::from_secs(2), 1));
    }

    #[test]
    fn pauses_grow_to_the_longest_and_vary_by_a_fifth() {
        let pauses: Vec<Duration> = POLICY.pauses().collect();
        assert_eq!(pauses.len(), 4);
        for (pause, due) in pauses.iter().zip([100, 200, 400, 800]) {
            let due = Duration::from_millis(due);
            assert!(*pause >= due.mul_f64(0.799) && *pause <= due.mul_f64(1.201), "{pause:?} {due:?}");
        }
    }
}
