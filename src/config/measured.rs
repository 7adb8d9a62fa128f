//! Measurements that a file names.

use super::{ConfigError, Table};
use crate::ingest::{self, IngestError, IngestNotice};
use crate::notice::Note;
use crate::profile::ServiceProfile;

/// What was measured, with the remarks of whoever read it.
pub(super) struct Measured {
    pub(super) profile: ServiceProfile,
    pub(super) notes: Vec<Note>,
}

/// Takes a path to measurements out of a table, relative to its file, and reads them; `None` where the key is absent.
///
/// # Errors
/// If they cannot be read.
pub(super) fn measured(table: &mut Table<'_>, key: &'static str) -> Result<Option<Measured>, ConfigError> {
    let document = table.document();
    table.optional(key, |named| {
        if named == "-" {
            return Err("a plan names a file, not standard input".to_owned());
        }
        let path = document.resolve(named);
        let read = ingest::load(&path.to_string_lossy()).map_err(|error| in_words(named, error))?;
        let notes = read.notices.iter().map(IngestNotice::note);
        let notes = notes.map(|note| Note { message: format!("{named}: {}", note.message), ..note });
        Ok(Measured { notes: notes.collect(), profile: read.profile })
    })
}

/// Why a file is no measurement. A plan has no options to read it by, so where one would help, `ingest` is told to.
fn in_words(named: &str, mut error: IngestError) -> String {
    if let Some(remedy) = error.remedy.take_if(|remedy| remedy.contains("--")) {
        error.remedy = Some(format!(
            "{remedy}, in whsize ingest {named} \u{2026} --save profile.json, and let the plan name that profile"
        ));
    }
    error.to_string()
}
