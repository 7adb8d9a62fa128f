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

/// Whether a command's documented result has a field of this name anywhere.
pub(super) fn documents(command: &str, field: &str) -> bool {
    fn names(value: &Value, field: &str) -> bool {
        match value {
            Value::Object(fields) => {
                let here = fields.get("properties").is_some_and(|properties| properties.get(field).is_some());
                here || fields.values().any(|value| names(value, field))
            }
            Value::Array(items) => items.iter().any(|item| names(item, field)),
            _ => false,
        }
    }
    all().iter().any(|(name, schema)| {
        *name == command && (names(&schema["$defs"], field) || names(&schema["properties"]["result"], field))
    })
}
