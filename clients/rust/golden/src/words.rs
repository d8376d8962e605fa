//! What the driver says.

use std::io::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use clew::{Code, Error, Reply, v1::Usage};
use prost::Message;
use serde_json::{Value, json};

/// A line about a call.
pub fn say(id: u64, mut what: Value) {
    what["id"] = json!(id);
    let mut out = std::io::stdout().lock();
    // Whoever does not listen any more has no use for it.
    let _ = writeln!(out, "{what}").and_then(|()| out.flush());
}

/// A message of the contract.
pub fn message(message: &impl Message) -> Value {
    json!(STANDARD.encode(message.encode_to_vec()))
}

/// Several of them.
pub fn messages<M: Message>(all: &[M]) -> Value {
    all.iter().map(message).collect()
}

pub fn reply(reply: Reply) -> Value {
    let Usage { input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens } = reply.usage;
    json!({
        "status": reply.status.as_str(),
        "text": reply.text,
        "thread_id": reply.thread_id,
        "thread_uid": reply.thread_uid,
        "run_id": reply.run_id,
        "version": reply.version,
        "message_id": reply.message_id,
        "message": reply.message.as_ref().map(message),
        "approvals": messages(&reply.approvals),
        "usage": {
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
            "cached_input_tokens": cached_input_tokens,
            "cache_write_tokens": cache_write_tokens,
            "reasoning_tokens": reasoning_tokens,
        },
        "steps": reply.steps,
        "snapshot": STANDARD.encode(reply.snapshot),
    })
}

pub fn error(error: &Error) -> Value {
    let mut told = json!({"code": error.code().as_str(), "message": error.message(), "metadata": error.metadata()});
    if let Some(wait) = error.retry_after() {
        told["retry_after"] = json!(wait.as_secs_f64());
    }
    if let Some(failure) = error.failure().filter(|_| *error.code() == Code::RunFailed) {
        let code = failure.code.as_str_name().trim_start_matches("FAILURE_CODE_").to_lowercase();
        told["failure_code"] = json!(code);
        told["retryable"] = json!(failure.retryable);
    }
    told
}
