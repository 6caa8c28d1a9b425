//! `xpr sweep --slurm`: a job array for the parts of a sweep, and a job for the table.

use super::sweep_name;
use super::tasks::Tasks;
use crate::arguments::SweepArguments;
use crate::shell::quoted;
use anyhow::{Context, Result, bail};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf, absolute};
use std::process::Command;
use xpr_learn::experiment::sweep::Sweep;

/// The folder of the scripts, the logs and the table, inside that of the sweep.
const FOLDER: &str = "slurm";

pub(super) fn submit(
    sweep: &Sweep,
    folder: &Path,
    arguments: &SweepArguments,
    out: &mut dyn Write,
) -> Result<()> {
    let tasks = Tasks::plan(sweep, folder, arguments)?;
    let place = absolute(folder).with_context(|| folder.display().to_string())?.join(FOLDER);
    std::fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
    let scripts = Scripts::new(arguments, folder, &place, &tasks)?;
    let (array, report) = (place.join("array.sh"), place.join("report.sh"));
    for (path, content) in [(&array, scripts.array()), (&report, scripts.report())] {
        xpr_data::write_file(path, content.as_bytes()).with_context(|| path.display().to_string())?;
    }
    let mut dependency = vec![];
    if !tasks.with_work.is_empty() {
        let job = sbatch(&array, &arguments.scheduler.sbatch, &[])?;
        writeln!(
            out,
            "{} tasks, each {} CPUs, {} MB and {} minutes: job {job}",
            tasks.with_work.len(),
            tasks.cpus,
            tasks.memory_mb,
            tasks.minutes
        )?;
        dependency = vec![format!("--dependency=afterany:{job}")];
    }
    let job = sbatch(&report, &arguments.scheduler.sbatch, &dependency)?;
    writeln!(out, "the table will be in {}: job {job}", scripts.table.display())?;
    Ok(())
}

/// Submits a script, and returns the number of the job.
fn sbatch(script: &Path, given: &[String], options: &[String]) -> Result<String> {
    let mut command = Command::new("sbatch");
    command.arg("--parsable").args(options).args(given).arg(script);
    let output = match command.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "there is no sbatch; give the command where Slurm's commands are, or submit {} there",
            script.display()
        ),
        output => output.context("running sbatch")?,
    };
    if !output.status.success() {
        bail!("sbatch {}: {}", script.display(), String::from_utf8_lossy(&output.stderr).trim());
    }
    // With several clusters, the name of the cluster follows.
    let printed = String::from_utf8_lossy(&output.stdout);
    Ok(printed.trim().split(';').next().unwrap_or_default().to_owned())
}

/// The two scripts.
struct Scripts<'a> {
    tasks: &'a Tasks,
    name: &'a str,
    /// The folder in which the command was given.
    current: PathBuf,
    /// The folder of the logs.
    place: &'a Path,
    /// The command that trains all cells, quoted for the shell.
    command: String,
    /// The file of the table.
    table: PathBuf,
}

impl<'a> Scripts<'a> {
    fn new(arguments: &'a SweepArguments, folder: &Path, place: &'a Path, tasks: &'a Tasks) -> Result<Self> {
        let program = std::env::current_exe().context("finding this program")?;
        let training = &arguments.training;
        let mut words = vec![program.display().to_string(), "sweep".to_owned()];
        words.push(arguments.sweep.display().to_string());
        for (flag, path) in [
            ("--out", Some(folder)),
            ("--data", training.paths.data.as_deref()),
            ("--embeddings", training.paths.embeddings.as_deref()),
        ] {
            if let Some(path) = path {
                words.extend([flag.to_owned(), path.display().to_string()]);
            }
        }
        words.extend(["--jobs".to_owned(), training.jobs.to_string()]);
        words.extend(["--threads".to_owned(), training.threads.to_string()]);
        if arguments.output.json {
            words.push("--json".to_owned());
        }
        Ok(Scripts {
            tasks,
            name: sweep_name(&arguments.sweep),
            current: std::env::current_dir().context("finding the current folder")?,
            place,
            command: words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
            table: place.join(if arguments.output.json { "table.json" } else { "table.txt" }),
        })
    }

    /// Returns the script of the array, each task of which trains a part.
    fn array(&self) -> String {
        let parts = numbers(&self.tasks.with_work);
        let options = format!("#SBATCH --array={parts}\n");
        let command = format!("{} --shard \"$SLURM_ARRAY_TASK_ID/{}\"", self.command, self.tasks.parts);
        self.script("", "%A_%a", &options, &command)
    }

    /// Returns the script of the job that trains what is left, and writes the table.
    fn report(&self) -> String {
        let table = self.table.display().to_string();
        let (unfinished, table) = (quoted(&format!("{table}.part")), quoted(&table));
        let command = format!("{} > {unfinished}", self.command);
        let mut script = self.script("-report", "%j", "", &command);
        let end = format!("if [ \"$code\" -eq 0 ]; then mv {unfinished} {table}; fi\nexit \"$code\"\n");
        script.truncate(script.len() - "exit \"$code\"\n".len());
        script + &end
    }

    fn script(&self, suffix: &str, job: &str, options: &str, command: &str) -> String {
        let Tasks { cpus, memory_mb, minutes, .. } = self.tasks;
        let name = quoted(&format!("{}{suffix}", self.name));
        let log = format!("{}/{}{suffix}-{job}.log", self.place.display(), self.name);
        let log = if log.contains(' ') { format!("\"{log}\"") } else { log };
        let current = quoted(&self.current.display().to_string());
        format!(
            "#!/bin/bash\n\
             #SBATCH --job-name={name}\n\
             {options}\
             #SBATCH --ntasks=1\n\
             #SBATCH --cpus-per-task={cpus}\n\
             #SBATCH --mem={memory_mb}M\n\
             #SBATCH --time={minutes}\n\
             #SBATCH --requeue\n\
             #SBATCH --signal=B:USR1@90\n\
             #SBATCH --open-mode=append\n\
             #SBATCH --output={log}\n\
             \n\
             cd {current} || exit 2\n\
             # Slurm sends USR1 when the time is nearly over: the runs stop at a checkpoint, and the job goes on when it has its turn again.\n\
             # TERM comes with scancel and with preemption, where Slurm decides whether the job is queued again.\n\
             requeue= told=\n\
             trap 'requeue=yes told=yes; kill -USR1 \"$xpr\"' USR1\n\
             trap 'told=yes; kill -TERM \"$xpr\"' TERM\n\
             {command} &\n\
             xpr=$!\n\
             # A signal interrupts the wait.\n\
             while told=; wait \"$xpr\"; code=$?; [ -n \"$told\" ]; do :; done\n\
             if [ \"$code\" -eq {stopped} ] && [ -n \"$requeue\" ]; then scontrol requeue \"$SLURM_JOB_ID\"; fi\n\
             exit \"$code\"\n",
            stopped = crate::stop::EXIT_CODE,
        )
    }
}

/// Returns numbers in ascending order in Slurm's notation, such as `0-3,7`.
fn numbers(numbers: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let range = |(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_numbers_are_a_range() {
        assert_eq!(numbers(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(numbers(&[3]), "3");
    }
}
