//! A certificate for the occasion, so that handshakes cost what they cost.

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// The sandbox's self-signed certificate, DER.
pub type Certificate = CertificateDer<'static>;

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// It could not be made.
    #[error(transparent)]
    Make(#[from] rcgen::Error),
    /// It could not be used.
    #[error(transparent)]
    Use(#[from] rustls::Error),
    /// A listener has no address.
    #[error(transparent)]
    Listener(#[from] io::Error),
}

/// A key with its certificate, ready to accept connections.
#[derive(Debug)]
pub(super) struct Identity {
    certificate: Certificate,
    config: Arc<rustls::ServerConfig>,
}

impl Identity {
    /// Makes one for the addresses of these listeners and for `localhost`.
    pub(super) fn generate(listeners: &[TcpListener]) -> Result<Self, TlsError> {
        let mut names = BTreeSet::from(["localhost".to_owned()]);
        for listener in listeners {
            names.insert(listener.local_addr()?.ip().to_string());
        }
        let made = rcgen::generate_simple_self_signed(names.into_iter().collect::<Vec<_>>())?;
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config =
            rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_no_client_auth()
                .with_single_cert(vec![certificate.clone()], key)?;
        Ok(Identity { certificate, config: Arc::new(config) })
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }

    pub(super) fn certificate(&self) -> Certificate {
        self.certificate.clone()
    }
}
