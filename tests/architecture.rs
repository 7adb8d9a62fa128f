//! Reads the imports of every module and fails on an arrow that must never exist.

#![allow(clippy::unwrap_used, reason = "a test may fail by unwrapping")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::Visit;

const DOMAIN: &[&str] = &[
    "units",
    "notice",
    "queueing",
    "profile",
    "arrivals",
    "sizing",
    "drain",
    "layout",
    "diagnose",
    "autoscale",
    "pipeline",
    "plan",
    "check",
    "simulate",
];

/// What no domain module may name: presentation, input and output, runtimes.
const NOT_FOR_DOMAIN: &[&str] = &[
    "clap",
    "anyhow",
    "comfy_table",
    "serde_json",
    "tokio",
    "toml",
    "crate::config",
    "crate::report",
    "crate::ingest",
    "crate::dispatch",
    "crate::cli",
];

/// Other arrows that must not exist: from a top-level module to a crate or a module of ours.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("report", &["crate::queueing", "crate::config", "clap", "anyhow", "tokio"]),
    ("report", SOLVERS),
    ("config", &["clap", "anyhow", "comfy_table", "serde_json", "tokio", "crate::report"]),
    ("simulate", &["crate::queueing", "crate::sizing"]),
    ("queueing", &["crate::simulate", "crate::sizing"]),
    ("dispatch", &["crate::sizing", "crate::queueing", "crate::simulate", "clap", "anyhow"]),
    ("ingest", &["clap", "anyhow", "comfy_table", "tokio"]),
];

/// What answers questions: by itself, by a function that is called, or by a method, which is written with its dot.
const SOLVERS: &[&str] = &[
    "crate::simulate::events",
    "crate::simulate::recursion",
    "crate::simulate::refine",
    "crate::simulate::run",
    "crate::simulate::simulate",
    "crate::simulate::simulate_by_events",
    "crate::sizing::solve",
    "crate::sizing::smallest_workers",
    ".answer",
    ".solve",
];

/// Who may use the terminal, the environment and process control, and who may read a clock.
const MAY_TOUCH_THE_PROCESS: &[&str] = &["cli", "main"];
const MAY_READ_A_CLOCK: &[&str] = &["dispatch", "sandbox", "validate", "cli"];
const PROCESS: &[&str] = &[
    "std::io::stdout",
    "std::io::stderr",
    "io::stdout",
    "io::stderr",
    "std::process",
    "std::env",
    "process::exit",
    "env::var",
    "env::args",
];
const CLOCKS: &[&str] = &["Instant::now", "SystemTime::now", "std::time::Instant", "std::time::SystemTime"];

/// Every path that a file names outside its unit tests: imports, and paths in expressions and types.
#[derive(Default)]
struct Paths(BTreeSet<String>);

impl Paths {
    fn flatten(&mut self, prefix: &str, tree: &syn::UseTree) {
        let join = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") };
        match tree {
            syn::UseTree::Path(path) => self.flatten(&join(&path.ident.to_string()), &path.tree),
            syn::UseTree::Name(name) => drop(self.0.insert(join(&name.ident.to_string()))),
            syn::UseTree::Rename(name) => drop(self.0.insert(join(&name.ident.to_string()))),
            syn::UseTree::Glob(_) => drop(self.0.insert(prefix.to_owned())),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.flatten(prefix, item)),
        }
    }
}

fn is_test_only(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test_only(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.flatten("", &item.tree);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.0.insert(format!(".{}", call.method));
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.0.insert(names.join("::"));
        syn::visit::visit_path(self, path);
    }
}

/// `crate::report` for `whsize::report`, and for a path that climbs out of its module with `super`.
fn normalise(path: &str, module: &[String]) -> String {
    let mut parts: Vec<&str> = path.split("::").collect();
    if parts.first() == Some(&"whsize") {
        parts[0] = "crate";
    }
    let climbs = parts.iter().take_while(|part| **part == "super").count();
    if climbs == 0 {
        return parts.join("::");
    }
    let kept = module.len().saturating_sub(climbs);
    let base = module[..kept].iter().map(String::as_str);
    std::iter::once("crate").chain(base).chain(parts[climbs..].iter().copied()).collect::<Vec<_>>().join("::")
}

fn begins_with(path: &str, forbidden: &str) -> bool {
    path == forbidden || path.strip_prefix(forbidden).is_some_and(|rest| rest.starts_with("::"))
}

fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// Module path of a source file below `src`: `src/report/table.rs` is `["report", "table"]`.
fn module_of(file: &Path, source: &Path) -> Vec<String> {
    let relative = file.strip_prefix(source).unwrap().with_extension("");
    let mut parts: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.len() > 1 && parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// Modules in files of their own that a module declares for its tests alone.
fn test_files(module: &[String], source: &str) -> Vec<Vec<String>> {
    let items = syn::parse_file(source).unwrap().items;
    let declared = items.into_iter().filter_map(|item| match item {
        syn::Item::Mod(item) if item.content.is_none() && is_test_only(&item.attrs) => Some(item.ident),
        _ => None,
    });
    declared.map(|name| [module, &[name.to_string()]].concat()).collect()
}

fn breaches(module: &[String], source: &str) -> Vec<String> {
    let mut paths = Paths::default();
    paths.visit_file(&syn::parse_file(source).unwrap());
    let top = module[0].as_str();
    let mut found = Vec::new();
    for raw in &paths.0 {
        let path = normalise(raw, module);
        let hit = |list: &[&str]| list.iter().any(|forbidden| begins_with(&path, forbidden));
        if DOMAIN.contains(&top) && hit(NOT_FOR_DOMAIN)
            || FORBIDDEN.iter().any(|(from, to)| *from == top && hit(to))
            || !MAY_TOUCH_THE_PROCESS.contains(&top) && hit(PROCESS)
            || !MAY_TOUCH_THE_PROCESS.contains(&top) && !MAY_READ_A_CLOCK.contains(&top) && hit(CLOCKS)
        {
            found.push(format!("{} -> {path}", module.join("::")));
        }
    }
    found
}

#[test]
fn no_module_imports_what_it_must_not_know() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    assert!(files.len() > 10, "the source tree was found");
    let modules: Vec<(Vec<String>, String)> =
        files.iter().map(|file| (module_of(file, &source), fs::read_to_string(file).unwrap())).collect();
    let tests: BTreeSet<Vec<String>> =
        modules.iter().flat_map(|(module, text)| test_files(module, text)).collect();
    let found: Vec<String> = modules
        .iter()
        .filter(|(module, _)| !tests.contains(module))
        .flat_map(|(module, text)| breaches(module, text))
        .collect();
    assert!(found.is_empty(), "forbidden arrows:\n{}", found.join("\n"));
}

/// Whether a path of ours leads to a module, or to a function of one.
fn exists(path: &str, source: &Path) -> bool {
    let steps: Vec<&str> = path.split("::").skip(1).collect();
    let place: PathBuf = source.join(steps.iter().collect::<PathBuf>());
    if place.is_dir() || place.with_extension("rs").is_file() {
        return true;
    }
    let (item, parents) = steps.split_last().unwrap();
    let mut files = Vec::new();
    rust_files(&source.join(parents.iter().collect::<PathBuf>()), &mut files);
    files.iter().any(|file| fs::read_to_string(file).unwrap().contains(&format!("pub fn {item}(")))
}

#[test]
fn every_module_that_a_rule_names_is_there() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let tops = DOMAIN.iter().chain(MAY_TOUCH_THE_PROCESS).chain(MAY_READ_A_CLOCK);
    let tops = tops.chain(FORBIDDEN.iter().map(|(from, _)| from)).map(|top| format!("crate::{top}"));
    let named = FORBIDDEN.iter().flat_map(|(_, to)| *to).chain(NOT_FOR_DOMAIN).map(|path| (*path).to_owned());
    for path in tops.chain(named).filter(|path| path.starts_with("crate::")) {
        assert!(exists(&path, &source), "{path} is in a rule, and nowhere else");
    }
    assert!(!exists("crate::simulate::engine", &source));
}

#[test]
fn a_forbidden_arrow_is_found_however_it_is_written() {
    let module = |name: &str| vec![name.to_owned(), "inner".to_owned()];
    for (from, source) in [
        ("queueing", "use crate::simulate::Engine;"),
        ("queueing", "use crate::{units, simulate::{Engine}};"),
        ("queueing", "fn f() { super::super::simulate::run() }"),
        ("simulate", "use whsize::queueing;"),
        ("sizing", "fn f() { serde_json::to_string(&1); }"),
        ("drain", "use clap as c;"),
        ("dispatch", "mod deep { use crate::sizing::*; }"),
        ("sizing", "fn f() -> std::time::Instant { std::time::Instant::now() }"),
        ("report", "fn f() { std::env::var(\"X\"); }"),
        ("report", "use crate::simulate::simulate_by_events;"),
        ("report", "use crate::sizing::{Question, smallest_workers};"),
        ("report", "fn f(q: &crate::sizing::Question) { q.answer(); }"),
    ] {
        assert_eq!(breaches(&module(from), source).len().min(1), 1, "{from}: {source}");
    }
    for (from, source) in [
        ("queueing", "use crate::units::Exact;"),
        ("queueing", "#[cfg(test)] mod tests { use crate::simulate; }"),
        ("cli", "fn f() { std::io::stdout(); }"),
        ("dispatch", "use std::time::Instant;"),
    ] {
        assert!(breaches(&module(from), source).is_empty(), "{from}: {source}");
    }
}
