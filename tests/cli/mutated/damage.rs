//! Ways to damage an input: of bytes, of numbers, of lengths, of lines.

/// The longest input, in bytes.
const LONGEST: usize = 8192;

/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, 2014).
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// Pieces that parsers have trouble with.
const PIECES: &[&[u8]] = &[
    b"-1",
    b"0",
    b"1e308",
    b"-1e-308",
    b"NaN",
    b"+Inf",
    b"99999999999999999999",
    b"18446744073709551615",
    b"\"",
    b"{",
    b"}",
    b"[",
    b",",
    b"\n",
    b"\r\n",
    b"=",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x00",
    b"\x7f\xff\xff\xff",
    b"\xef\xbb\xbf",
    b"HISTFAAAA",
    b"Tag=",
    b"#[",
    b"le=\"",
    b"_bucket",
    b" ",
    b"null",
    b"9223372036854775807",
    b".",
    b"e",
    b"-",
    b";",
    b"\t",
    b"\x1f",
    b"\"\"",
    b"1.4s",
    b"\\",
    b"]",
    b"\xc2\xb5s",
    b"1700000000",
    b"0.1, 0.2",
    b"HISTEwAA",
    b"\x1c\x84\x93\x01",
    b"\x1c\x84\x93\x08",
    b"\x1c\x84\x93\x13",
    b"\x1f\x8b\x08",
    b"\x28\xb5\x2f\xfd",
    b"# EOF",
    b"# TYPE a histogram",
    b"\xff\xfe",
    b"1e-400",
    b"0x1p3",
    b"\\N",
    b"604800001",
    b"2023-11-14T22:13:20Z",
];

/// What a number may be instead.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "255",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e18",
    "1e-18",
    "1e308",
    "1e309",
    "-0.0",
    "0.5",
    ".5",
    "5.",
    "00000000000000000001",
    "340282366920938463463374607431768211456",
    "604800000",
    "1700000000",
];

/// What a length or a count of four bytes may be instead.
const LENGTHS: &[u32] =
    &[0, 1, 2, 7, 39, 40, 41, 0x7f, 0x80, 0xffff, 0x10000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// Damages an input in one to seven places.
pub(super) fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        let length = random.below(24).min(bytes.len() - at);
        match random.below(12) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(at..at + length)),
            3 => {
                let copied = bytes[at..at + length].to_vec();
                let target = random.below(bytes.len() + 1);
                bytes.splice(target..target, copied);
            }
            4 if random.below(4) == 0 => bytes.truncate(at),
            5 => number(bytes, at, random),
            6 => length_field(bytes, at, random),
            7 => line(bytes, at, random),
            _ => {
                let piece = random.one_of(PIECES);
                let replaced = if random.below(2) == 0 { length } else { 0 };
                bytes.splice(at..at + replaced, piece.iter().copied());
            }
        }
        bytes.truncate(LONGEST);
    }
}

/// Puts another number in place of the next one.
fn number(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let Some(start) = bytes[at..].iter().position(is_part).map(|from| at + from) else { return };
    let end = bytes[start..].iter().position(|byte| !is_part(byte)).map_or(bytes.len(), |to| start + to);
    bytes.splice(start..end, random.one_of(NUMBERS).bytes());
}

/// Puts another number in place of four bytes, the highest first, or changes them a little.
fn length_field(bytes: &mut [u8], at: usize, random: &mut Random) {
    let Some(field) = bytes.get_mut(at & !3..).and_then(<[u8]>::first_chunk_mut::<4>) else { return };
    let found = u32::from_be_bytes(*field);
    let length = match random.below(3) {
        0 => found.wrapping_add(1),
        1 => found.wrapping_sub(1),
        _ => LENGTHS[random.below(LENGTHS.len())],
    };
    *field = length.to_be_bytes();
}

/// Repeats a line some times, puts it elsewhere, or takes it away.
fn line(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
    let end = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |feed| at + feed + 1);
    let line = bytes[start..end].to_vec();
    match random.below(3) {
        0 => drop(bytes.drain(start..end)),
        1 => {
            let repeated = line.repeat(1 + random.below(40));
            bytes.splice(start..start, repeated);
        }
        _ => {
            let target = random.below(bytes.len() + 1);
            bytes.splice(target..target, line);
        }
    }
}
