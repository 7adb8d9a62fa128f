//! The JSON of every command matches its checked-in schema, which is generated from the structs that print it.

use crate::support::run_json;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

fn path(command: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/schema").join(format!("{command}.json"))
}

/// The checked-in schema of a command.
fn checked_in(command: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path(command)).unwrap()).unwrap()
}

/// Fails if a document does not match the schema of its command, or has a field that the schema does not name.
pub(crate) fn assert_matches(command: &str, document: &Value) {
    let mut schema = checked_in(command);
    refuse_unknown_fields(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{command}: {errors:#?}");
}

/// Readers may meet new fields; the tests may not: every field is documented.
fn refuse_unknown_fields(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(refuse_unknown_fields);
            if fields.contains_key("properties") && fields.get("title").is_none_or(Value::is_string) {
                fields.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(refuse_unknown_fields),
        _ => {}
    }
}

#[test]
fn the_checked_in_schemas_are_those_of_the_structs() {
    let update = std::env::var_os("WHSIZE_UPDATE").is_some();
    for (command, schema) in whsize::report::schema::all() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if update {
            fs::write(path(command), &text).unwrap();
        }
        let checked_in = fs::read_to_string(path(command)).unwrap_or_default();
        assert_eq!(checked_in, text, "docs/schema/{command}.json is stale; WHSIZE_UPDATE=1 rewrites it");
    }
}

#[test]
fn a_field_that_the_schema_does_not_name_is_found() {
    let mut document = run_json("size --rate 900 --mean 1.4 --wait 0.5").json();
    assert_matches("size", &document);
    document["result"]["surprise"] = Value::from(1);
    let found = std::panic::catch_unwind(|| assert_matches("size", &document));
    assert!(found.is_err());
}
