//! The client's verbs, as lines name them.

use clew::{Attempt, Decision, Error, EventStream, Limits, OnBusy, Order, Thread, verbs::Verb};
use serde_json::{Value, json};

use crate::{
    reader::Call,
    words::{message, messages},
};

/// The stream that a line asks for.
pub fn stream(call: &Call, thread: &Thread) -> EventStream {
    match call.name.as_str() {
        "send" => {
            let mut send = thread.send(call.text("text")).user_id(call.text("user_id"));
            if let Some(state) = call.json("state") {
                send = send.state(state);
            }
            attempt(call, send)
        }
        "run" => attempt(call, thread.run(call.json("values").unwrap_or_default())),
        "decide" => {
            let decisions = call.told["decisions"].as_array().expect("decisions are a list");
            attempt(call, thread.decide(decisions.iter().map(decision)))
        }
        "approve" => {
            let mut approve = thread.approve().ids(call.texts("ids"));
            if let Some(arguments) = call.json("arguments") {
                approve = approve.arguments(arguments);
            }
            attempt(call, approve)
        }
        "reject" => attempt(call, thread.reject(call.text("reason")).ids(call.texts("ids"))),
        "resume" => attempt(call, thread.resume(call.json("value").unwrap_or_default())),
        "retry" => attempt(call, thread.retry()),
        _ => {
            let mut watch = thread.watch().run_id(call.text("run_id"));
            watch = watch.after_version(call.number("after_version").unwrap_or(0));
            watch = watch.follow(call.told["follow"].as_bool().unwrap_or(false));
            if let Some(timeout) = call.time("timeout") {
                watch = watch.timeout(timeout);
            }
            watch.stream()
        }
    }
}

/// What a line that asks once is answered with.
pub async fn read(call: &Call, thread: &Thread) -> Result<Value, Error> {
    Ok(match call.name.as_str() {
        "messages" => {
            let order = if call.text("order") == "newest_first" { Order::NewestFirst } else { Order::OldestFirst };
            let mut query = thread.messages().search(call.text("search")).order(order);
            if let Some(limit) = limit(call) {
                query = query.limit(limit);
            }
            messages(&query.await?)
        }
        "state" => {
            let state: Value = thread.state().checkpoint(call.text("checkpoint")).await?;
            json!(state.to_string())
        }
        "history" => {
            let mut query = thread.history();
            if let Some(limit) = limit(call) {
                query = query.limit(limit);
            }
            messages(&query.await?)
        }
        "rewind" => message(&thread.rewind(call.text("checkpoint")).await?),
        "copy" => json!(thread.copy(call.text("to")).await?.id()),
        "cancel" => message(&thread.cancel().run_id(call.text("run_id")).await?),
        "info" => message(&thread.info().await?),
        "approvals" => messages(&thread.approvals().await?),
        "update_state" => {
            let values = call.json("values").unwrap_or_else(|| json!({}));
            message(&thread.update_state(values).remove_keys(call.texts("remove_keys")).await?)
        }
        "delete" => json!(thread.delete().await?),
        name => panic!("there is no op {name}"),
    })
}

fn attempt<V: Verb>(call: &Call, mut attempt: Attempt<V>) -> EventStream {
    if let Some(on_busy) = call.given("on_busy") {
        attempt = attempt.on_busy(match on_busy.as_str() {
            "wait" => OnBusy::Wait,
            "reject" => OnBusy::Reject,
            _ => OnBusy::Interrupt,
        });
    }
    if let Some(timeout) = call.time("busy_timeout") {
        attempt = attempt.busy_timeout(timeout);
    }
    if let Some(version) = call.number("expected_version") {
        attempt = attempt.expected_version(version);
    }
    if let Some(id) = call.given("request_id") {
        attempt = attempt.request_id(id);
    }
    if let Some(timeout) = call.time("timeout") {
        attempt = attempt.timeout(timeout);
    }
    if let Some(limits) = call.told.get("limits") {
        attempt = attempt.limits(Limits {
            steps: limits["steps"].as_i64().map(|steps| steps.try_into().expect("steps are few")),
            tokens: limits["tokens"].as_i64(),
            duration: limits["seconds"].as_f64().map(std::time::Duration::from_secs_f64),
            tool_timeout: limits["tool_seconds"].as_f64().map(std::time::Duration::from_secs_f64),
        });
    }
    attempt.stream()
}

fn decision(told: &Value) -> Decision {
    let told = told.as_object().expect("a decision is an object");
    let id = told["id"].as_str().expect("a decision has an id");
    let (name, value) = told.iter().find(|(name, _)| *name != "id").expect("a decision has a choice");
    let text = || value.as_str().expect("the choice is a text");
    let json = || serde_json::from_str::<Value>(text()).expect("values are JSON");
    match name.as_str() {
        "approve" => Decision::approve(id),
        "arguments" => Decision::approve_with(id, json()),
        "reject" => Decision::reject(id, text()),
        "value" => Decision::answer(id, json()),
        "run_again" => Decision::run_again(id),
        "result" => Decision::result(id, json()),
        _ => Decision::fail(id, text()),
    }
}

fn limit(call: &Call) -> Option<usize> {
    call.number("limit").map(|limit| limit.try_into().expect("a limit is a count"))
}
