//! Envoy's default access log, and Istio's, which adds fields in its middle.

use super::Format;
use super::fields::{Fields, is_whole, tokens};
use crate::ingest::timestamp;

/// `[%START_TIME%] "%REQ(:METHOD)% %PATH% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% … %BYTES_RECEIVED% %BYTES_SENT%
/// %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "…" "…" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"`
pub(super) struct Envoy;

/// Fields of Istio's format between flags and bytes: details, termination, failure reason.
const ISTIO: usize = 3;

impl Format for Envoy {
    fn name(&self) -> &'static str {
        "Envoy access log"
    }

    fn header(&self) -> Vec<String> {
        let names = [
            "start_time",
            "duration",
            "upstream_service_time",
            "response_code",
            "response_flags",
            "method",
            "path",
            "authority",
            "upstream_host",
        ];
        names.map(str::to_owned).into()
    }

    fn fields(&self, line: &[u8], fields: &mut Fields) -> Option<()> {
        if !line.starts_with(b"[") {
            return None;
        }
        let tokens = tokens(line)?;
        let token = |place: usize| tokens.get(place).copied();
        timestamp::parse(token(0)?).ok()?;
        if !is_whole(token(2)?) || token(2)?.len() > 3 {
            return None;
        }
        let numbers = |from: usize| {
            (from..from + 3).all(|place| token(place).is_some_and(|token| is_whole(token) || token == b"-"))
        };
        let bytes = [4, 4 + ISTIO].into_iter().find(|from| numbers(*from))?;
        fields.push(token(0)?);
        fields.push_optional(token(bytes + 2)?);
        fields.push_optional(token(bytes + 3).unwrap_or(b"-"));
        fields.push(token(2)?);
        fields.push_optional(token(3)?);
        let mut words = token(1)?.split(|byte| *byte == b' ');
        fields.push(words.next().unwrap_or_default());
        fields.push(words.next().unwrap_or_default().split(|byte| *byte == b'?').next().unwrap_or_default());
        fields.push_optional(token(bytes + 7).unwrap_or(b"-"));
        fields.push_optional(token(bytes + 8).unwrap_or(b"-"));
        Some(())
    }
}
