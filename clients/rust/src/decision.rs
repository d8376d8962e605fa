//! What a person decides on an approval.

use serde::Serialize;

use crate::{
    Result,
    json_text::{encode, encode_object},
    v1::{self, decision},
};

/// An answer to one approval.
#[must_use = "it is `decide` that sends it"]
#[derive(Debug, Clone)]
pub struct Decision(Result<v1::Decision>);

impl Decision {
    /// Lets a tool call run as it was asked.
    pub fn approve(approval_id: impl Into<String>) -> Self {
        Self::made(approval_id.into(), Ok(decision::Decision::Approve(decision::Approve { arguments_json: None })))
    }

    /// Lets a tool call run with other arguments: what serializes to a JSON object that the tool's schema allows.
    pub fn approve_with(approval_id: impl Into<String>, arguments: impl Serialize) -> Self {
        let text = encode_object(&arguments, "decisions.approve.arguments_json");
        let choice = |text| decision::Decision::Approve(decision::Approve { arguments_json: Some(text) });
        Self::made(approval_id.into(), text.map(choice))
    }

    /// Keeps a tool call from running, or leaves a pause without an answer; the model reads the reason, up to 4 KiB.
    pub fn reject(approval_id: impl Into<String>, reason: impl Into<String>) -> Self {
        let reject = decision::Reject { reason: reason.into() };
        Self::made(approval_id.into(), Ok(decision::Decision::Reject(reject)))
    }

    /// Gives a pause its value.
    pub fn answer(approval_id: impl Into<String>, value: impl Serialize) -> Self {
        let text = encode(&value, "decisions.value_json");
        Self::made(approval_id.into(), text.map(decision::Decision::ValueJson))
    }

    /// Starts a call whose outcome is not known again, knowing that it may have taken effect.
    pub fn run_again(approval_id: impl Into<String>) -> Self {
        Self::settled(approval_id.into(), Ok(decision::outcome::Outcome::RunAgain(decision::outcome::RunAgain {})))
    }

    /// Says that a call whose outcome is not known took effect, and what its result is.
    pub fn result(approval_id: impl Into<String>, value: impl Serialize) -> Self {
        let text = encode(&value, "decisions.outcome.result_json");
        Self::settled(approval_id.into(), text.map(decision::outcome::Outcome::ResultJson))
    }

    /// Says that a call whose outcome is not known failed; the model reads the reason, up to 4 KiB.
    pub fn fail(approval_id: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::settled(approval_id.into(), Ok(decision::outcome::Outcome::Fail(reason.into())))
    }

    pub(crate) fn wire(self) -> Result<v1::Decision> {
        self.0
    }

    fn settled(approval_id: String, outcome: Result<decision::outcome::Outcome>) -> Self {
        let choice = |outcome| decision::Decision::Outcome(decision::Outcome { outcome: Some(outcome) });
        Self::made(approval_id, outcome.map(choice))
    }

    /// A value that JSON cannot say is refused when it would be sent.
    fn made(approval_id: String, choice: Result<decision::Decision>) -> Self {
        Self(choice.map(|choice| v1::Decision { approval_id, decision: Some(choice) }))
    }
}
