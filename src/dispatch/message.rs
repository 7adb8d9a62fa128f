//! What is dispatched.

use bytes::Bytes;
use std::fmt;

/// Identifies a message, and is its idempotency key: every attempt carries the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u128);

impl fmt::Display for MessageId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "msg_{:032x}", self.0)
    }
}

/// An endpoint's position in the list that the dispatcher was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u32);

/// Which of two ready messages goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Before every other event.
    High,
    /// In the order of becoming ready.
    #[default]
    Normal,
}

/// One webhook message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Identity and idempotency key.
    pub id: MessageId,
    /// Where it goes.
    pub endpoint: EndpointId,
    /// Before others, or not.
    pub priority: Priority,
    /// The payload, which is signed and sent as it is.
    pub body: Bytes,
}
