//! Files, standard input and compressed streams as one stream of plain bytes.

use super::error::{IngestError, IngestErrorKind};
use super::watch::Watch;
use flate2::bufread::GzDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// The name under which standard input is read.
pub const STDIN: &str = "-";

/// How much of the beginning is looked at to tell what it is.
pub(super) const HEAD: usize = 64 * 1024;

/// Bytes that are read at a time by what asks for fewer; who asks for more, as for a piece of a table, is given them
/// without a copy in between.
const BUFFER: usize = 64 * 1024;

/// A stream of plain bytes, its first bytes at hand.
pub(super) struct Input {
    pub(super) name: String,
    /// The first bytes, at most [`HEAD`]; they are part of the stream as well.
    pub(super) head: Vec<u8>,
    /// Whether the head is all there is.
    pub(super) whole: bool,
    stream: Box<dyn Read + Send>,
}

impl Input {
    /// Opens a file, or standard input for [`STDIN`].
    pub(super) fn open(name: &str) -> Result<Self, IngestError> {
        Self::open_watched(name, &Watch::default())
    }

    /// The same, seen by a watch.
    pub(super) fn open_watched(name: &str, watch: &Watch) -> Result<Self, IngestError> {
        let unreadable = |error: io::Error| {
            IngestError::new(IngestErrorKind::Unreadable, name, format!("it cannot be opened: {error}"))
                .remedy(remedy_for(&error))
        };
        if name == STDIN {
            return Self::from_reader(name, Box::new(Watched { inner: io::stdin(), watch: watch.clone() }));
        }
        let file = File::open(name).map_err(unreadable)?;
        if file.metadata().map_err(unreadable)?.is_dir() {
            return Err(IngestError::new(IngestErrorKind::Unreadable, name, "it is a directory")
                .remedy("name the files in it"));
        }
        Self::from_reader(name, Box::new(Watched { inner: file, watch: watch.clone() }))
    }

    /// Unpacks what is compressed (told by its first bytes, whatever it is called) and removes a byte-order mark.
    pub(super) fn from_reader(name: &str, reader: Box<dyn Read + Send>) -> Result<Self, IngestError> {
        let mut raw = BufReader::with_capacity(BUFFER, Raw { name: name.to_owned(), inner: reader });
        let magic = raw.fill_buf().map_err(|error| read_failed(name, &error))?;
        let mut stream: Box<dyn Read + Send> = if magic.starts_with(GZIP) {
            let members = GzMembers { source: Some(raw), member: None };
            Box::new(Unpacked { name: name.to_owned(), inner: members })
        } else if magic.starts_with(b"\x28\xb5\x2f\xfd") {
            let frames = ZstdFrames { source: Some(raw), frame: None };
            Box::new(Unpacked { name: name.to_owned(), inner: frames })
        } else {
            Box::new(raw)
        };
        let (mut head, whole) = beginning(name, &mut stream)?;
        if head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff") {
            return Err(wide(name, "UTF-32"));
        }
        if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
            return Err(wide(name, "UTF-16"));
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        Ok(Input { name: name.to_owned(), head, whole, stream })
    }

    /// A stream that was made of another one.
    pub(super) fn made(name: &str, mut stream: Box<dyn Read + Send>) -> Result<Self, IngestError> {
        let (head, whole) = beginning(name, &mut stream)?;
        Ok(Input { name: name.to_owned(), head, whole, stream })
    }

    /// Refuses what cannot be text of one byte a character: empty input, UTF-16, binary.
    pub(super) fn check_text(&self) -> Result<(), IngestError> {
        if self.head.iter().all(u8::is_ascii_whitespace) && self.whole {
            return Err(IngestError::new(IngestErrorKind::Empty, &self.name, "there is nothing in it")
                .remedy("check the command that wrote it"));
        }
        let Some(nul) = memchr::memchr(0, &self.head) else { return Ok(()) };
        let zeros = self.head.iter().filter(|byte| **byte == 0).count();
        let binary = |reason: &str| IngestError::new(IngestErrorKind::Encoding, &self.name, reason);
        if zeros == self.head.len() {
            return Err(binary(
                "it begins with nothing but zero bytes, as a file does that was never written to its end",
            )
            .remedy("copy it again"));
        }
        // Text of one byte a character, written with two or with four.
        if nul < 2 && zeros * 10 > self.head.len() * 6 {
            return Err(wide(&self.name, "UTF-32"));
        }
        if nul < 2 && zeros * 3 > self.head.len() {
            return Err(wide(&self.name, "UTF-16"));
        }
        let line = 1 + memchr::memchr_iter(b'\n', &self.head[..nul]).count() as u64;
        Err(binary("it is binary: it holds zero bytes")
            .at(line, None)
            .remedy("export it as text, or name its format with --input-format"))
    }

    /// The whole stream, the head included.
    pub(super) fn into_stream(self) -> impl BufRead + Send {
        BufReader::with_capacity(BUFFER, io::Cursor::new(self.head).chain(self.stream))
    }
}

/// The first bytes of a stream, and whether they are all.
fn beginning(name: &str, stream: &mut Box<dyn Read + Send>) -> Result<(Vec<u8>, bool), IngestError> {
    let mut head = Vec::with_capacity(HEAD);
    let read = stream.by_ref().take(HEAD as u64).read_to_end(&mut head);
    read.map_err(|error| read_failed(name, &error))?;
    let whole = head.len() < HEAD;
    Ok((head, whole))
}

/// Tells a watch what is read.
struct Watched<R> {
    inner: R,
    watch: Watch,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.watch.read_bytes(read as u64);
        Ok(read)
    }
}

/// The refusal of text with several bytes a character.
fn wide(name: &str, encoding: &str) -> IngestError {
    IngestError::new(IngestErrorKind::Encoding, name, format!("it is {encoding}"))
        .remedy(format!("convert it first: iconv -f {encoding} -t UTF-8"))
}

/// What a failed read means.
pub(super) fn read_failed(name: &str, error: &io::Error) -> IngestError {
    known(error).cloned().unwrap_or_else(|| {
        IngestError::new(IngestErrorKind::Unreadable, name, format!("it cannot be read: {error}"))
            .remedy(remedy_for(error))
    })
}

fn remedy_for(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => "check who may read it",
        _ => "check the file and the disk it is on",
    }
}

/// The refusal that an error carries through readers which know nothing of it.
fn known(error: &io::Error) -> Option<&IngestError> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        // What an error of the system carries is no source of it.
        let carried = error.downcast_ref::<io::Error>().and_then(|error| error.get_ref());
        if let Some(known) = carried.and_then(|inner| inner.downcast_ref::<IngestError>()) {
            return Some(known);
        }
        cause = match carried {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

/// The bytes of a file as they are: if they cannot be read, that is no fault of what unpacks them.
struct Raw<R> {
    name: String,
    inner: R,
}

impl<R: Read> Read for Raw<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, read_failed(&self.name, &error)),
        })
    }
}

/// An unpacked stream, whose errors tell what is wrong with the file.
struct Unpacked<R> {
    name: String,
    inner: R,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            if error.kind() == io::ErrorKind::Interrupted || known(&error).is_some() {
                return error;
            }
            let new = |reason: String| IngestError::new(IngestErrorKind::Compression, &self.name, reason);
            let refusal = if error.kind() == io::ErrorKind::UnexpectedEof {
                new("its compressed bytes end in the middle: the file was cut short".to_owned())
                    .remedy("copy it again, or unpack what is there and read that")
            } else {
                new(format!("its compressed bytes are damaged: {error}")).remedy("copy it again")
            };
            io::Error::new(error.kind(), refusal)
        })
    }
}

/// How a member of a gzip file begins.
const GZIP: &[u8] = b"\x1f\x8b";

/// All members of a gzip file, one after the other; zero bytes behind the last, as tapes and some copies add them, are
/// no damage.
struct GzMembers<R: BufRead> {
    source: Option<R>,
    member: Option<Box<GzDecoder<R>>>,
}

impl<R: BufRead> Read for GzMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(member) = &mut self.member {
                match member.read(buffer) {
                    Ok(0) if !buffer.is_empty() => {
                        self.source = self.member.take().map(|member| member.into_inner());
                    }
                    result => return result,
                }
            }
            let Some(mut source) = self.source.take() else { return Ok(0) };
            match source.fill_buf()?.first() {
                None => return Ok(0),
                Some(byte) if *byte != GZIP[0] => return only_zeros(&mut source).map(|()| 0),
                Some(_) => self.member = Some(Box::new(GzDecoder::new(source))),
            }
        }
    }
}

/// Reads zero bytes up to the end.
fn only_zeros(source: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = source.fill_buf()?;
        if bytes.iter().any(|byte| *byte != 0) {
            let reason = "there is something behind its end";
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        let count = bytes.len();
        if count == 0 {
            return Ok(());
        }
        source.consume(count);
    }
}

/// All frames of a zstd stream, one after the other; parallel compressors write many.
struct ZstdFrames<R: Read> {
    source: Option<R>,
    frame: Option<Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>>,
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                match frame.read(buffer) {
                    Ok(0) if !buffer.is_empty() => {
                        self.source = self.frame.take().map(|frame| frame.into_inner());
                    }
                    Err(error) if ends_early(&error) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    result => return result,
                }
            }
            let Some(mut source) = self.source.take() else { return Ok(0) };
            if source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let magic = source.fill_buf()?;
            // A skippable frame: its magic number and the length of what to skip.
            if magic.len() >= 4 && (magic[0] & 0xf0) == 0x50 && magic[1..4] == [0x2a, 0x4d, 0x18] {
                let mut header = [0; 8];
                source.read_exact(&mut header)?;
                let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
                let skipped = io::copy(&mut source.by_ref().take(length.into()), &mut io::sink())?;
                if skipped < u64::from(length) {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                self.source = Some(source);
                continue;
            }
            let decoder = StreamingDecoder::new(source).map_err(|error| {
                let error = io::Error::new(io::ErrorKind::InvalidData, error);
                if ends_early(&error) { io::ErrorKind::UnexpectedEof.into() } else { error }
            })?;
            self.frame = Some(Box::new(decoder));
        }
    }
}

/// Whether a decoder failed because its source came to an end.
fn ends_early(error: &io::Error) -> bool {
    if known(error).is_some() {
        return false;
    }
    let mut cause: Option<&(dyn std::error::Error + 'static)> =
        error.get_ref().map(|error| error as &(dyn std::error::Error + 'static));
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return io.kind() == io::ErrorKind::UnexpectedEof;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn open(bytes: &[u8]) -> Result<Input, IngestError> {
        Input::from_reader("x", Box::new(io::Cursor::new(bytes.to_vec())))
    }

    fn all(bytes: &[u8]) -> Result<Vec<u8>, io::Error> {
        let mut read = Vec::new();
        open(bytes).map_err(io::Error::other)?.into_stream().read_to_end(&mut read)?;
        Ok(read)
    }

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zst(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn compressed_streams_are_unpacked_frame_after_frame() {
        let text = b"a,b\n1,2\n".repeat(50_000);
        assert_eq!(all(&text).unwrap(), text);
        assert_eq!(all(&gz(&text)).unwrap(), text);
        assert_eq!(all(&[gz(b"a"), gz(b"b")].concat()).unwrap(), b"ab");
        assert_eq!(all(&[gz(b"a"), gz(&text), vec![0; 200_000]].concat()).unwrap().len(), text.len() + 1);
        assert_eq!(all(&[gz(b""), gz(b"b")].concat()).unwrap(), b"b");
        assert_eq!(all(&zst(&text)).unwrap(), text);
        let skippable = b"\x5a\x2a\x4d\x18\x03\x00\x00\x00xyz".to_vec();
        assert_eq!(all(&[zst(b"a"), skippable, zst(b"b")].concat()).unwrap(), b"ab");
    }

    #[test]
    fn a_compressed_stream_that_was_cut_short_is_an_error() {
        let text: Vec<u8> =
            (0..300_000u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_be_bytes()).collect();
        for packed in [gz(&text), zst(&text)] {
            let error = all(&packed[..packed.len() / 2]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{error}");
            assert!(read_failed("x", &error).reason.contains("cut short"));
        }
        let packed = gz(b"short");
        let error = open(&packed[..packed.len() - 9]).map(|_| ()).unwrap_err();
        assert_eq!(error.kind, IngestErrorKind::Compression);
    }

    #[test]
    fn what_follows_a_gzip_file_is_damage_unless_it_is_nothing() {
        for behind in
            [b"x".to_vec(), [vec![0; 100_000], b"x".to_vec()].concat(), [vec![0], gz(b"b")].concat()]
        {
            let error = all(&[gz(b"a"), behind].concat()).unwrap_err();
            let error = read_failed("x", &error);
            assert_eq!(error.kind, IngestErrorKind::Compression);
            assert!(error.reason.contains("damaged"), "{error}");
        }
    }

    /// Some bytes, and then an error.
    struct Failing(io::Cursor<Vec<u8>>, io::ErrorKind);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::new(self.1, "the disk says no")),
                read => Ok(read),
            }
        }
    }

    #[test]
    fn a_stream_that_fails_is_not_called_damaged() {
        let text: Vec<u8> =
            (0..100_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        for bytes in [b"a,b\n1,2\n".to_vec(), gz(&text), zst(&text)] {
            for kind in [
                io::ErrorKind::InvalidInput,
                io::ErrorKind::InvalidData,
                io::ErrorKind::Other,
                io::ErrorKind::UnexpectedEof,
            ] {
                let most = bytes.len().min(5000);
                let stream = Failing(io::Cursor::new(bytes[..most].to_vec()), kind);
                let read = Input::from_reader("x", Box::new(stream)).and_then(|input| {
                    input.into_stream().read_to_end(&mut Vec::new()).map_err(|error| read_failed("x", &error))
                });
                let error = read.unwrap_err();
                assert_eq!(error.kind, IngestErrorKind::Unreadable, "{error}");
                assert!(error.reason.contains("cannot be read: the disk says no"), "{error}");
            }
        }
    }

    #[test]
    fn utf16_and_binary_are_refused_by_name_and_a_byte_order_mark_is_removed() {
        assert!(open(b"\xff\xfea\0").map(|_| ()).unwrap_err().to_string().contains("UTF-16"));
        let without_mark: Vec<u8> = "duration\n1\n".bytes().flat_map(|byte| [byte, 0]).collect();
        let error = open(&without_mark).unwrap().check_text().unwrap_err();
        assert!(error.to_string().contains("UTF-16"), "{error}");
        let error = open(b"abc\0def").unwrap().check_text().unwrap_err();
        assert!(error.to_string().contains("binary"), "{error}");
        assert_eq!(open(b"\xef\xbb\xbfa,b").unwrap().head, b"a,b");
        assert_eq!(open(b" \n").unwrap().check_text().unwrap_err().kind, IngestErrorKind::Empty);
    }
}
