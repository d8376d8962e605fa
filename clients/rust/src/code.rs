//! The codes of errors.

use std::{convert::Infallible, fmt, str::FromStr};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal,)+) => {
        /// Why a call failed, for programs. Each has a stable word, which `as_str` gives.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $doc])+ $name,)+
            /// A reason that this version does not know, in lower case; [`Error::status`](crate::Error::status) says what sort it is.
            Other(String),
        }

        impl Code {
            /// The word, as `thread_busy`.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $word,)+
                    Self::Other(word) => word,
                }
            }
        }

        impl FromStr for Code {
            type Err = Infallible;

            fn from_str(word: &str) -> Result<Self, Infallible> {
                Ok(match word {
                    $($word => Self::$name,)+
                    _ => Self::Other(word.to_owned()),
                })
            }
        }
    };
}

codes! {
    /// Another run or write holds the thread; nothing happened.
    ThreadBusy = "thread_busy",
    /// The thread is not as the caller expected it; read it again and decide anew.
    VersionConflict = "version_conflict",
    /// The request id was used before for a request with another content.
    RequestIdReused = "request_id_reused",
    /// Another server took the thread over; what had been acknowledged is kept.
    LeaseLost = "lease_lost",
    /// The thread waits for people: approve, reject or decide first.
    ThreadSuspended = "thread_suspended",
    /// The thread's last run ended without a word, as in a crash; `retry` continues it.
    ThreadInterrupted = "thread_interrupted",
    /// There is nothing here that the call could continue.
    ResumeInvalid = "resume_invalid",
    /// Someone else decided first.
    ApprovalAlreadyDecided = "approval_already_decided",
    /// The approval's time was over; it counts as rejected.
    ApprovalExpired = "approval_expired",
    /// The call is not one that waits for a result.
    CallNotPending = "call_not_pending",
    /// The thread belongs to another app.
    AppMismatch = "app_mismatch",
    /// No such thread, or it was deleted.
    ThreadNotFound = "thread_not_found",
    /// The thread has no such checkpoint.
    CheckpointNotFound = "checkpoint_not_found",
    /// The thread has no such message.
    MessageNotFound = "message_not_found",
    /// No such approval, or it belongs to another thread.
    ApprovalNotFound = "approval_not_found",
    /// The thread's newest run is another one, or the request has begun none.
    RunNotFound = "run_not_found",
    /// The server serves no such app.
    AppNotFound = "app_not_found",
    /// The run, or the call, was cancelled. A run is saved, and `retry` continues it.
    Cancelled = "cancelled",
    /// An id breaks the rule for ids.
    IdInvalid = "id_invalid",
    /// State or another JSON value is not acceptable.
    StateInvalid = "state_invalid",
    /// A field is missing or out of range; `field` in the metadata names it.
    ArgumentInvalid = "argument_invalid",
    /// State, a value or a message is over its limit.
    StateTooLarge = "state_too_large",
    /// A quota of the caller is used up.
    QuotaExceeded = "quota_exceeded",
    /// The database has no room; reading still works.
    StorageFull = "storage_full",
    /// The database cannot be reached just now; a write may or may not have happened.
    StorageUnavailable = "storage_unavailable",
    /// A stream that was in good order was ended, and could not be joined again in time; the run goes on.
    StreamCut = "stream_cut",
    /// What was read is not what was written.
    DataCorrupt = "data_corrupt",
    /// No credential, or not a valid one.
    Unauthenticated = "unauthenticated",
    /// The credential does not allow this.
    PermissionDenied = "permission_denied",
    /// Something that was not foreseen; `incident_id` in the metadata finds its cause in the server's log.
    Internal = "internal",
    /// The run ended as failed, and is saved; [`Error::failure`](crate::Error::failure) says why.
    RunFailed = "run_failed",
    /// The time that the call was given is over. What was asked may have happened, and a run that has started goes on.
    DeadlineExceeded = "deadline_exceeded",
    /// No server answers, or the connection broke.
    Unavailable = "unavailable",
    /// The connection broke, or what is at its other end made no sense.
    Unknown = "unknown",
    /// A status without a reason of Clew's.
    InvalidArgument = "invalid_argument",
    /// A status without a reason of Clew's.
    NotFound = "not_found",
    /// A status without a reason of Clew's.
    AlreadyExists = "already_exists",
    /// A status without a reason of Clew's: a message is larger than the transport takes, or something on the way has no room for it.
    ResourceExhausted = "resource_exhausted",
    /// A status without a reason of Clew's.
    FailedPrecondition = "failed_precondition",
    /// A status without a reason of Clew's.
    Aborted = "aborted",
    /// A status without a reason of Clew's: what came is larger than the transport takes.
    OutOfRange = "out_of_range",
    /// The server does not know the call: it is one of an older version, or none of Clew's.
    Unimplemented = "unimplemented",
    /// A status without a reason of Clew's.
    DataLoss = "data_loss",
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl From<&str> for Code {
    fn from(word: &str) -> Self {
        match word.parse() {
            Ok(code) => code,
        }
    }
}

/// The code of a status that has no reason of Clew's.
impl From<tonic::Code> for Code {
    fn from(status: tonic::Code) -> Self {
        match status {
            tonic::Code::Cancelled => Self::Cancelled,
            tonic::Code::InvalidArgument => Self::InvalidArgument,
            tonic::Code::DeadlineExceeded => Self::DeadlineExceeded,
            tonic::Code::NotFound => Self::NotFound,
            tonic::Code::AlreadyExists => Self::AlreadyExists,
            tonic::Code::PermissionDenied => Self::PermissionDenied,
            tonic::Code::ResourceExhausted => Self::ResourceExhausted,
            tonic::Code::FailedPrecondition => Self::FailedPrecondition,
            tonic::Code::Aborted => Self::Aborted,
            tonic::Code::OutOfRange => Self::OutOfRange,
            tonic::Code::Unimplemented => Self::Unimplemented,
            tonic::Code::Internal => Self::Internal,
            tonic::Code::Unavailable => Self::Unavailable,
            tonic::Code::DataLoss => Self::DataLoss,
            tonic::Code::Unauthenticated => Self::Unauthenticated,
            tonic::Code::Ok | tonic::Code::Unknown => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Code;
    use crate::v1::ErrorReason;

    #[test]
    fn every_reason_of_the_contract_is_a_code_of_its_own() {
        let reasons = (1..1000).filter_map(|number| ErrorReason::try_from(number).ok());
        let words: Vec<String> =
            reasons.map(|reason| reason.as_str_name().trim_start_matches("ERROR_REASON_").to_lowercase()).collect();
        assert!(words.len() > 25);
        for word in words {
            let code = Code::from(word.as_str());
            assert!(!matches!(code, Code::Other(_)), "{word} is not known");
            assert_eq!(code.as_str(), word);
        }
    }

    #[test]
    fn a_reason_that_is_not_known_keeps_its_word() {
        assert_eq!(Code::from("something_new").as_str(), "something_new");
    }
}
