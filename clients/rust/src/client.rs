//! The client: where a program begins.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    App, Connection, Result, Tls,
    settings::{Settings, Token, default_target},
};

/// A server, reached over gRPC. A clone shares the connection; one client serves any number of tasks of one tokio runtime.
///
/// ```no_run
/// # async fn ask() -> clew::Result<()> {
/// let client = clew::Client::new("localhost:50051")?;
/// let reply = client.app("support").thread("ticket-8").send("Where is order A-1001?").await?;
/// println!("{}", reply.text);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    connection: Connection,
}

impl Client {
    /// A client of the server at `HOST:PORT`. It connects with the first call.
    ///
    /// # Errors
    ///
    /// [`Code::ArgumentInvalid`](crate::Code::ArgumentInvalid) for what is no target.
    pub fn new(target: impl Into<String>) -> Result<Self> {
        Self::builder().target(target).build()
    }

    /// A client of the server that `CLEW_TARGET` names, or of `localhost:50051`.
    ///
    /// # Errors
    ///
    /// [`Code::ArgumentInvalid`](crate::Code::ArgumentInvalid) for what is no target.
    pub fn from_env() -> Result<Self> {
        Self::builder().build()
    }

    /// A client with more to be said about it.
    pub fn builder() -> ClientBuilder {
        ClientBuilder { settings: Settings::of_target(default_target()) }
    }

    /// A handle on an agent or workflow.
    #[must_use]
    pub fn app(&self, name: impl Into<String>) -> App {
        App::new(self.connection.clone(), name.into())
    }

    /// The connection, whose stubs have every call of the contract.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Waits until the runs of all streams that were left are cancelled, for a program that is about to end. The client may be used on.
    pub async fn settled(&self) {
        self.connection.settled().await;
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("settings", self.connection.settings()).finish()
    }
}

/// What there is to say about a client.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing before `build`"]
pub struct ClientBuilder {
    settings: Settings,
}

impl ClientBuilder {
    /// Where the server is, as `HOST:PORT`; by default what `CLEW_TARGET` names, or `localhost:50051`.
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.settings.target = target.into();
        self
    }

    /// Sent as a bearer token with every call.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.settings.token = Some(Token::Text(token.into()));
        self
    }

    /// As [`token`](Self::token), asked for with each call anew. The function must not block.
    pub fn token_from(mut self, token: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.settings.token = Some(Token::Function(Arc::new(token)));
        self
    }

    /// Sends the token without encryption, also beyond this machine, where anyone on the way can read it.
    pub fn insecure_token(mut self) -> Self {
        self.settings.insecure_token = true;
        self
    }

    /// Encryption.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.settings.tls = Some(tls);
        self
    }

    /// For calls that answer once; 30 s by default. Streams have a limit only where they are given one.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// How long a stream tries to reach a server that was never heard; 5 s by default.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.settings.connect_timeout = timeout;
        self
    }

    /// How long a stream that broke is tried to be joined; 60 s by default.
    pub fn rejoin_timeout(mut self, timeout: Duration) -> Self {
        self.settings.rejoin_timeout = timeout;
        self
    }

    /// How long to wait for a run to be cancelled when its stream is left; 15 s by default.
    pub fn leave_timeout(mut self, timeout: Duration) -> Self {
        self.settings.leave_timeout = timeout;
        self
    }

    /// The client. It connects with the first call.
    ///
    /// # Errors
    ///
    /// [`Code::ArgumentInvalid`](crate::Code::ArgumentInvalid), with the `field`, for what no connection can be made with: a target without a port,
    /// certificates that are none, or a token that would go over the network without encryption.
    pub fn build(self) -> Result<Client> {
        Ok(Client { connection: Connection::new(self.settings)? })
    }
}
