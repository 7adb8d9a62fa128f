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

/// Refuses a path that could not be written, before a long run is spent on what goes there.
///
/// # Errors
/// If the path is one of the inputs, is a folder, or its folder takes no file.
pub(crate) fn check(path: &Path, inputs: &[String]) -> Result<()> {
    let shown = path.display();
    refuse_inputs(path, inputs)?;
    if fs::metadata(path).is_ok_and(|existing| !existing.is_file() && !existing.is_dir()) {
        return Ok(());
    }
    if path.is_dir() {
        bail!("{shown}: it is a folder; name a file in it");
    }
    new_file(&folder_of(path)).map(drop).with_context(|| format!("{shown}: it cannot be written"))
}

/// Writes `text` to `path`. A regular file is replaced in one step, so that a full disk leaves the old one as it was;
/// a device or a pipe is written to as it is.
///
/// # Errors
/// If the path is one of the inputs, or cannot be written.
pub(crate) fn write(path: &Path, text: &str, inputs: &[String]) -> Result<()> {
    let shown = path.display();
    refuse_inputs(path, inputs)?;
    let failed = || format!("{shown}: it cannot be written");
    let replaces = fs::metadata(path).map_or(true, |existing| existing.is_file());
    if !replaces {
        return fs::write(path, text).with_context(failed);
    }
    // A link is followed, so that what it points to is replaced and not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut new = new_file(&folder_of(&target)).with_context(failed)?;
    new.write_all(text.as_bytes()).with_context(failed)?;
    keep_permissions(&target, new.as_file()).with_context(failed)?;
    new.persist(&target).with_context(failed)?;
    Ok(())
}

fn refuse_inputs(path: &Path, inputs: &[String]) -> Result<()> {
    if inputs.iter().any(|input| same_file::is_same_file(input, path).unwrap_or(false)) {
        bail!("{}: it is one of the inputs, and would be lost; save to another file", path.display());
    }
    Ok(())
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

fn new_file(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(".whsize-").tempfile_in(folder)
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
