//! Quick trainings through the binary, on a dozen questions about the meetings of Overnight's calendar.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary folder with the dataset, and with the runs of a test.
pub(crate) struct SmallCalendar {
    folder: tempfile::TempDir,
}

impl SmallCalendar {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_dataset(&folder.path().join("data"));
        SmallCalendar { folder }
    }

    /// Returns a path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a path in the folder as an argument.
    pub(crate) fn argument(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Returns the command that trains a small parser in a folder, with these settings.
    pub(crate) fn train(&self, run: &str, settings: &[&str]) -> Command {
        let mut train = command(&["train", "--data", &self.argument("data"), "--out", &self.argument(run)]);
        let small = [
            "model.hidden=32",
            "model.heads=4",
            "model.feed_forward=32",
            "model.word=16",
            "model.action=16",
            "model.place=8",
            "train.rate=0.01",
            "train.warmup=10",
            "train.checkpoint=20",
        ];
        for setting in small.iter().chain(settings) {
            train.args(["--set", setting]);
        }
        train
    }

    /// Changes the program of a training example.
    #[allow(dead_code, reason = "not every test changes data")]
    pub(crate) fn correct_a_label(&self) {
        let file = self.path("data/splits/calendar_split0.tsv");
        let original = fs::read_to_string(&file).unwrap();
        let corrected = original.replacen("start_time", "end_time", 1);
        assert_ne!(original, corrected);
        fs::write(&file, corrected).unwrap();
    }

    /// Returns the content of a file of a run.
    #[allow(dead_code, reason = "not every test reads files")]
    pub(crate) fn read(&self, run: &str, file: &str) -> String {
        let path = self.path(run).join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// Returns a command of the binary.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
    command.args(arguments).env_remove("XPR_DATA").env_remove("XPR_EMBEDDINGS");
    command
}

/// Runs a command, which must succeed.
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    output
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Writes a dataset in the layout of Overnight.
fn write_dataset(folder: &Path) {
    let meetings = "( call SW.getProperty ( call SW.singleton en.meeting ) ( string ! type ) )";
    let property = |name: &str| {
        format!("( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string {name} ) ) )")
    };
    let filter = |rest: &str| format!("( call SW.listValue ( call SW.filter {meetings} {rest} ) )");
    let examples = [
        ("when does the annual review start", property("start_time")),
        ("when does the annual review end", property("end_time")),
        ("what date is the annual review", property("date")),
        ("where is the annual review", property("location")),
        ("who attends the annual review", property("attendee")),
        ("how long is the annual review", property("length")),
        ("meetings with alice", filter("( string attendee ) ( string = ) en.person.alice")),
        ("meetings with bob", filter("( string attendee ) ( string = ) en.person.bob")),
        ("meetings at the cafe", filter("( string location ) ( string = ) en.location.greenberg_cafe")),
        ("meetings at the office", filter("( string location ) ( string = ) en.location.central_office")),
        ("important meetings", filter("( string is_important )")),
        ("all meetings on jan 2", filter("( string date ) ( string = ) ( date 2015 1 2 )")),
    ];
    let lines: String =
        examples.iter().map(|(question, program)| format!("{question}\t{program}\n")).collect();
    let grammar = "(rule $RelNP (start time) (ConstantFn (string start_time)))\n\
                   (rule $EntityNP1 (jan 2) (ConstantFn (date 2015 1 2)))\n";
    fs::create_dir_all(folder.join("splits")).unwrap();
    fs::create_dir_all(folder.join("grammar")).unwrap();
    for (file, content) in [
        ("calendar_train.tsv", lines.as_str()),
        ("calendar_test.tsv", &lines),
        ("splits/calendar_split0.tsv", &lines),
        ("grammar/calendar.grammar", grammar),
        ("grammar/general.grammar", "(rule $Num (two) (ConstantFn (number 2)))"),
    ] {
        fs::write(folder.join(file), content).unwrap();
    }
}
