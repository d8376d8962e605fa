//! Lines as they are told.

use std::time::Duration;

use clew::{Client, Thread};
use serde_json::Value;

/// One thing to do.
pub struct Call {
    pub id: u64,
    pub name: String,
    pub op: Op,
    pub told: Value,
}

/// What sort of thing it is.
#[derive(Clone, Copy)]
pub enum Op {
    Attempt,
    Watch,
    Control,
    Read,
}

impl Call {
    pub fn read(line: &str) -> Self {
        let told: Value = serde_json::from_str(line).expect("lines are JSON");
        let name = told["op"].as_str().expect("each line has an op").to_owned();
        let op = match name.as_str() {
            "send" | "run" | "decide" | "approve" | "reject" | "resume" | "retry" => Op::Attempt,
            "watch" => Op::Watch,
            "leave" | "hold" | "read_on" | "connect" => Op::Control,
            _ => Op::Read,
        };
        Self { id: told["id"].as_u64().expect("each line has an id"), name, op, told }
    }

    pub fn of(&self) -> u64 {
        self.told["of"].as_u64().expect("a stream is named")
    }

    pub fn thread(&self, client: &Client) -> Thread {
        client.app(self.text("app")).thread(self.text("thread"))
    }

    /// A text, or an empty one.
    pub fn text(&self, name: &str) -> String {
        self.given(name).unwrap_or_default()
    }

    pub fn given(&self, name: &str) -> Option<String> {
        self.told[name].as_str().map(str::to_owned)
    }

    pub fn number(&self, name: &str) -> Option<i64> {
        self.told[name].as_i64()
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        self.told[name]
            .as_array()
            .into_iter()
            .flatten()
            .map(|each| each.as_str().unwrap_or_default().to_owned())
            .collect()
    }

    pub fn time(&self, name: &str) -> Option<Duration> {
        self.told[name].as_f64().map(Duration::from_secs_f64)
    }

    /// A value that travels as text of JSON.
    pub fn json(&self, name: &str) -> Option<Value> {
        self.given(name).map(|text| serde_json::from_str(&text).expect("values are JSON"))
    }
}
