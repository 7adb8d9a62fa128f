//! A JSON Schema for each command's output, generated from the structs that produce it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::Value;

/// The schema name in a command's envelope; renaming or changing a field raises its number.
#[must_use]
pub fn name(command: &str) -> String {
    format!("whsize.{command}/1")
}

/// The schema of every command, by its name.
#[must_use]
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("size", envelope::<crate::sizing::Sizing>("size")),
        ("ingest", envelope::<super::ingest::Measured>("ingest")),
        ("drain", envelope::<crate::drain::DrainPlan>("drain")),
        ("simulate", envelope::<super::simulate::Compared>("simulate")),
        ("layout", envelope::<crate::layout::Layout>("layout")),
        ("autoscale-decide", envelope::<crate::autoscale::Decision>("autoscale-decide")),
        ("autoscale-replay", envelope::<crate::autoscale::Outcome>("autoscale-replay")),
        ("diagnose", envelope::<crate::diagnose::Diagnosis>("diagnose")),
        ("sandbox", envelope::<super::sandbox::Seen>("sandbox")),
        ("validate", envelope::<crate::validate::Validation>("validate")),
        ("pipeline", envelope::<crate::pipeline::PipelinePlan>("pipeline")),
        ("plan", envelope::<crate::plan::PlanOutcome>("plan")),
        ("check", envelope::<crate::check::Checked>("check")),
        ("sweep", envelope::<super::sweep::Swept>("sweep")),
    ]
}

/// The JSON Schema of a command's envelope whose `result` is an `R`.
#[must_use]
pub fn envelope<R: JsonSchema>(command: &str) -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let result = generator.subschema_for::<R>();
    let note = generator.subschema_for::<crate::notice::Note>();
    let definitions = generator.take_definitions(true);
    let schema: Schema = json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name(command),
        "type": "object",
        "properties": {
            "schema": { "const": name(command) },
            "version": { "type": "string" },
            "inputs": { "type": "object" },
            "result": result,
            "notes": { "type": "array", "items": note },
            "explanations": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "quantity": { "type": "string" },
                    "formula": { "type": "string" },
                    "numbers": { "type": "string" },
                    "source": { "type": "string" },
                },
                "required": ["quantity", "formula", "numbers", "source"],
            } },
        },
        "required": ["schema", "version", "inputs", "result", "notes"],
        "$defs": definitions,
    });
    schema.to_value()
}

/// The fields of a command's documented result.
pub(super) fn fields(command: &str) -> Vec<String> {
    let schemas = all();
    let Some((_, schema)) = schemas.iter().find(|(name, _)| *name == command) else { return Vec::new() };
    let result = &schema["properties"]["result"];
    let reference = result["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    let result = reference.and_then(|pointer| schema.pointer(pointer)).unwrap_or(result);
    result["properties"].as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
}

/// Whether a command's documented result can have a value at this path, such as `pools`, `0`, `drain`.
pub(super) fn documents(command: &str, path: &[&str]) -> bool {
    let schemas = all();
    let Some((_, root)) = schemas.iter().find(|(name, _)| *name == command) else { return false };
    let mut here = vec![&root["properties"]["result"]];
    for step in path {
        here = here
            .into_iter()
            .flat_map(|schema| alternatives(root, schema))
            .filter_map(|s| below(s, step))
            .collect();
    }
    !here.is_empty()
}

/// A schema and those that it refers to or chooses from.
fn alternatives<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let referred = schema["$ref"].as_str().and_then(|to| root.pointer(to.strip_prefix('#')?));
    let chosen = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    let further = referred.into_iter().chain(chosen).flat_map(|other| alternatives(root, other));
    std::iter::once(schema).chain(further).collect()
}

/// The schema of a field, or of the items of a list.
fn below<'s>(schema: &'s Value, step: &str) -> Option<&'s Value> {
    let is_index = step.parse::<usize>().is_ok();
    schema["properties"].get(step).or_else(|| is_index.then(|| schema.get("items")).flatten())
}
