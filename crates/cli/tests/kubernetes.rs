//! The Job of `xpr sweep --k8s` has the fields that a sweep relies on, and no other, each of its type in Kubernetes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

#[allow(dead_code, reason = "other tests use the rest")]
mod small_calendar;
#[allow(dead_code, reason = "other tests use the rest")]
mod small_sweep;

use serde_json::Value;
use small_calendar::{command, stderr, succeed};
use small_sweep::SmallSweep;
use std::fs;
use std::process::Command;

/// Every field of the Job with its type, as `kubectl explain` says. The type of a list is that of its elements. The last column has the value, unless it differs.
const FIELDS: [(&str, &str, &str); 29] = [
    ("apiVersion", "string", "batch/v1"),
    ("kind", "string", "Job"),
    ("metadata.name", "string", "xpr-sweep"),
    // Each part is a pod, and each may fail by itself: `backoffLimitPerIndex` needs Indexed.
    ("spec.completionMode", "string", "Indexed"),
    ("spec.completions", "integer", "6"),
    ("spec.parallelism", "integer", "6"),
    ("spec.backoffLimitPerIndex", "integer", "3"),
    // Told to stop, or evicted: not a failure. `podFailurePolicy` needs `restartPolicy: Never`.
    ("spec.podFailurePolicy.rules.action", "string", "Ignore"),
    ("spec.podFailurePolicy.rules.onExitCodes.containerName", "string", "xpr"),
    ("spec.podFailurePolicy.rules.onExitCodes.operator", "string", "In"),
    ("spec.podFailurePolicy.rules.onExitCodes.values", "integer", "75"),
    ("spec.podFailurePolicy.rules.onPodConditions.type", "string", "DisruptionTarget"),
    // Not a boolean.
    ("spec.podFailurePolicy.rules.onPodConditions.status", "string", "True"),
    ("spec.template.spec.restartPolicy", "string", "Never"),
    ("spec.template.spec.terminationGracePeriodSeconds", "integer", "60"),
    ("spec.template.spec.securityContext.runAsNonRoot", "boolean", "true"),
    ("spec.template.spec.securityContext.runAsUser", "integer", "10001"),
    ("spec.template.spec.securityContext.fsGroup", "integer", "10001"),
    ("spec.template.spec.containers.name", "string", "xpr"),
    ("spec.template.spec.containers.image", "string", "registry.test/xpr:1"),
    ("spec.template.spec.containers.workingDir", "string", "/data"),
    ("spec.template.spec.containers.args", "string", ""),
    // Quantities are numbers, or strings with a unit.
    ("spec.template.spec.containers.resources.requests.cpu", "integer", "6"),
    ("spec.template.spec.containers.resources.requests.memory", "string", "1506Mi"),
    ("spec.template.spec.containers.resources.limits.memory", "string", "1506Mi"),
    ("spec.template.spec.containers.volumeMounts.name", "string", "sweep"),
    ("spec.template.spec.containers.volumeMounts.mountPath", "string", "/data"),
    ("spec.template.spec.volumes.name", "string", "sweep"),
    ("spec.template.spec.volumes.persistentVolumeClaim.claimName", "string", "team: a's"),
];

/// Adds the path, type and value of every scalar.
fn scalars(path: &str, value: &Value, found: &mut Vec<(String, &'static str, String)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                scalars(&if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, value, found);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| scalars(path, element, found)),
        Value::String(text) => found.push((path.to_owned(), "string", text.clone())),
        Value::Number(number) => {
            assert!(number.is_u64(), "{path}: {number}");
            found.push((path.to_owned(), "integer", number.to_string()));
        }
        Value::Bool(truth) => found.push((path.to_owned(), "boolean", truth.to_string())),
        Value::Null => panic!("{path} is null"),
    }
}

fn job(sweep: &SmallSweep) -> Vec<(String, &'static str, String)> {
    let arguments = [
        "--k8s",
        "--tasks=6",
        "--jobs=2",
        "--threads=3",
        "--cell-memory=500",
        "--image=registry.test/xpr:1",
        "--volume-claim=team: a's",
    ];
    let printed = succeed(&mut sweep.command("a folder", &arguments)).stdout;
    let mut found = Vec::new();
    scalars("", &serde_json::from_slice(&printed).unwrap(), &mut found);
    found
}

#[test]
fn the_job_has_the_fields_that_a_sweep_relies_on() {
    let found = job(&SmallSweep::new(4, 20));
    for (path, kind, value) in &found {
        let field = FIELDS.iter().find(|(known, ..)| known == path);
        let (_, known, expected) = field.unwrap_or_else(|| panic!("there is no {path} in a Job"));
        assert_eq!(kind, known, "{path}");
        assert!(expected.is_empty() || value == expected, "{path} is {value}");
    }
    for (path, kind, _) in &FIELDS {
        assert!(found.iter().any(|(known, ..)| known == path), "{path}: a {kind} is missing");
    }
}

/// The arguments of the container are a command of this binary, whose entry point is `xpr`.
#[test]
fn the_arguments_of_a_pod_train_its_part() {
    let sweep = SmallSweep::new(1, 20);
    let found = job(&sweep);
    let arguments = found.iter().filter(|(path, ..)| path.ends_with("containers.args"));
    let of_pod = |index: usize| -> Command {
        let mut pod = command(&[]);
        pod.args(
            arguments.clone().map(|(_, _, word)| word.replace("$(JOB_COMPLETION_INDEX)", &index.to_string())),
        );
        pod
    };
    for index in 0..6 {
        let trained = succeed(&mut of_pod(index));
        let expected = format!("1 of the others are in part {index}/6");
        assert!(stderr(&trained).contains(&expected), "{}", stderr(&trained));
    }
    assert_eq!(sweep.count("a folder", "finished"), 6);
    let nothing = sweep.command("a folder", &["--k8s"]).output().unwrap();
    assert!(stderr(&nothing).contains("there is nothing to train"), "{}", stderr(&nothing));
}

#[test]
fn the_container_is_that_of_deploy() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/Containerfile");
    let lines = fs::read_to_string(file).unwrap();
    // The Job names no command, so the entry point gets its arguments.
    for line in ["ENTRYPOINT [\"xpr\"]", "WORKDIR /data", "USER 10001"] {
        assert!(lines.lines().any(|found| found == line), "{line}");
    }
    assert!(lines.contains("podman build -f deploy/Containerfile -t xpr ."), "the default of --image");
}
