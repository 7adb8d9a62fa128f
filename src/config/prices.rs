//! The price file: what a provider charges and allows, each price with its source and date.

use super::{ConfigError, Document, Table};
use crate::pipeline::cost::{Item, Price, PriceList, Quotas};
use crate::units::{ArrivalRate, Bytes, Count, ParseError, Ratio};

/// The prices that come with the program.
const BUNDLED: &str = include_str!("../../data/prices.toml");

/// The longest text that a price may carry.
const LONGEST_TEXT: usize = 300;

/// What a price file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// The prices.
    pub list: PriceList,
    /// What the provider allows.
    pub quotas: Quotas,
}

/// The prices that come with the program.
///
/// # Errors
/// None in practice: the file is part of the program and tested.
pub fn bundled() -> Result<Prices, ConfigError> {
    let document = Document::new("bundled prices", BUNDLED);
    let mut root = document.root()?;
    let list = list(&mut root)?;
    let quotas = quotas(&mut root, None)?;
    root.finish()?;
    Ok(Prices { list, quotas })
}

/// Reads a price file. What it leaves out is as bundled, if it is of the same region and currency.
///
/// # Errors
/// If something in it is not understood.
pub fn read(document: &Document) -> Result<Prices, ConfigError> {
    let bundled = bundled()?;
    let mut root = document.root()?;
    let list = list(&mut root)?.over(&bundled.list);
    let quotas = quotas(&mut root, Some(&bundled.quotas))?;
    root.finish()?;
    Ok(Prices { list, quotas })
}

fn list(root: &mut Table<'_>) -> Result<PriceList, ConfigError> {
    let mut list = PriceList::new(root.required("currency", text)?, root.required("region", text)?);
    if let Some(mut prices) = root.table("price")? {
        for item in Item::ALL {
            if let Some(mut entry) = prices.table(item.key())? {
                list.set(item, price(&mut entry)?);
                entry.finish()?;
            }
        }
        prices.finish()?;
    }
    Ok(list)
}

fn price(entry: &mut Table<'_>) -> Result<Price, ConfigError> {
    let amount: Ratio = entry.required("amount", str::parse)?;
    Ok(Price {
        amount: amount.exact().clone(),
        per: entry.or("per", Count::parse_positive, "1")?,
        source: entry.required("source", text)?,
        date: entry.required("date", date)?,
        note: entry.optional("note", text)?,
    })
}

/// The limits, each as bundled where the file says nothing.
fn quotas(root: &mut Table<'_>, bundled: Option<&Quotas>) -> Result<Quotas, ConfigError> {
    let Some(mut limits) = root.table("limits")? else {
        return bundled.cloned().ok_or_else(|| root.missing("limits"));
    };
    let quotas = Quotas {
        function_concurrency: quota(
            &mut limits,
            "function_concurrency",
            Count::parse_positive,
            bundled,
            |quotas| &quotas.function_concurrency,
        )?,
        queue_in_flight: quota(&mut limits, "queue_in_flight", Count::parse_positive, bundled, |quotas| {
            &quotas.queue_in_flight
        })?,
        shard_bytes_in: quota(&mut limits, "shard_bytes_in", Bytes::parse_positive, bundled, |quotas| {
            &quotas.shard_bytes_in
        })?,
        shard_records_in: quota(
            &mut limits,
            "shard_records_in",
            ArrivalRate::parse_positive,
            bundled,
            |quotas| &quotas.shard_records_in,
        )?,
        shard_bytes_out: quota(&mut limits, "shard_bytes_out", Bytes::parse_positive, bundled, |quotas| {
            &quotas.shard_bytes_out
        })?,
    };
    limits.finish()?;
    Ok(quotas)
}

fn quota<T: Clone>(
    limits: &mut Table<'_>,
    key: &'static str,
    parse: fn(&str) -> Result<T, ParseError>,
    bundled: Option<&Quotas>,
    of: fn(&Quotas) -> &T,
) -> Result<T, ConfigError> {
    let given = limits.optional(key, parse)?;
    given.or_else(|| bundled.map(|quotas| of(quotas).clone())).ok_or_else(|| limits.missing(key))
}

fn text(typed: &str) -> Result<String, String> {
    match typed.trim() {
        "" => Err("it is empty".to_owned()),
        long if long.chars().count() > LONGEST_TEXT => {
            Err(format!("it has more than {LONGEST_TEXT} characters"))
        }
        lines if lines.chars().any(char::is_control) => {
            Err("it is one line without control characters".to_owned())
        }
        text => Ok(text.to_owned()),
    }
}

/// A year and month, or a day.
fn date(typed: &str) -> Result<String, String> {
    let parts: Vec<&str> = typed.split('-').collect();
    let number = |part: &str, digits: usize, most: u32| {
        part.len() == digits && part.parse::<u32>().is_ok_and(|number| (1..=most).contains(&number))
    };
    let good = match parts.as_slice() {
        [year, month] => number(year, 4, 9999) && number(month, 2, 12),
        [year, month, day] => number(year, 4, 9999) && number(month, 2, 12) && number(day, 2, 31),
        _ => false,
    };
    good.then(|| typed.to_owned())
        .ok_or_else(|| format!("\"{typed}\" is no date; write 2026-03 or 2026-03-14"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Prices, ConfigError> {
        read(&Document::new("prices.toml", text))
    }

    #[test]
    fn every_item_has_a_bundled_price_with_source_and_date() {
        let prices = bundled().unwrap();
        for item in Item::ALL {
            let price = prices.list.price(item).unwrap();
            assert!(price.source.starts_with("https://") && price.of_one() > 0.0, "{item:?}");
        }
        assert_eq!(prices.quotas.function_concurrency.get(), 1000);
    }

    #[test]
    fn a_file_replaces_what_it_names() {
        let own = r#"
            currency = "USD"
            region = "us-east-1"
            price.machine_hour = { amount = 0.05, source = "our contract", date = 2026-11-30 }
            limits.function_concurrency = "10k"
        "#;
        let prices = read_text(own).unwrap();
        let machine = prices.list.price(Item::MachineHour).unwrap();
        assert_eq!((machine.of_one(), machine.date.as_str()), (0.05, "2026-11-30"));
        assert!(prices.list.of_one(Item::FunctionRequest).is_ok());
        assert_eq!(prices.quotas.function_concurrency.get(), 10_000);
        assert_eq!(prices.quotas.shard_bytes_out.get(), 2e6);
    }

    #[test]
    fn prices_of_two_regions_are_not_mixed() {
        let own = "currency = \"EUR\"\nregion = \"home\"\n";
        let error = read_text(own).unwrap().list.of_one(Item::MachineHour).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the price list has no price for machine hour; add [price.machine_hour]"
        );
    }

    #[test]
    fn a_price_without_source_or_date_is_refused_where_it_stands() {
        for (entry, at, reason) in [
            ("amount = 1, date = \"2026-01\"", 3, "needs \"source\""),
            ("amount = 1, source = \"x\"", 3, "needs \"date\""),
            ("amount = 1, source = \"x\", date = \"soon\"", 3, "no date"),
            ("amount = -1, source = \"x\", date = \"2026-01\"", 3, "negative"),
            ("amount = nan, source = \"x\", date = \"2026-01\"", 3, "not a finite number"),
            ("amont = 1, source = \"x\", date = \"2026-01\"", 3, "\"amont\""),
        ] {
            let text =
                format!("currency = \"USD\"\nregion = \"us-east-1\"\nprice.machine_hour = {{ {entry} }}\n");
            let error = read_text(&text).unwrap_err();
            assert!(error.message.contains(reason), "{entry}: {error}");
            assert_eq!(error.at.unwrap().0, at, "{error}");
        }
        let unknown = "currency = \"USD\"\nregion = \"x\"\n[price.machine_houre]\namount = 1\n";
        let error = read_text(unknown).unwrap_err();
        assert_eq!(
            error.to_string(),
            "prices.toml:3:8: [price] has no key \"machine_houre\"; did you mean \"machine_hour\"?"
        );
    }
}
