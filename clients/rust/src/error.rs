//! What goes wrong, as its callers see it.

use std::{collections::BTreeMap, fmt, time::Duration};

use crate::{
    Code,
    v1::{FailureCode, Usage},
};

/// What a call ended with. Programs read `code` and `metadata`; the text, which `Display` gives, is for people and may change.
///
/// ```
/// # fn look(error: &clew::Error) {
/// use clew::Code;
///
/// match error.code() {
///     Code::ThreadBusy => println!("again in {:?}", error.retry_after()),
///     Code::ThreadSuspended => println!("first decide {}", error.metadata()["approval_ids"]),
///     code => println!("{code}: {error}"),
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct Error(Box<Told>);

#[derive(Debug, Clone)]
struct Told {
    code: Code,
    status: tonic::Code,
    message: String,
    metadata: BTreeMap<String, String>,
    retry_after: Option<Duration>,
    failure: Option<Failure>,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// The reason, as the contract has it.
    pub code: FailureCode,
    /// Whether `retry` may succeed without anything else being changed.
    pub retryable: bool,
    /// The run.
    pub run_id: String,
    /// What the run's models used in all its attempts so far.
    pub usage: Usage,
    /// Of a run without a thread, what `ResumeRequest` continues it from; else empty.
    pub snapshot: Vec<u8>,
}

/// The result of every call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(code: Code, status: tonic::Code, message: impl Into<String>) -> Self {
        Self(Box::new(Told {
            code,
            status,
            message: message.into(),
            metadata: BTreeMap::new(),
            retry_after: None,
            failure: None,
        }))
    }

    /// A field that is refused before anything is sent.
    pub(crate) fn argument(field: &str, why: impl fmt::Display) -> Self {
        Self::new(Code::ArgumentInvalid, tonic::Code::InvalidArgument, format!("{field}: {why}")).about("field", field)
    }

    pub(crate) fn about(mut self, key: &str, value: impl Into<String>) -> Self {
        self.0.metadata.insert(key.to_owned(), value.into());
        self
    }

    pub(crate) fn with_metadata(mut self, metadata: BTreeMap<String, String>) -> Self {
        self.0.metadata = metadata;
        self
    }

    pub(crate) fn with_retry_after(mut self, retry_after: Option<Duration>) -> Self {
        self.0.retry_after = retry_after;
        self
    }

    pub(crate) fn with_failure(mut self, failure: Failure) -> Self {
        self.0.failure = Some(failure);
        self
    }

    /// Why, for programs.
    #[must_use]
    pub fn code(&self) -> &Code {
        &self.0.code
    }

    /// The gRPC status that it came with, or that stands for it: what sort of error a code is that a program does not know.
    #[must_use]
    pub fn status(&self) -> tonic::Code {
        self.0.status
    }

    /// What went wrong and what to do next, for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Every value that the message names, by the contract's names.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.0.metadata
    }

    /// How long to wait before another try, where the server knows it.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Of a run that failed (`run_failed`, `cancelled`), why.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.0.failure.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message())
    }
}

impl std::error::Error for Error {}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = &self.0;
        let mut shown = formatter.debug_struct("Error");
        shown.field("code", &told.code).field("message", &told.message);
        shown.field("metadata", &told.metadata).field("retry_after", &told.retry_after);
        shown.field("failure", &told.failure).finish_non_exhaustive()
    }
}
