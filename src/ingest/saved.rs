//! Saved profiles as JSON text.

use super::error::{IngestError, IngestErrorKind};
use super::open::{Input, read_failed};
use crate::profile::{LARGEST_SAVED, SCHEMA, SavedNotice, SavedProfile, ServiceProfile};
use std::cell::Cell;
use std::io::{self, Read};

/// The most bytes that are read of a saved profile: what this program writes is below [`LARGEST_SAVED`], and a person
/// may have indented it.
const MOST_READ: u64 = 16 * LARGEST_SAVED as u64;

/// Whether the beginning of a file is that of a saved profile.
pub(super) fn is_profile(input: &Input) -> bool {
    let head = input.head.trim_ascii_start();
    let beginning = &head[..head.len().min(200)];
    head.starts_with(b"{") && memchr::memmem::find(beginning, b"whsize.profile/").is_some()
}

/// Reads the saved profiles of a stream, one after the other: what the stages of a pipe wrote is one stream.
pub(super) fn read_each(
    input: Input,
    mut each: impl FnMut(ServiceProfile) -> Result<(), IngestError>,
) -> Result<(), IngestError> {
    let name = input.name.clone();
    let error = |reason: String| IngestError::new(IngestErrorKind::Profile, &name, reason);
    let left = Cell::new(MOST_READ);
    let stream = Bounded { stream: input.into_stream(), left: &left };
    for saved in serde_json::Deserializer::from_reader(stream).into_iter::<SavedProfile>() {
        let saved = saved.map_err(|wrong| {
            if left.get() == 0 {
                return error("it is too large for a saved profile".to_owned());
            }
            if let Some(kind) = wrong.io_error_kind() {
                return read_failed(&name, &kind.into());
            }
            let at = (wrong.line() as u64, Some(wrong.column() as u64));
            let message = wrong.to_string();
            let reason = message.split(" at line ").next().unwrap_or_default();
            error(format!("it is no saved profile: {reason}"))
                .at(at.0, at.1)
                .remedy("write it anew with ingest --save")
        })?;
        let profile = ServiceProfile::try_from(saved).map_err(|wrong| {
            error(format!("the saved profile cannot be used: {wrong}"))
                .remedy("write it anew with ingest --save")
        })?;
        each(profile)?;
        left.set(MOST_READ);
    }
    Ok(())
}

/// A stream that fails once a single profile is too long, however many there are.
struct Bounded<'a, R> {
    stream: R,
    left: &'a Cell<u64>,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let most = self.left.get().min(buffer.len() as u64) as usize;
        let read = self.stream.read(&mut buffer[..most])?;
        self.left.set(self.left.get() - read as u64);
        Ok(read)
    }
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
