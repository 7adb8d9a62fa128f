//! Signatures as Standard Webhooks prescribes: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`.

use super::message::MessageId;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

/// Why a signing secret was refused. The secret itself is not repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The part after the prefix is not base64.
    #[error("the signing secret is not \"whsec_\" and base64")]
    Encoding,
    /// Standard Webhooks asks for 24 to 64 bytes.
    #[error("the signing secret has {0} bytes; 24 to 64 are asked for")]
    Length(usize),
}

/// Signs for one endpoint.
#[derive(Clone)]
pub struct Signer {
    /// The hash with the key already in it, so that a signature does not pay for the key schedule again.
    keyed: Hmac<Sha256>,
}

impl Signer {
    /// Reads a secret, `whsec_` and base64; the prefix may be left out.
    ///
    /// # Errors
    /// It is no base64, or of a length that Standard Webhooks does not allow.
    pub fn new(secret: &str) -> Result<Self, SecretError> {
        let encoded = secret.strip_prefix("whsec_").unwrap_or(secret);
        let key = STANDARD.decode(encoded).map_err(|_| SecretError::Encoding)?;
        if !(24..=64).contains(&key.len()) {
            return Err(SecretError::Length(key.len()));
        }
        let keyed = Hmac::new_from_slice(&key).map_err(|_| SecretError::Length(key.len()))?;
        Ok(Signer { keyed })
    }

    /// The `webhook-signature` header for a message at a time (whole seconds since 1970).
    #[must_use]
    pub fn sign(&self, id: MessageId, timestamp_s: u64, body: &[u8]) -> String {
        self.sign_text(&id.to_string(), timestamp_s, body)
    }

    fn sign_text(&self, id: &str, timestamp_s: u64, body: &[u8]) -> String {
        let mut mac = self.keyed.clone();
        mac.update(id.as_bytes());
        mac.update(b".");
        mac.update(timestamp_s.to_string().as_bytes());
        mac.update(b".");
        mac.update(body);
        let mut header = String::with_capacity(48);
        header.push_str("v1,");
        STANDARD.encode_string(mac.finalize().into_bytes(), &mut header);
        header
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Signer(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_example_is_signed_as_published() {
        let signer = Signer::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature =
            signer.sign_text("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_signer_signs_again_from_the_same_key() {
        let signer = Signer::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        assert_eq!(signer.sign(MessageId(7), 1, b"a"), signer.sign(MessageId(7), 1, b"a"));
        assert_ne!(signer.sign(MessageId(7), 1, b"a"), signer.sign(MessageId(8), 1, b"a"));
    }

    #[test]
    fn a_bad_secret_is_refused_without_being_repeated() {
        assert_eq!(Signer::new("whsec_!!").unwrap_err(), SecretError::Encoding);
        assert_eq!(Signer::new("whsec_c2hvcnQ=").unwrap_err(), SecretError::Length(5));
        assert!(!format!("{:?}", Signer::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")).contains("MfKQ"));
    }
}
