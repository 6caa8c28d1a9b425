//! A PostgreSQL cluster in a temporary folder, which is stopped and deleted with its value.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The role that can only read.
pub(crate) const READER: &str = "xpr_reader";

/// The password of every role of a cluster that asks for one.
pub(crate) const PASSWORD: &str = "pass:word of the ro\\le";

/// A server of its own.
pub(crate) struct Cluster {
    folder: tempfile::TempDir,
    programs: PathBuf,
    port: u16,
    asks_for_passwords: bool,
    /// Options of the server besides those of every test.
    options: String,
}

impl Cluster {
    /// Makes and starts a cluster with a role that can only read.
    pub(crate) fn start() -> Cluster {
        let cluster = Cluster::new(false);
        cluster.first_start();
        cluster
    }

    /// Makes and starts a cluster that asks for passwords. Its connections are encrypted if there is a certificate with its
    /// key, both in PEM.
    pub(crate) fn start_with_passwords(certificate: Option<[&str; 2]>) -> Cluster {
        let mut cluster = Cluster::new(true);
        if let Some([certificate, key]) = certificate {
            for (name, content) in [("server.crt", certificate), ("server.key", key)] {
                let file = cluster.folder.path().join(name);
                fs::write(&file, content).unwrap();
                cluster.as_owner_of(&file);
            }
            let folder = cluster.folder.path().display();
            cluster.options =
                format!("-c ssl=on -c ssl_cert_file={folder}/server.crt -c ssl_key_file={folder}/server.key");
        }
        cluster.first_start();
        cluster
    }

    fn new(asks_for_passwords: bool) -> Cluster {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        make_writable(folder.path());
        Cluster { folder, programs: programs(), port, asks_for_passwords, options: String::new() }
    }

    fn first_start(&self) {
        let passwords = self.folder.path().join("password");
        fs::write(&passwords, PASSWORD).unwrap();
        let authentication = if self.asks_for_passwords { "scram-sha-256" } else { "trust" };
        self.as_owner(&[
            "initdb",
            "-D",
            &self.data(),
            "-A",
            authentication,
            "-U",
            "postgres",
            "--pwfile",
            &passwords.display().to_string(),
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
        ]);
        self.resume();
        self.run("postgres", &format!("CREATE ROLE {READER} LOGIN PASSWORD '{PASSWORD}'"));
    }

    /// Gives a file to the user of the server, who alone may read it.
    fn as_owner_of(&self, file: &Path) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
        if is_root() {
            let changed = Command::new("chown").arg("postgres").arg(file).status().unwrap();
            assert!(changed.success());
        }
    }

    /// Lets only those in whose connections are encrypted, and the owner.
    pub(crate) fn allow_encrypted_only(&self) {
        let rules = "host all postgres all scram-sha-256\nhostssl all all all scram-sha-256\n";
        fs::write(Path::new(&self.data()).join("pg_hba.conf"), rules).unwrap();
        self.run("postgres", "SELECT pg_reload_conf()");
    }

    /// Returns the port of the server.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Makes a database by a script, which the reader may read.
    pub(crate) fn make(&self, name: &str, script: &str) {
        self.run("postgres", &format!("CREATE DATABASE {name}"));
        self.run(name, script);
        let schemas = self.run(name, "SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'");
        for schema in schemas.lines() {
            self.run(name, &format!("GRANT USAGE ON SCHEMA {schema} TO {READER}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {READER}"));
        }
    }

    /// Copies an SQLite database into a new one. Columns have the types of their cells.
    pub(crate) fn copy_sqlite(&self, file: &Path, name: &str) {
        let source =
            rusqlite::Connection::open_with_flags(file, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let list = |sql: &str| -> Vec<String> {
            let mut statement = source.prepare(sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let mut script = String::new();
        for table in list("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid") {
            let columns = list(&format!("SELECT name FROM pragma_table_info('{table}')"));
            let types: Vec<String> = columns
                .iter()
                .map(|column| {
                    let kinds = list(&format!(
                        "SELECT DISTINCT typeof(\"{column}\") FROM \"{table}\" WHERE \"{column}\" IS NOT NULL"
                    ));
                    let all = |allowed: &[&str]| {
                        !kinds.is_empty() && kinds.iter().all(|kind| allowed.contains(&kind.as_str()))
                    };
                    let ty = match () {
                        () if all(&["integer"]) => "bigint",
                        () if all(&["integer", "real"]) => "double precision",
                        () => "text",
                    };
                    format!("\"{}\" {ty}", column.to_lowercase())
                })
                .collect();
            script += &format!(
                "CREATE TABLE \"{0}\" ({1});\nCOPY \"{0}\" FROM STDIN;\n",
                table.to_lowercase(),
                types.join(", ")
            );
            let cells: Vec<String> = columns
                .iter()
                .map(|column| {
                    format!("coalesce(replace(replace(replace(\"{column}\", '\\', '\\\\'), char(9), '\\t'), char(10), '\\n'), '\\N')")
                })
                .collect();
            for row in
                list(&format!("SELECT {} FROM \"{table}\" ORDER BY rowid", cells.join(" || char(9) || ")))
            {
                script += &row;
                script.push('\n');
            }
            script += "\\.\n";
        }
        self.make(name, &script);
        self.run(name, "ANALYZE");
    }

    /// Runs a script as the owner of everything, and returns its rows.
    pub(crate) fn run(&self, database: &str, script: &str) -> String {
        let mut psql = Command::new(self.programs.join("psql"))
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "postgres", "-d", database])
            .args(["-v", "ON_ERROR_STOP=1", "-q", "-A", "-t", "-X"])
            .env_remove("PGSERVICE")
            .env("PGPASSWORD", PASSWORD)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        psql.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let output = psql.wait_with_output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the address of a database for a role.
    pub(crate) fn address(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}@127.0.0.1:{}/{database}", self.port)
    }

    /// Stops the server, and ends all connections.
    pub(crate) fn stop(&self) {
        self.as_owner(&["pg_ctl", "-D", &self.data(), "-m", "immediate", "-w", "stop"]);
    }

    /// Starts the server again.
    pub(crate) fn resume(&self) {
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories='' -c fsync=off -c max_connections=50 -c shared_buffers=16MB {}",
            self.port, self.options
        );
        let log = self.folder.path().join("log").display().to_string();
        self.as_owner(&["pg_ctl", "-D", &self.data(), "-o", &options, "-l", &log, "-w", "start"]);
    }

    /// Returns the process that starts those of connections.
    pub(crate) fn process(&self) -> u32 {
        let file = fs::read_to_string(Path::new(&self.data()).join("postmaster.pid")).unwrap();
        file.lines().next().unwrap().trim().parse().unwrap()
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    /// Runs one of PostgreSQL's programs as a user that may: a server does not run as root.
    fn as_owner(&self, command: &[&str]) {
        let program = self.programs.join(command[0]);
        let mut process = match is_root() {
            true => {
                let mut process = Command::new("setpriv");
                process.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]).arg(program);
                process
            }
            false => Command::new(program),
        };
        // A server that is started here must not keep the pipes of the test open.
        let errors = fs::File::create(self.folder.path().join("errors")).unwrap();
        let status = process
            .args(&command[1..])
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .status()
            .unwrap();
        let errors = fs::read_to_string(self.folder.path().join("errors")).unwrap_or_default();
        assert!(status.success(), "{command:?}: {errors}");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let stop = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.stop()));
        drop(stop);
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// Lets the user of the server write to a folder.
fn make_writable(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
}

/// Returns the folder of PostgreSQL's programs: where Debian has them, or where the search path has them.
fn programs() -> PathBuf {
    let of_debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = of_debian.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    let found = folders
        .into_iter()
        .rev()
        .find(|folder| folder.join("initdb").exists() && folder.join("psql").exists());
    found.expect("install PostgreSQL's server (Debian: postgresql), see CONTRIBUTING.md")
}
