//! Access logs of an AWS application load balancer.

use super::Format;
use super::fields::{Fields, began_ns, is_whole, tokens};
use crate::ingest::duration::{self, Decimal, Unit};
use crate::ingest::timestamp;

/// `type time elb client:port target:port request_processing_time target_processing_time response_processing_time
/// elb_status_code target_status_code received_bytes sent_bytes "request" "user_agent" ssl_cipher ssl_protocol
/// target_group_arn "trace_id" "domain_name" "chosen_cert_arn" matched_rule_priority request_creation_time …`
pub(super) struct Alb;

const TYPES: [&[u8]; 6] = [b"http", b"https", b"h2", b"grpcs", b"ws", b"wss"];

/// The place of `request_creation_time`.
const CREATED: usize = 21;

impl Format for Alb {
    fn name(&self) -> &'static str {
        "AWS ALB access log"
    }

    fn header(&self) -> Vec<String> {
        let names = [
            "request_creation_time",
            "total_processing_time",
            "target_processing_time",
            "elb_status_code",
            "target_status_code",
            "target",
            "target_group",
            "domain_name",
            "method",
        ];
        names.map(str::to_owned).into()
    }

    fn fields(&self, line: &[u8], fields: &mut Fields) -> Option<()> {
        let tokens = tokens(line)?;
        let token = |place: usize| tokens.get(place).copied();
        if !TYPES.contains(&token(0)?) || !is_whole(token(8)?) {
            return None;
        }
        let ended = timestamp::parse(token(1)?).ok()?;
        let created = token(CREATED).and_then(|text| timestamp::parse(text).ok());
        // −1: the request never reached a target, or the target did not answer in time.
        let part = |place: usize| match token(place)? {
            b"-1" | b"-" => Some(None),
            text => duration::parse(text, Some(Unit::Seconds), Decimal::Point).ok().map(Some),
        };
        let parts = [part(5)?, part(6)?, part(7)?];
        let sum = parts.iter().try_fold(0u64, |sum, part| sum.checked_add((*part)?));
        // Such a request was held all the same, from its creation to the answer that the balancer gave for it.
        let held = || created.and_then(|at| u64::try_from(ended.ns.checked_sub(at.ns)?).ok());
        let total = sum.or_else(held);
        fields.push_seconds(Some(created.map_or_else(|| began_ns(ended.ns, total), |at| at.ns.into())));
        fields.push_seconds(total.map(i128::from));
        fields.push_seconds(parts[1].map(i128::from));
        fields.push(token(8)?);
        fields.push_optional(token(9)?);
        fields.push_optional(token(4)?);
        fields
            .push_optional(token(16).unwrap_or(b"-").rsplit(|byte| *byte == b':').next().unwrap_or_default());
        fields.push_optional(token(18).unwrap_or(b"-"));
        fields.push(token(12).unwrap_or(b"").split(|byte| *byte == b' ').next().unwrap_or_default());
        Some(())
    }
}
