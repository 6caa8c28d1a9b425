//! The log of questions, also beside a process that is killed.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use xpr_log::{
    Entry, LogError, NewFeedback, NewQuestion, QuestionId, QuestionLog, Selection, ShownAnswer, Verdict,
    log_path, write_json_line, write_tsv_header, write_tsv_line,
};

fn asked(time: i64, question: &str) -> NewQuestion {
    NewQuestion {
        time,
        parser: "p1".to_owned(),
        question: question.to_owned(),
        program: Some("SELECT\t1".to_owned()),
        outcome: Some("value".to_owned()),
        answer: Some("a".to_owned()),
        confidence: Some(0.25),
        unsure: true,
        declined: None,
        disagreement: Some(0.5),
        shown: vec![ShownAnswer { program: "SELECT 1".to_owned(), answer: "a".to_owned(), probability: 0.5 }],
        micros: 1500,
        again: false,
    }
}

fn texts(log: &QuestionLog, selection: &Selection) -> Vec<String> {
    log.entries(selection).unwrap().into_iter().map(|entry| entry.asked.question).collect()
}

#[test]
fn entries_are_read_as_they_were_written_and_selected() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_path(&folder.path().join("run"));
    assert_eq!(path, folder.path().join("run.questions.sqlite"));
    assert!(matches!(QuestionLog::open_existing(&path), Err(LogError::Missing(_))));
    let mut log = QuestionLog::open(&path).unwrap();
    let ids = log.append(&[asked(10, "One"), asked(20, "two"), asked(30, "three ones")]).unwrap();
    assert_eq!(log.entry(ids[1]).unwrap().unwrap().asked, asked(20, "two"));
    log.add_feedback(&NewFeedback::now(ids[0], Verdict::Wrong, None)).unwrap();
    log.add_feedback(&NewFeedback::now(ids[0], Verdict::Corrected, Some("SELECT 2".to_owned()))).unwrap();
    // Another process sees them too.
    let mut log = QuestionLog::open_existing(&path).unwrap();
    let all = Selection::default();
    for (selection, expected) in [
        (all.clone(), vec!["One", "two", "three ones"]),
        (Selection { since: Some(20), ..all.clone() }, vec!["two", "three ones"]),
        (Selection { before: Some(20), ..all.clone() }, vec!["One"]),
        (Selection { after: Some(ids[1]), ..all.clone() }, vec!["three ones"]),
        (Selection { below: Some(ids[1]), ..all.clone() }, vec!["One"]),
        (Selection { judged: Some(true), ..all.clone() }, vec!["One"]),
        (Selection { judged: Some(false), ..all.clone() }, vec!["two", "three ones"]),
        (Selection { verdict: Some(Verdict::Corrected), ..all.clone() }, vec!["One"]),
        (Selection { verdict: Some(Verdict::Wrong), ..all.clone() }, vec![]),
        (Selection { text: Some("oNe".to_owned()), ..all.clone() }, vec!["One", "three ones"]),
        (Selection { newest_first: true, limit: Some(2), ..all.clone() }, vec!["three ones", "two"]),
    ] {
        assert_eq!(texts(&log, &selection), expected, "{selection:?}");
    }
    assert_eq!(log.counts().unwrap(), (3, 1));
    let day = &log.days().unwrap()[0];
    assert_eq!((day.day, day.questions, day.judged, day.right), (0, 3, 1, 0));
    // Issue 19: a question is no formula of a spreadsheet.
    for (question, expected) in
        [("=1+1", "'=1+1"), (" @SUM(A1)", "' @SUM(A1)"), ("how = is used", "how = is used")]
    {
        let entry = Entry { id: ids[0], asked: asked(0, question), feedback: vec![] };
        let mut line = Vec::new();
        write_tsv_line(&mut line, &entry).unwrap();
        assert_eq!(String::from_utf8(line).unwrap().split('\t').nth(2), Some(expected));
    }
    // Issue 19: an answer that was picked among several is right as it was given if it is the first.
    for (verdict, program, right) in [(Verdict::Answer, "SELECT 9", 0), (Verdict::Answer, "SELECT\t1", 1)] {
        log.add_feedback(&NewFeedback::now(ids[1], verdict, Some(program.to_owned()))).unwrap();
        assert_eq!(log.days().unwrap()[0].right, right, "{program}");
    }
    let entry = log.entry(ids[0]).unwrap().unwrap();
    let mut lines = Vec::new();
    write_tsv_header(&mut lines).unwrap();
    write_tsv_line(&mut lines, &entry).unwrap();
    write_json_line(&mut lines, &entry).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(
        lines[1],
        "1\t1970-01-01T00:00:00Z\tOne\tSELECT 1\tvalue\t0.2500\ttrue\t\tp1\t1.500\tcorrected\tSELECT 2"
    );
    assert_eq!(serde_json::from_str::<xpr_log::Entry>(lines[2]).unwrap(), entry);
}

#[test]
fn disputed_questions_come_first_and_judged_ones_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = QuestionLog::open(&folder.path().join("log")).unwrap();
    let disputed = |text: &str, disagreement| NewQuestion { disagreement, ..asked(1, text) };
    let ids = log
        .append(&[
            disputed("a", Some(0.2)),
            disputed("b", Some(0.6)),
            disputed("c", Some(0.9)),
            disputed("d", None),
            disputed("e", Some(0.0)),
            disputed("A ", Some(0.3)),
            disputed("C", Some(0.9)),
        ])
        .unwrap();
    log.add_feedback(&NewFeedback::now(ids[2], Verdict::NoneOfThese, None)).unwrap();
    let found: Vec<QuestionId> = log.most_disputed(10).unwrap().iter().map(|entry| entry.id).collect();
    assert_eq!(found, [ids[1], ids[5]]);
    assert_eq!(log.most_disputed(1).unwrap().len(), 1);
}

/// Issue 19: questions that a page asked for itself were counted as what people asked.
#[test]
fn a_question_that_is_asked_again_counts_if_somebody_judges_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = QuestionLog::open(&folder.path().join("log")).unwrap();
    let again = NewQuestion { again: true, parser: "p2".to_owned(), ..asked(10, "one") };
    let ids = log.append(&[asked(10, "one"), asked(20, "two"), again.clone()]).unwrap();
    let days = log.days().unwrap();
    assert_eq!((log.counts().unwrap(), days[0].questions), ((2, 0), 2));
    assert_eq!(texts(&log, &Selection::default()), ["one", "two"]);
    assert_eq!(log.entry(ids[2]).unwrap().unwrap().asked, again);
    assert_eq!(log.most_disputed(10).unwrap()[0].id, ids[2], "its answer is the newest");
    log.add_feedback(&NewFeedback::now(ids[2], Verdict::Right, None)).unwrap();
    assert_eq!((log.counts().unwrap(), log.days().unwrap()[0].questions), ((3, 1), 3));
    assert_eq!(texts(&log, &Selection::default()), ["one", "two", "one"]);
    // It is as old as the question that somebody asked.
    log.append(&[again]).unwrap();
    let pruned = log.prune(20, true).unwrap();
    assert_eq!((pruned.questions, pruned.kept), (2, 0));
    assert_eq!(
        (texts(&log, &Selection::default()), log.entry(QuestionId(4)).unwrap()),
        (vec!["two".to_owned()], None)
    );
}

/// Issue 19: the table of questions that were asked again is newer than some logs.
#[test]
fn a_log_of_the_version_before_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    for is_reading in [false, true] {
        let _ = std::fs::remove_file(&path);
        let mut log = QuestionLog::open(&path).unwrap();
        log.append(&[asked(10, "one")]).unwrap();
        drop(log);
        let former = rusqlite::Connection::open(&path).unwrap();
        former.execute_batch("DROP TABLE asked_again; PRAGMA user_version = 1").unwrap();
        drop(former);
        let mut log = match is_reading {
            true => QuestionLog::open_existing(&path).unwrap(),
            false => QuestionLog::open(&path).unwrap(),
        };
        log.append(&[NewQuestion { again: true, ..asked(10, "one") }]).unwrap();
        assert_eq!(
            (log.counts().unwrap(), texts(&log, &Selection::default())),
            ((1, 0), vec!["one".to_owned()])
        );
        drop(log);
        // One that has something else is none.
        let former = rusqlite::Connection::open(&path).unwrap();
        former
            .execute_batch("DROP TABLE asked_again; CREATE TABLE other (a); PRAGMA user_version = 1")
            .unwrap();
        drop(former);
        for result in [QuestionLog::open(&path), QuestionLog::open_existing(&path)] {
            assert!(matches!(result, Err(LogError::NotALog(_))), "{result:?}");
        }
    }
}

#[test]
fn old_questions_are_pruned_and_numbers_are_not_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = QuestionLog::open(&path).unwrap();
    let ids = log.append(&[asked(10, "secret one"), asked(20, "two"), asked(30, "three")]).unwrap();
    log.add_feedback(&NewFeedback::now(ids[1], Verdict::Right, None)).unwrap();
    let pruned = log.prune(30, false).unwrap();
    assert_eq!((pruned.questions, pruned.kept), (1, 1));
    let content = std::fs::read(&path).unwrap();
    assert!(!content.windows(6).any(|window| window == b"secret"), "deleted text is overwritten");
    let pruned = log.prune(i64::MAX, true).unwrap();
    assert_eq!((pruned.questions, pruned.kept), (2, 0));
    assert_eq!(log.append(&[asked(40, "four")]).unwrap(), [QuestionId(4)]);
    let late = log.add_feedback(&NewFeedback::now(ids[0], Verdict::Right, None));
    assert!(matches!(late, Err(LogError::NoQuestion(QuestionId(1)))));
}

#[test]
fn what_is_no_log_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(
        &path,
        "some text that is no database, and long enough to be read as a header of one.......",
    )
    .unwrap();
    for result in [QuestionLog::open(&path), QuestionLog::open_existing(&path)] {
        assert!(matches!(result, Err(LogError::NotALog(_))), "{result:?}");
    }
    let database = folder.path().join("music.db");
    rusqlite::Connection::open(&database).unwrap().execute_batch("CREATE TABLE album (a)").unwrap();
    let before = std::fs::read(&database).unwrap();
    for result in [QuestionLog::open(&database), QuestionLog::open_existing(&database)] {
        assert!(matches!(result, Err(LogError::NotALog(_))), "{result:?}");
    }
    assert_eq!(std::fs::read(&database).unwrap(), before);
    let newer = folder.path().join("newer");
    drop(QuestionLog::open(&newer).unwrap());
    rusqlite::Connection::open(&newer).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(QuestionLog::open(&newer), Err(LogError::Format { found: 99, .. })));
    let mut log = QuestionLog::open(&folder.path().join("new")).unwrap();
    let ids = log.append(&[asked(10, "one")]).unwrap();
    for (verdict, program) in [(Verdict::Right, Some("SELECT 1".to_owned())), (Verdict::Corrected, None)] {
        let refused = log.add_feedback(&NewFeedback::now(ids[0], verdict, program));
        assert!(matches!(refused, Err(LogError::Program(_))));
    }
}

#[cfg(unix)]
/// Issue 18: a log with views in the place of tables was read without end, and triggers deleted what was logged.
#[test]
fn a_log_has_the_tables_of_a_log_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    drop(QuestionLog::open(&path).unwrap());
    QuestionLog::open_existing(&path).unwrap();
    for change in [
        "CREATE TRIGGER t AFTER INSERT ON question BEGIN DELETE FROM question WHERE id < new.id; END",
        "CREATE VIEW v AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
        "DROP TABLE feedback; CREATE VIEW feedback AS SELECT 1 AS id, 1 AS question, 0 AS time, 'right' AS verdict, NULL AS program",
        "ALTER TABLE question ADD COLUMN more TEXT",
    ] {
        let copy = folder.path().join("copy");
        std::fs::copy(&path, &copy).unwrap();
        rusqlite::Connection::open(&copy).unwrap().execute_batch(change).unwrap();
        assert!(matches!(QuestionLog::open_existing(&copy), Err(LogError::NotALog(_))), "{change}");
        assert!(
            matches!(QuestionLog::open(&copy), Err(LogError::NotALog(_) | LogError::Database { .. })),
            "{change}"
        );
    }
}

/// Issue 18: opening a database that is no log finished what was in its write-ahead log.
#[test]
fn a_database_that_is_no_log_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("database"), folder.path().join("copy"));
    let writer = rusqlite::Connection::open(&path).unwrap();
    let set_up = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a); INSERT INTO t VALUES (1);";
    writer.execute_batch(set_up).unwrap();
    let wal = |path: &Path| {
        path.with_extension("").with_file_name(format!("{}-wal", path.file_name().unwrap().display()))
    };
    std::fs::copy(&path, &copy).unwrap();
    std::fs::copy(wal(&path), wal(&copy)).unwrap();
    let files = || [&copy, &wal(&copy)].map(|path| std::fs::read(path).unwrap());
    let before = files();
    assert!(matches!(QuestionLog::open(&copy), Err(LogError::NotALog(_))));
    assert!(matches!(QuestionLog::open_existing(&copy), Err(LogError::NotALog(_))));
    assert!(files() == before, "the files are as they were");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5, "nothing appeared");
}

/// Issue 18: what a killed program had left beside a database that is no log was undone.
#[test]
fn an_unfinished_change_of_a_database_that_is_no_log_is_not_undone() {
    let folder = tempfile::tempdir().unwrap();
    let [database, copy] = ["database", "copy"].map(|name| folder.path().join(name));
    let writer = rusqlite::Connection::open(&database).unwrap();
    // Changed pages do not fit in memory, and are written before the change is committed.
    let change = "CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA cache_size = 10; BEGIN; INSERT INTO t VALUES (zeroblob(1000000))";
    writer.execute_batch(change).unwrap();
    let journal = |path: &Path| format!("{}-journal", path.display());
    std::fs::copy(&database, &copy).unwrap();
    std::fs::copy(journal(&database), journal(&copy)).unwrap();
    let files = || [copy.display().to_string(), journal(&copy)].map(|path| std::fs::read(path).unwrap());
    let before = files();
    for result in [QuestionLog::open(&copy), QuestionLog::open_existing(&copy)] {
        assert!(matches!(result, Err(LogError::NotALog(_))), "{result:?}");
    }
    assert!(files() == before, "the files are as they were");
}

/// Issue 18: SQLite waited for a journal that is a pipe.
#[cfg(unix)]
#[test]
fn what_is_beside_a_log_and_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    drop(QuestionLog::open(&path).unwrap());
    for ending in ["-journal", "-wal", "-shm"] {
        let beside = folder.path().join(format!("log{ending}"));
        assert!(Command::new("mkfifo").arg(&beside).status().unwrap().success());
        for result in [QuestionLog::open(&path), QuestionLog::open_existing(&path)] {
            assert!(matches!(&result, Err(LogError::File { path, .. }) if *path == beside), "{result:?}");
        }
        std::fs::remove_file(&beside).unwrap();
    }
}

#[test]
fn a_declined_question_has_no_answer_to_confirm() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = QuestionLog::open(&folder.path().join("log")).unwrap();
    let declined = NewQuestion { program: None, declined: Some("no".to_owned()), ..asked(10, "one") };
    let id = log.append(&[declined]).unwrap()[0];
    let said = log.add_feedback(&NewFeedback::now(id, Verdict::Right, None));
    assert!(matches!(said, Err(LogError::NothingConfirmed(_))), "{said:?}");
    log.add_feedback(&NewFeedback::now(id, Verdict::Wrong, None)).unwrap();
    assert_eq!(log.counts().unwrap(), (1, 0));
}

#[cfg(unix)]
#[test]
fn a_log_that_was_removed_or_replaced_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = QuestionLog::open(&path).unwrap();
    assert!(!log.is_gone());
    std::fs::rename(&path, folder.path().join("old")).unwrap();
    assert!(log.is_gone());
    std::fs::write(&path, "").unwrap();
    assert!(log.is_gone());
}

#[test]
fn only_the_owner_can_read_a_log_and_links_are_not_followed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = QuestionLog::open(&path).unwrap();
    log.append(&[asked(10, "one")]).unwrap();
    for ending in ["log", "log-wal", "log-shm"] {
        let mode = std::fs::metadata(folder.path().join(ending)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{ending}");
    }
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(QuestionLog::open(&link).is_err());
    // A folder may be a link.
    let elsewhere = folder.path().join("elsewhere");
    std::os::unix::fs::symlink(folder.path(), &elsewhere).unwrap();
    assert!(QuestionLog::open(&elsewhere.join("log")).is_ok());
}

/// The body of the process that the next test kills: writes questions and says which are written. It is a test so that the test's own
/// binary can start it, and does nothing without its variable.
#[test]
fn a_writer_that_is_killed() {
    let Ok(path) = std::env::var("XPR_LOG_WRITER") else { return };
    let mut log = QuestionLog::open(Path::new(&path)).unwrap();
    let mut out = std::io::stdout();
    for number in 0.. {
        let batch = [asked(number, "first"), asked(number, "second")];
        let ids = log.append(&batch).unwrap();
        writeln!(out, "\nasked {} {}", ids[0], ids[1]).unwrap();
        log.add_feedback(&NewFeedback::now(ids[1], Verdict::Right, None)).unwrap();
        writeln!(out, "\nsaid {}", ids[1]).unwrap();
    }
}

#[test]
fn what_was_acknowledged_survives_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (mut questions, mut judged) = (0, 0);
    for round in 0..20_usize {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_writer_that_is_killed", "--nocapture"])
            .env("XPR_LOG_WRITER", &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines().map_while(Result::ok);
        // Killed after another number of lines each time, and so in the middle of another write.
        for _ in 0..(3 + 7 * round % 23) {
            count(&lines.next().unwrap(), &mut questions, &mut judged);
        }
        writer.kill().unwrap();
        // What it said before it died.
        lines.for_each(|line| count(&line, &mut questions, &mut judged));
        writer.wait().unwrap();
        let log = QuestionLog::open_existing(&path).unwrap();
        let entries = log.entries(&Selection::default()).unwrap();
        assert!(entries.len() as i64 >= questions, "{} of {questions}", entries.len());
        assert_eq!(entries.len() % 2, 0, "all questions of a batch are written, or none");
        let said = entries.iter().filter(|entry| !entry.feedback.is_empty()).count();
        assert!(said >= judged, "{said} of {judged}");
        // Those of the last process that it did not say.
        (questions, judged) = (entries.len() as i64, said);
    }
}

/// Counts what the line of a writer acknowledges.
fn count(line: &str, questions: &mut i64, judged: &mut usize) {
    match line.split(' ').collect::<Vec<_>>().as_slice() {
        ["asked", _, last] => *questions = last.parse().unwrap_or(*questions),
        ["said", _] => *judged += 1,
        _ => {}
    }
}
