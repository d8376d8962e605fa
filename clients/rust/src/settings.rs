//! How a client reaches its server, and how long it tries.

use std::{env, fmt, net::IpAddr, sync::Arc, time::Duration};

use http::uri::Authority;

use crate::{Error, Result};

const TARGET_VARIABLE: &str = "CLEW_TARGET";
const DEFAULT_TARGET: &str = "localhost:50051";

/// What a client has of its builder.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) target: String,
    pub(crate) token: Option<Token>,
    pub(crate) tls: Option<Tls>,
    pub(crate) timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) rejoin_timeout: Duration,
    pub(crate) leave_timeout: Duration,
    pub(crate) silence_timeout: Duration,
    pub(crate) insecure_token: bool,
}

impl Settings {
    pub(crate) fn of_target(target: String) -> Self {
        Self {
            target,
            token: None,
            tls: None,
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            rejoin_timeout: Duration::from_secs(60),
            leave_timeout: Duration::from_secs(15),
            silence_timeout: Duration::from_secs(60),
            insecure_token: false,
        }
    }

    /// Refuses what no connection can be made with, or no safe one.
    pub(crate) fn check(&self) -> Result<()> {
        let authority = self.target.parse::<Authority>().ok().filter(|authority| authority.port().is_some());
        let Some(authority) = authority else {
            return Err(Error::argument("target", format_args!("HOST:PORT is due here, not {:?}", self.target)));
        };
        if self.token.is_some() && self.tls.is_none() && !self.insecure_token && !is_local(&authority) {
            let why = format!(
                "without encryption anyone on the way to {} can read it: give `tls`, or `insecure_token` to send it all the same",
                self.target
            );
            return Err(Error::argument("token", why));
        }
        Ok(())
    }
}

/// The target that the environment names, or the server on this machine.
pub(crate) fn default_target() -> String {
    env::var(TARGET_VARIABLE).ok().filter(|target| !target.is_empty()).unwrap_or_else(|| DEFAULT_TARGET.to_owned())
}

/// Whether nothing leaves this machine on the way to it.
fn is_local(authority: &Authority) -> bool {
    let host = authority.host();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// A credential: a text, or what gives one for each call.
#[derive(Clone)]
pub(crate) enum Token {
    Text(String),
    Function(Arc<dyn Fn() -> String + Send + Sync>),
}

impl Token {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Function(function) => function(),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

/// Encryption, by the system's root certificates or others. Everything is PEM.
#[derive(Clone, Default)]
pub struct Tls {
    pub(crate) roots: Option<Vec<u8>>,
    pub(crate) identity: Option<(Vec<u8>, Vec<u8>)>,
    pub(crate) server_name: Option<String>,
}

impl Tls {
    /// With the system's root certificates.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With these root certificates, and none of the system's.
    #[must_use]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(pem.into());
        self
    }

    /// Shows the server this client's certificate, with its key.
    #[must_use]
    pub fn client_certificate(mut self, pem: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.identity = Some((pem.into(), key.into()));
        self
    }

    /// The name that the server's certificate has, where it is not the target's host.
    #[must_use]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither keys nor pages of certificates.
        let mut shown = formatter.debug_struct("Tls");
        shown.field("own_roots", &self.roots.is_some()).field("client_certificate", &self.identity.is_some());
        shown.field("server_name", &self.server_name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Settings, Tls, Token};
    use crate::Code;

    fn settings(target: &str) -> Settings {
        let token = Some(Token::Text("secret".to_owned()));
        Settings { token, ..Settings::of_target(target.to_owned()) }
    }

    #[test]
    fn a_token_goes_to_this_machine_without_encryption() {
        for target in ["localhost:1", "127.0.0.1:1", "127.0.0.2:1", "[::1]:1"] {
            assert!(settings(target).check().is_ok(), "{target}");
        }
    }

    #[test]
    fn a_token_goes_nowhere_else_without_encryption_unless_that_is_asked_for() {
        for target in ["example.org:1", "localhost.example.org:1", "10.0.0.1:1", "[2001:db8::1]:1"] {
            let refused = settings(target).check().unwrap_err();
            assert_eq!(refused.code(), &Code::ArgumentInvalid);
            assert_eq!(refused.metadata()["field"], "token");
            assert!(Settings { insecure_token: true, ..settings(target) }.check().is_ok());
            assert!(Settings { tls: Some(Tls::new()), ..settings(target) }.check().is_ok());
        }
    }

    #[test]
    fn a_target_has_a_host_and_a_port() {
        for target in ["", "localhost", "http://localhost:1", "local host:1", "localhost:port"] {
            assert_eq!(settings(target).check().unwrap_err().metadata()["field"], "target", "{target}");
        }
    }
}
