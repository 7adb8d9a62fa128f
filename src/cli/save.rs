//! Writing a file that was asked for: never over an input, and never half.

use anyhow::{Context, Result, bail};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A name of a file, and not of standard output: the report goes there.
pub(crate) fn file(typed: &str) -> Result<PathBuf, String> {
    if typed == "-" {
        return Err("it is standard output, where the report goes; save to a file".to_owned());
    }
    Ok(PathBuf::from(typed))
}

/// Writes `text` to `path`. A regular file is replaced in one step, so that a full disk leaves the old one as it was;
/// a device or a pipe is written to as it is.
///
/// # Errors
/// If the path is one of the inputs, or cannot be written.
pub(crate) fn write(path: &Path, text: &str, inputs: &[String]) -> Result<()> {
    let shown = path.display();
    if inputs.iter().any(|input| same_file::is_same_file(input, path).unwrap_or(false)) {
        bail!("{shown}: it is one of the inputs, and would be lost; save to another file");
    }
    let failed = || format!("{shown}: it cannot be written");
    let replaces = fs::metadata(path).map_or(true, |existing| existing.is_file());
    if !replaces {
        return fs::write(path, text).with_context(failed);
    }
    // A link is followed, so that what it points to is replaced and not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new().prefix(".whsize-").tempfile_in(folder).with_context(failed)?;
    new.write_all(text.as_bytes()).with_context(failed)?;
    keep_permissions(&target, new.as_file()).with_context(failed)?;
    new.persist(&target).with_context(failed)?;
    Ok(())
}

/// A temporary file is private to its owner; a file that was there keeps its permissions, a new one gets the usual ones.
#[cfg(unix)]
fn keep_permissions(target: &Path, new: &fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(target).map_or(0o644, |existing| existing.permissions().mode());
    new.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_permissions(_: &Path, _: &fs::File) -> std::io::Result<()> {
    Ok(())
}
