//! One channel to a server, and what goes with every call over it.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderMap, HeaderValue, Request, Response, header::AUTHORIZATION};
use http_body_util::{BodyExt as _, Full};
use tokio::{runtime::Handle, time::sleep};
use tokio_util::task::TaskTracker;
use tonic::{
    Status,
    body::Body,
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity},
};
use tower_service::Service;

use crate::{
    Error, Result,
    deadline::Deadline,
    dialer::Dialer,
    refusals::error_of,
    retry_policy::POLICY,
    settings::{Settings, Tls},
    v1::{
        app_service_client::AppServiceClient, approval_service_client::ApprovalServiceClient,
        cache_service_client::CacheServiceClient, checkpoint_service_client::CheckpointServiceClient,
        run_service_client::RunServiceClient, thread_service_client::ThreadServiceClient,
    },
};

const MOST_RECEIVED: usize = 4 << 20;
/// More than any field may have, so that the server refuses what is too large by the field's name.
const MOST_SENT: usize = 8 << 20;
const DIAL_TIMEOUT: Duration = Duration::from_secs(5);
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);
/// What a stream holds that nobody reads. The connection's own window is as wide as can be: else a few such streams would hold up the others.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = (1 << 31) - 1;
/// The methods whose calls have no limit of their own.
const STREAMING: [&str; 7] = [
    "/clew.v1.RunService/Send",
    "/clew.v1.RunService/Decide",
    "/clew.v1.RunService/Resume",
    "/clew.v1.RunService/Retry",
    "/clew.v1.RunService/Watch",
    "/clew.v1.ApprovalService/WatchApprovals",
    "/clew.v1.WorkerService/Work",
];

/// A client's connection, as the stubs of [`v1`](crate::v1) take it: with its token, its deadline for calls that answer once, and its retries.
///
/// It is made by its first call, in the tokio runtime of that call. A clone is the same connection.
#[derive(Clone)]
pub struct Connection(Arc<Core>);

struct Core {
    settings: Settings,
    endpoint: Endpoint,
    channel: OnceLock<Channel>,
    leaving: TaskTracker,
}

macro_rules! stubs {
    ($($(#[doc = $doc:literal])+ $name:ident: $client:ident,)+) => {
        impl Connection {
            $($(#[doc = $doc])+
            #[must_use]
            pub fn $name(&self) -> $client<Connection> {
                $client::new(self.clone()).max_decoding_message_size(MOST_RECEIVED).max_encoding_message_size(MOST_SENT)
            })+
        }
    };
}

stubs! {
    /// The stubs that list apps.
    apps: AppServiceClient,
    /// The stubs of the inbox.
    approvals: ApprovalServiceClient,
    /// The stubs that keep values for a time.
    cache: CacheServiceClient,
    /// The stubs of a thread's history.
    checkpoints: CheckpointServiceClient,
    /// The stubs that start, continue, watch and stop runs.
    runs: RunServiceClient,
    /// The stubs of threads, their state and their messages.
    threads: ThreadServiceClient,
}

impl Connection {
    pub(crate) fn new(settings: Settings) -> Result<Self> {
        settings.check()?;
        let endpoint = endpoint_of(&settings)?;
        Ok(Self(Arc::new(Core { settings, endpoint, channel: OnceLock::new(), leaving: TaskTracker::new() })))
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The error that a refusal stands for.
    pub(crate) fn error_of(&self, status: &Status) -> Error {
        error_of(status, &self.0.settings.target)
    }

    /// The answer to a call that has one.
    pub(crate) async fn ask<T>(&self, call: impl Future<Output = Result<tonic::Response<T>, Status>>) -> Result<T> {
        call.await.map(tonic::Response::into_inner).map_err(|status| self.error_of(&status))
    }

    /// Does something that no caller's end ends; `settled` waits for it.
    pub(crate) fn spawn(&self, runtime: &Handle, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.0.leaving.spawn_on(work, runtime));
    }

    /// Waits for what was spawned until now.
    pub(crate) async fn settled(&self) {
        self.0.leaving.close();
        self.0.leaving.wait().await;
        self.0.leaving.reopen();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connection").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

impl Service<Request<Body>> for Connection {
    type Response = Response<Body>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Status>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        // Each call waits for the channel itself, as often as it is tried.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let core = Arc::clone(&self.0);
        Box::pin(async move { core.carry(request).await })
    }
}

impl Core {
    /// The call, again while the server is unavailable and has said nothing.
    async fn carry(&self, request: Request<Body>) -> Result<Response<Body>, Status> {
        let (mut head, body) = request.into_parts();
        let answers_once = !STREAMING.contains(&head.uri.path());
        let deadline = Deadline::of(&head.headers, answers_once.then_some(self.settings.timeout));
        self.authorize(&mut head.headers)?;
        let body = body.collect().await?.to_bytes();
        let mut pauses = POLICY.pauses();
        loop {
            deadline.write(&mut head.headers);
            let request = Request::from_parts(head.clone(), Body::new(Full::new(body.clone())));
            let answer = deadline.keep(self.once(request)).await?.map_err(|status| deadline.judged(status));
            let status = match &answer {
                Ok(response) => Status::from_header_map(response.headers()).map(|status| status.code()),
                Err(status) => Some(status.code()),
            };
            let again = status.filter(|status| POLICY.covers(*status)).and_then(|_| pauses.next());
            match again {
                Some(pause) => deadline.keep(sleep(pause)).await?,
                None => return answer.map(|response| response.map(|body| deadline.bound(body))),
            }
        }
    }

    async fn once(&self, request: Request<Body>) -> Result<Response<Body>, Status> {
        let channel = self.channel.get_or_init(|| self.endpoint.connect_with_connector_lazy(Dialer::new()));
        let mut channel = channel.clone();
        let ready = poll_fn(|context| channel.poll_ready(context)).await;
        let answer = match ready {
            Ok(()) => channel.call(request).await,
            Err(error) => Err(error),
        };
        answer.map_err(|error| Status::from_error(error.into()))
    }

    fn authorize(&self, headers: &mut HeaderMap) -> Result<(), Status> {
        if let Some(token) = &self.settings.token {
            let value = HeaderValue::from_str(&format!("Bearer {}", token.text()));
            let mut value = value.map_err(|_| Status::unauthenticated("the token has characters that no token has"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(())
    }
}

fn endpoint_of(settings: &Settings) -> Result<Endpoint> {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let endpoint = Endpoint::from_shared(format!("{scheme}://{}", settings.target))
        .and_then(|endpoint| endpoint.user_agent(concat!("clew-rust/", env!("CARGO_PKG_VERSION"))))
        .map_err(|error| Error::argument("target", error))?
        .connect_timeout(DIAL_TIMEOUT)
        .http2_keep_alive_interval(KEEPALIVE)
        .keep_alive_timeout(KEEPALIVE_TIMEOUT)
        .keep_alive_while_idle(false)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    match &settings.tls {
        None => Ok(endpoint),
        Some(tls) => endpoint.tls_config(config_of(tls)).map_err(|error| Error::argument("tls", error)),
    }
}

fn config_of(tls: &Tls) -> ClientTlsConfig {
    let mut config = match &tls.roots {
        None => ClientTlsConfig::new().with_native_roots(),
        Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
    };
    if let Some((certificate, key)) = &tls.identity {
        config = config.identity(Identity::from_pem(certificate, key));
    }
    if let Some(name) = &tls.server_name {
        config = config.domain_name(name);
    }
    config
}

#[cfg(test)]
mod tests {
    use super::STREAMING;

    #[test]
    fn the_methods_that_stream_are_those_of_the_contract() {
        let stubs = include_str!("generated/clew.v1.rs");
        for path in STREAMING {
            let (_, after) = stubs.split_once(&format!("\"{path}\"")).expect(path);
            let (call, _) = after.split_once(".await").expect("each is called");
            assert!(call.contains("self.inner.server_streaming("), "{path}");
        }
        assert_eq!(stubs.matches("self.inner.server_streaming(").count(), STREAMING.len());
    }
}
