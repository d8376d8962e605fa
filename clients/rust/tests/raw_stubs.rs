//! The stubs alone, over a plain channel, drive a real server: all that the layer does is done with the contract.

use std::process::Stdio;

use clew::{
    Event, Payload,
    v1::{
        CancelRunRequest, DecideRequest, Decision, RetryRequest, SendRequest, WatchRequest, decision,
        run_service_client::RunServiceClient, send_request,
    },
};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};
use tonic::{Status, Streaming, transport::Channel};

const SUPPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/support.py");
const THREAD: &str = "ticket-7";

/// A server of the support agent that keeps nothing, by the command that CLEW names; and where it is.
async fn a_server() -> (Child, String) {
    let clew = std::env::var("CLEW").unwrap_or_else(|_| "clew".to_owned());
    let mut server = Command::new(clew)
        .args(["serve", SUPPORT, "--port", "0", "--json", "--storage", "memory://"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("CLEW starts a server");
    let mut lines = BufReader::new(server.stdout.take().expect("it is piped")).lines();
    let line = lines.next_line().await.expect("it says where it is").expect("it has not ended");
    let told: serde_json::Value = serde_json::from_str(&line).expect("it speaks JSON");
    let address = told["address"].as_str().expect("it says its address").to_owned();
    (server, address)
}

/// What a stream tells, to its end.
async fn told<T>(response: tonic::Response<Streaming<T>>, events: fn(T) -> Vec<Event>) -> Result<Vec<Payload>, Status> {
    let mut stream = response.into_inner();
    let mut told = Vec::new();
    while let Some(message) = stream.message().await? {
        told.extend(events(message).into_iter().filter_map(|event| event.payload));
    }
    Ok(told)
}

fn send(text: &str) -> SendRequest {
    SendRequest {
        thread_id: THREAD.to_owned(),
        app: "support".to_owned(),
        input: Some(send_request::Input::Text(text.to_owned())),
        ..Default::default()
    }
}

#[tokio::test]
async fn the_stubs_alone_send_decide_retry_and_watch() -> Result<(), Status> {
    let (_server, address) = a_server().await;
    let channel = Channel::from_shared(format!("http://{address}")).expect("an address").connect_lazy();
    let mut runs = RunServiceClient::new(channel);

    let asked = told(runs.send(send("Please refund order A-1001")).await?, |message| message.events).await?;
    let Some(Payload::RunSuspended(suspended)) = asked.last() else { panic!("it asks first: {asked:?}") };
    let approve = decision::Decision::Approve(decision::Approve::default());
    let decide = DecideRequest {
        thread_id: THREAD.to_owned(),
        decisions: vec![Decision { approval_id: suspended.approvals[0].id.clone(), decision: Some(approve) }],
        ..Default::default()
    };
    let decided = told(runs.decide(decide).await?, |message| message.events).await?;
    let Some(Payload::RunCompleted(completed)) = decided.last() else { panic!("it goes on: {decided:?}") };
    assert!(!completed.reply.as_ref().expect("it has a reply").text.is_empty());

    told(runs.send(send("Please refund order A-1003")).await?, |message| message.events).await?;
    runs.cancel_run(CancelRunRequest { thread_id: THREAD.to_owned(), ..Default::default() }).await?;
    let retry = RetryRequest { thread_id: THREAD.to_owned(), ..Default::default() };
    let retried = told(runs.retry(retry).await?, |message| message.events).await?;
    assert!(matches!(retried.first(), Some(Payload::RunStarted(started)) if started.attempt == 2), "{retried:?}");
    assert!(matches!(retried.last(), Some(Payload::RunSuspended(_))), "{retried:?}");

    let watch = WatchRequest { thread_id: THREAD.to_owned(), ..Default::default() };
    let seen = told(runs.watch(watch).await?, |message| message.events).await?;
    assert!(matches!(seen.first(), Some(Payload::RunStarted(_))), "{seen:?}");
    assert_eq!(seen.last(), retried.last());
    Ok(())
}
