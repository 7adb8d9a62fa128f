//! A file, or standard input where the name is `-`.

use anyhow::{Context, Result, anyhow, bail};
use std::io::Read;
use std::path::Path;

/// The most that is read of a document: anything longer is the wrong file.
const LARGEST: u64 = 64 * 1024 * 1024;

/// What the input is called in messages.
pub(crate) fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// Reads a whole text.
pub(crate) fn text(path: &Path) -> Result<String> {
    let read = |source: &mut dyn Read| {
        let mut bytes = Vec::new();
        source.take(LARGEST + 1).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    let name = name(path);
    let bytes = if path.as_os_str() == "-" {
        read(&mut std::io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(|mut file| read(&mut file))
    };
    let bytes = bytes.with_context(|| format!("reading {name}"))?;
    if bytes.len() as u64 > LARGEST {
        bail!("{name} is longer than 64 MiB");
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let (line, column) =
            (before.matches('\n').count() + 1, before.chars().rev().take_while(|c| *c != '\n').count() + 1);
        anyhow!("{name}:{line}:{column}: what stands here is not UTF-8; save the file as UTF-8 text")
    })
}
