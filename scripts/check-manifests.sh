#!/usr/bin/env bash
# Checks what `whsize layout --emit` writes against the full published schemas of Kubernetes and KEDA. Needs python3 with
# venv, and node with npm; fetches the packages kubernetes-validate (PyPI) and @kubernetes-models/keda (npm). Not a part
# of CI: the tests check the same manifests against the schemas in fixtures/manifests.
set -euo pipefail
cd "$(dirname "$0")/.."
whsize=${WHSIZE:-target/debug/whsize}
[ -x "$whsize" ] || { echo "build first (cargo build), or set WHSIZE" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python3 -m venv "$scratch/python"
"$scratch/python/bin/pip" --quiet install kubernetes-validate==1.37.0
npm install --silent --no-fund --no-audit --prefix "$scratch/node" @kubernetes-models/keda@2.0.0 js-yaml@4

cat >"$scratch/node/check.mjs" <<'JS'
import { readFileSync } from "node:fs";
import yaml from "js-yaml";
import { ScaledObject, TriggerAuthentication } from "@kubernetes-models/keda/keda.sh/v1alpha1";
const models = { ScaledObject, TriggerAuthentication };
const read = () => yaml.loadAll(readFileSync(process.argv[2], "utf8"));
for (const document of read()) new models[document.kind](document).validate();
// A validator that accepts everything would accept this as well.
const wrong = read().find((document) => document.kind === "ScaledObject");
wrong.spec.maxReplicaCount = "many";
let refused = false;
try { new ScaledObject(wrong).validate(); } catch { refused = true; }
if (!refused) throw new Error("a wrong ScaledObject was accepted");
console.log(read().map((document) => document.kind).join(", ") + ": valid");
JS

layout="layout --concurrency 1300 --rate 900 --mean 1.4 --lease 60 --memory-per-process 300Mi --surge-concurrency 7446"
for kind in kubernetes hpa; do
    "$whsize" $layout --emit "$kind" >"$scratch/$kind.yaml"
    # The oldest version that is a target and that the package carries, and its newest.
    for version in 1.29 1.34; do
        "$scratch/python/bin/kubernetes-validate" --strict --version "$version" "$scratch/$kind.yaml"
    done
done
for source in "--region eu-west-1" "--prometheus http://prometheus:9090"; do
    "$whsize" $layout --emit keda $source >"$scratch/keda.yaml"
    node "$scratch/node/check.mjs" "$scratch/keda.yaml"
done
echo "all manifests are valid by the published schemas"
