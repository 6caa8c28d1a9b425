//! `xpr sweep --k8s`: an Indexed Job whose pods train the parts of a sweep.

use super::sweep_name;
use super::tasks::Tasks;
use crate::arguments::SweepArguments;
use crate::stop;
use anyhow::{Result, bail};
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
    let words = words.iter().map(|word| format!("            - {}\n", quoted(word))).collect::<String>();
    write!(
        out,
        "apiVersion: batch/v1\n\
         kind: Job\n\
         metadata:\n\
         \x20 name: {name}\n\
         spec:\n\
         \x20 completionMode: Indexed\n\
         \x20 completions: {parts}\n\
         \x20 parallelism: {parts}\n\
         \x20 backoffLimitPerIndex: {FAILURES}\n\
         \x20 podFailurePolicy:\n\
         \x20   rules:\n\
         \x20     # A part that was told to stop, or whose pod was evicted, goes on in another pod.\n\
         \x20     - action: Ignore\n\
         \x20       onExitCodes:\n\
         \x20         containerName: xpr\n\
         \x20         operator: In\n\
         \x20         values: [{stopped}]\n\
         \x20     - action: Ignore\n\
         \x20       onPodConditions:\n\
         \x20         - type: DisruptionTarget\n\
         \x20           status: \"True\"\n\
         \x20 template:\n\
         \x20   spec:\n\
         \x20     restartPolicy: Never\n\
         \x20     terminationGracePeriodSeconds: {GRACE_SECONDS}\n\
         \x20     securityContext:\n\
         \x20       runAsNonRoot: true\n\
         \x20       runAsUser: {USER}\n\
         \x20       fsGroup: {USER}\n\
         \x20     containers:\n\
         \x20       - name: xpr\n\
         \x20         image: {image}\n\
         \x20         workingDir: {WORKING_FOLDER}\n\
         \x20         args:\n\
         {words}\
         \x20         resources:\n\
         \x20           requests:\n\
         \x20             cpu: {cpus}\n\
         \x20             memory: {memory}Mi\n\
         \x20           limits:\n\
         \x20             memory: {memory}Mi\n\
         \x20         volumeMounts:\n\
         \x20           - name: sweep\n\
         \x20             mountPath: {WORKING_FOLDER}\n\
         \x20     volumes:\n\
         \x20       - name: sweep\n\
         \x20         persistentVolumeClaim:\n\
         \x20           claimName: {claim}\n",
        name = quoted(&job_name(&arguments.sweep)),
        parts = tasks.parts,
        stopped = stop::EXIT_CODE,
        image = quoted(&arguments.scheduler.image),
        cpus = tasks.cpus,
        memory = tasks.memory_mb,
        claim = quoted(&arguments.scheduler.volume_claim),
    )?;
    Ok(())
}

/// Returns a text as a quoted scalar of YAML, which may be written as in JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
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
