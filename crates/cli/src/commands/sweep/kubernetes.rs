//! `xpr sweep --k8s`: an Indexed Job whose pods train the parts of a sweep.

use super::sweep_name;
use super::tasks::Tasks;
use crate::arguments::SweepArguments;
use crate::commands::write_json;
use crate::stop;
use anyhow::{Result, bail};
use serde_json::json;
use std::io::Write;
use std::path::Path;
use xpr_learn::experiment::sweep::Sweep;

/// The working folder of the container that `deploy/Containerfile` makes, where the volume is mounted, and its user.
const WORKING_FOLDER: &str = "/data";
const USER: u32 = 10001;
/// The number of times that a part may fail before it is given up. Pods that are evicted or stop as they are told to do not count.
const FAILURES: u32 = 3;
/// The time that a pod has to stop, in seconds: more than the processes in it take.
const GRACE_SECONDS: u32 = 60;

pub(super) fn write_job(
    sweep: &Sweep,
    folder: &Path,
    arguments: &SweepArguments,
    out: &mut dyn Write,
) -> Result<()> {
    let tasks = Tasks::plan(sweep, folder, arguments)?;
    if tasks.with_work.is_empty() {
        bail!("all cells are finished, or their data is missing; there is nothing to train");
    }
    let training = &arguments.training;
    let path = |path: &Path| path.display().to_string();
    let mut words = vec!["sweep".to_owned(), path(&arguments.sweep)];
    words.extend(["--out".to_owned(), path(folder)]);
    words.extend(["--shard".to_owned(), format!("$(JOB_COMPLETION_INDEX)/{}", tasks.parts)]);
    words.extend(["--jobs".to_owned(), training.jobs.to_string()]);
    words.extend(["--threads".to_owned(), training.threads.to_string()]);
    for (flag, given) in [("--data", &training.paths.data), ("--embeddings", &training.paths.embeddings)] {
        if let Some(given) = given {
            words.extend([flag.to_owned(), path(given)]);
        }
    }
    write_json(out, &job(&job_name(&arguments.sweep), &words, &tasks, arguments))
}

/// Returns the Job. `kubectl` reads JSON as it reads YAML.
fn job(name: &str, words: &[String], tasks: &Tasks, arguments: &SweepArguments) -> serde_json::Value {
    let memory = format!("{}Mi", tasks.memory_mb);
    let container = json!({
        "name": "xpr",
        "image": arguments.scheduler.image,
        "workingDir": WORKING_FOLDER,
        "args": words,
        "resources": {"requests": {"cpu": tasks.cpus, "memory": memory}, "limits": {"memory": memory}},
        "volumeMounts": [{"name": "sweep", "mountPath": WORKING_FOLDER}],
    });
    // A part that was told to stop, or whose pod was evicted, goes on in another pod.
    let no_failures = json!({"rules": [
        {"action": "Ignore", "onExitCodes": {"containerName": "xpr", "operator": "In", "values": [stop::EXIT_CODE]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    ]});
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completionMode": "Indexed",
            "completions": tasks.parts,
            "parallelism": tasks.parts,
            "backoffLimitPerIndex": FAILURES,
            "podFailurePolicy": no_failures,
            "template": {"spec": {
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": GRACE_SECONDS,
                "securityContext": {"runAsNonRoot": true, "runAsUser": USER, "fsGroup": USER},
                "containers": [container],
                "volumes": [{
                    "name": "sweep",
                    "persistentVolumeClaim": {"claimName": arguments.scheduler.volume_claim},
                }],
            }},
        },
    })
}

/// Returns the name of the job: letters, digits and hyphens, of which pods make host names.
fn job_name(sweep: &Path) -> String {
    let name: String = format!("xpr-{}", sweep_name(sweep))
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .take(50)
        .collect();
    name.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_job_is_one_that_kubernetes_accepts() {
        assert_eq!(job_name(Path::new("experiments/paper-30.toml")), "xpr-paper-30");
        assert_eq!(job_name(Path::new("Größe_1.toml")), "xpr-gr--e-1");
        assert_eq!(job_name(Path::new(&format!("{}.toml", "a".repeat(99)))).len(), 50);
    }
}
