//! From a gRPC status to the error that it stands for.

use std::{collections::BTreeMap, time::Duration};

use prost::Message as _;
use tonic::Status;
use tonic_types::{ErrorDetail, RpcStatusExt as _, pb};

use crate::{Code, Error};

const DOMAIN: &str = "clew";
const REPEAT: &str = "what was asked may have happened: repeat it with the same request id";

/// What a status says of the reason, where the server gave one.
pub(crate) struct Details {
    pub(crate) reason: Option<Reason>,
    pub(crate) retry_after: Option<Duration>,
}

pub(crate) struct Reason {
    pub(crate) name: String,
    pub(crate) metadata: BTreeMap<String, String>,
}

/// The error of a call to a target that ended with a status. What only the transport said of it is in the metadata, under `transport`.
pub(crate) fn error_of(status: &Status, target: &str) -> Error {
    let Details { reason, retry_after } = details_of(status);
    let error = if let Some(Reason { name, metadata }) = reason {
        Error::new(Code::from(name.to_lowercase().as_str()), status.code(), status.message()).with_metadata(metadata)
    } else {
        let code = Code::from(status.code());
        Error::new(code.clone(), status.code(), words(status.code(), target))
            .about("target", target)
            .about("status", code.as_str().to_uppercase())
            .about("transport", status.message())
    };
    error.with_retry_after(retry_after)
}

/// Whether a stream that ended so was broken or cut, and not refused: it may be joined again.
pub(crate) fn is_break(status: &Status) -> bool {
    use tonic::Code::{Cancelled, Internal, Unavailable, Unknown};
    match details_of(status).reason {
        None => matches!(status.code(), Cancelled | Internal | Unavailable | Unknown),
        // A server that only reads its file does so now and later.
        Some(reason) if reason.metadata.get("access").is_some_and(|access| access == "read_only") => false,
        Some(reason) => status.code() == Unavailable || reason.name == "LEASE_LOST",
    }
}

/// What a status inside an event says.
pub(crate) fn failure_details(status: &pb::Status) -> Details {
    let mut found = Details { reason: None, retry_after: None };
    for detail in status.get_error_details_vec() {
        match detail {
            ErrorDetail::ErrorInfo(info) if info.domain == DOMAIN => {
                found.reason = Some(Reason { name: info.reason, metadata: info.metadata.into_iter().collect() });
            }
            ErrorDetail::RetryInfo(info) => found.retry_after = info.retry_delay,
            _ => {}
        }
    }
    found
}

fn details_of(status: &Status) -> Details {
    failure_details(&pb::Status::decode(status.details()).unwrap_or_default())
}

/// What the transport's own words stand for: what happened, and what to do next.
fn words(status: tonic::Code, target: &str) -> String {
    match status {
        tonic::Code::Cancelled => format!("the call to {target} was cancelled before it ended; {REPEAT}"),
        tonic::Code::DeadlineExceeded => format!(
            "{target} did not finish the call within its timeout. A run that has started goes on; {REPEAT}, or give the call more time"
        ),
        tonic::Code::Unavailable => format!(
            "no server answers at {target}, or the connection broke; {REPEAT}. Where it stays so, see that the target is right, and that both sides speak TLS or neither"
        ),
        tonic::Code::Unknown | tonic::Code::Internal => {
            format!("the connection to {target} broke in the middle of the call; {REPEAT}")
        }
        tonic::Code::ResourceExhausted | tonic::Code::OutOfRange => format!(
            "a message to or from {target} is larger than the transport takes, or something on the way has no room for it; send less at once"
        ),
        tonic::Code::Unimplemented => {
            format!("{target} does not know this call: it is a server of an older version, or none of Clew's")
        }
        tonic::Code::Unauthenticated => {
            format!("{target} asks for a credential, or does not accept this one; give the client a token")
        }
        tonic::Code::PermissionDenied => format!("{target} does not allow this with the credential that was given"),
        other => format!("{target} refused the call with {}", Code::from(other)),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, time::Duration};

    use tonic::{Code as Grpc, Status};
    use tonic_types::{ErrorDetails, StatusExt as _};

    use super::{error_of, is_break};
    use crate::Code;

    fn refused(status: Grpc, reason: &str, domain: &str, metadata: &[(&str, &str)]) -> Status {
        let metadata: HashMap<String, String> =
            metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let mut details = ErrorDetails::with_error_info(reason, domain, metadata);
        details.set_retry_info(Some(Duration::from_millis(1500)));
        Status::with_error_details(status, "so it is", details)
    }

    #[test]
    fn a_reason_is_the_code_and_brings_what_it_names() {
        let error = error_of(&refused(Grpc::Aborted, "THREAD_BUSY", "clew", &[("thread_id", "t-1")]), "here:1");
        assert_eq!(error.code(), &Code::ThreadBusy);
        assert_eq!(error.message(), "so it is");
        assert_eq!(error.metadata()["thread_id"], "t-1");
        assert_eq!(error.retry_after(), Some(Duration::from_millis(1500)));
    }

    #[test]
    fn a_reason_that_is_not_known_keeps_its_code_and_its_status() {
        let error = error_of(&refused(Grpc::NotFound, "SOMETHING_NEW", "clew", &[]), "here:1");
        assert_eq!((error.code().as_str(), error.status()), ("something_new", Grpc::NotFound));
    }

    #[test]
    fn without_a_reason_of_clews_the_code_is_the_status() {
        for status in [Status::unavailable("connect"), refused(Grpc::Unavailable, "THREAD_BUSY", "elsewhere", &[])] {
            let error = error_of(&status, "here:1");
            assert_eq!(error.code(), &Code::Unavailable);
            assert_eq!(error.metadata()["transport"], status.message());
            assert!(error.message().contains("here:1"));
        }
    }

    #[test]
    fn a_break_is_what_a_connection_or_a_server_that_stops_ends_a_stream_with() {
        for status in [Grpc::Cancelled, Grpc::Internal, Grpc::Unavailable, Grpc::Unknown] {
            assert!(is_break(&Status::new(status, "")), "{status:?}");
        }
        for status in [Grpc::DeadlineExceeded, Grpc::NotFound, Grpc::Unauthenticated, Grpc::ResourceExhausted] {
            assert!(!is_break(&Status::new(status, "")), "{status:?}");
        }
        assert!(is_break(&refused(Grpc::Unavailable, "STREAM_CUT", "clew", &[])));
        assert!(is_break(&refused(Grpc::Aborted, "LEASE_LOST", "clew", &[])));
        assert!(!is_break(&refused(Grpc::Internal, "INTERNAL", "clew", &[])));
        assert!(!is_break(&refused(Grpc::Cancelled, "CANCELLED", "clew", &[])));
        assert!(!is_break(&refused(Grpc::Unavailable, "STORAGE_UNAVAILABLE", "clew", &[("access", "read_only")])));
    }
}
