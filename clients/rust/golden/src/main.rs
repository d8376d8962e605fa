//! The driver of the golden cases: does with the client what lines say, side by side, and tells what came of it. See tests/golden/README.md.

mod reader;
mod verbs;
mod words;

use std::{collections::HashMap, sync::Arc, time::Duration};

use clew::{Client, Error, EventStream};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    sync::{Mutex, Notify, watch},
    task::JoinSet,
};

use crate::{
    reader::{Call, Op},
    words::{error, reply, say},
};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let target = std::env::args().nth(1).expect("the server's address is due");
    let client = Client::new(target).expect("an address is HOST:PORT");
    let driver = Arc::new(Driver { client: Mutex::new(client), streams: Mutex::default() });
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut calls = JoinSet::new();
    while let Some(line) = lines.next_line().await.expect("lines are UTF-8") {
        let call = Call::read(&line);
        driver.announce(&call).await;
        let driver = Arc::clone(&driver);
        calls.spawn(async move { driver.answer(call).await });
    }
    calls.shutdown().await;
    driver.client.lock().await.settled().await;
}

struct Driver {
    client: Mutex<Client>,
    streams: Mutex<HashMap<u64, Arc<Told>>>,
}

/// How others reach a stream.
struct Told {
    may_read: watch::Sender<bool>,
    leave: Notify,
    ended: watch::Sender<bool>,
}

impl Driver {
    /// Lets lines that come later find the stream.
    async fn announce(&self, call: &Call) {
        if matches!(call.op, Op::Attempt | Op::Watch) {
            let told =
                Told { may_read: watch::Sender::new(true), leave: Notify::new(), ended: watch::Sender::new(false) };
            self.streams.lock().await.insert(call.id, Arc::new(told));
        }
    }

    async fn answer(&self, call: Call) {
        let outcome = match call.op {
            Op::Attempt | Op::Watch => self.stream(&call).await,
            Op::Control => self.control(&call).await,
            Op::Read => self.read(&call).await,
        };
        say(call.id, outcome.unwrap_or_else(|failed| json!({"error": error(&failed)})));
        if let Some(told) = self.streams.lock().await.get(&call.id) {
            told.ended.send_replace(true);
        }
    }

    async fn stream(&self, call: &Call) -> Result<Value, Error> {
        let told = Arc::clone(&self.streams.lock().await[&call.id]);
        let thread = call.thread(&*self.client.lock().await);
        let mut stream = verbs::stream(call, &thread);
        let mut may_read = told.may_read.subscribe();
        tokio::select! {
            biased;
            () = told.leave.notified() => {}
            told = tell(call.id, &mut stream, &mut may_read) => {
                told?;
                return match call.op {
                    Op::Watch => Ok(json!({"result": null})),
                    _ => Ok(json!({"reply": reply(stream.reply().await?)})),
                };
            }
        }
        stream.leave().await;
        Ok(json!({"left": true}))
    }

    async fn control(&self, call: &Call) -> Result<Value, Error> {
        if call.name == "connect" {
            *self.client.lock().await = connect(call)?;
            return Ok(json!({"result": null}));
        }
        let told = Arc::clone(&self.streams.lock().await[&call.of()]);
        match call.name.as_str() {
            "leave" => {
                told.leave.notify_one();
                let mut ended = told.ended.subscribe();
                ended.wait_for(|ended| *ended).await.expect("its sender is held here");
            }
            name => {
                told.may_read.send_replace(name == "read_on");
            }
        }
        Ok(json!({"result": null}))
    }

    async fn read(&self, call: &Call) -> Result<Value, Error> {
        let thread = call.thread(&*self.client.lock().await);
        Ok(json!({"result": verbs::read(call, &thread).await?}))
    }
}

/// Tells every event, and reads the next one only while that is wanted.
async fn tell(id: u64, stream: &mut EventStream, may_read: &mut watch::Receiver<bool>) -> Result<(), Error> {
    while let Some(event) = stream.next().await {
        say(id, json!({"event": words::message(&event?)}));
        may_read.wait_for(|may| *may).await.expect("its sender is held by the driver");
    }
    Ok(())
}

fn connect(call: &Call) -> Result<Client, Error> {
    let mut builder = Client::builder().target(call.text("target"));
    let times = call.told["times"].as_object().into_iter().flatten();
    for (name, seconds) in times {
        let time = Duration::from_secs_f64(seconds.as_f64().expect("times are seconds"));
        builder = match name.as_str() {
            "timeout" => builder.timeout(time),
            "connect_timeout" => builder.connect_timeout(time),
            "rejoin_timeout" => builder.rejoin_timeout(time),
            "leave_timeout" => builder.leave_timeout(time),
            _ => panic!("there is no time {name}"),
        };
    }
    builder.build()
}
