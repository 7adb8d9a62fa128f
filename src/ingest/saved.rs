//! Saved profiles as JSON text.

use super::error::{IngestError, IngestErrorKind};
use super::open::{Input, read_failed};
use crate::profile::{LARGEST_SAVED, SCHEMA, SavedNotice, SavedProfile, ServiceProfile};
use std::io::Read;

/// The most bytes that are read of a saved profile: what this program writes is below [`LARGEST_SAVED`], and a person
/// may have indented it.
const MOST_READ: u64 = 16 * LARGEST_SAVED as u64;

/// Whether the beginning of a file is that of a saved profile.
pub(super) fn is_profile(input: &Input) -> bool {
    let head = input.head.trim_ascii_start();
    let beginning = &head[..head.len().min(200)];
    head.starts_with(b"{") && memchr::memmem::find(beginning, b"whsize.profile/").is_some()
}

/// Reads a saved profile.
pub(super) fn read(input: Input) -> Result<ServiceProfile, IngestError> {
    let name = input.name.clone();
    let error = |reason: String| IngestError::new(IngestErrorKind::Profile, &name, reason);
    let mut text = Vec::new();
    let read = input.into_stream().take(MOST_READ + 1).read_to_end(&mut text);
    read.map_err(|failed| read_failed(&name, &failed))?;
    if text.len() as u64 > MOST_READ {
        return Err(error("it is too large for a saved profile".to_owned()));
    }
    let saved: SavedProfile = serde_json::from_slice(&text).map_err(|wrong| {
        let at = (wrong.line() as u64, Some(wrong.column() as u64));
        let message = wrong.to_string();
        let reason = message.split(" at line ").next().unwrap_or_default();
        error(format!("it is no saved profile: {reason}"))
            .at(at.0, at.1)
            .remedy("write it anew with ingest --save")
    })?;
    ServiceProfile::try_from(saved).map_err(|wrong| {
        error(format!("the saved profile cannot be used: {wrong}")).remedy("write it anew with ingest --save")
    })
}

/// Writes a profile as JSON, and says what had to be given up.
///
/// # Errors
/// If a count is beyond what the format holds.
pub fn to_json(profile: &ServiceProfile) -> Result<(String, Vec<SavedNotice>), IngestError> {
    let error = |reason: String| IngestError::new(IngestErrorKind::TooLarge, SCHEMA, reason);
    let saved = profile.save().map_err(|wrong| error(format!("it cannot be saved: {wrong}")))?;
    let mut text = serde_json::to_string(&saved.profile).map_err(|wrong| error(wrong.to_string()))?;
    text.push('\n');
    Ok((text, saved.notices))
}
