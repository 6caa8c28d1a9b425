//! The address of a server and what completes it.
//!
//! An address is that of PostgreSQL's own programs: `postgres://user@host:port/name?option=value`. What it leaves out comes
//! from the same places: the environment (`PGHOST`, `PGPORT`, `PGUSER`, `PGDATABASE`, `PGSSLMODE`), a service
//! (`PGSERVICE`, `service=name`), and for the password `PGPASSWORD` and the password file. A password in an address is
//! refused, because the list of processes, the history of a shell and the settings of a project would show it.

use crate::database::DatabaseError;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// How long a query waits for a server that went away, unless the address says otherwise.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(300);
/// How long connecting may take, unless the address says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    /// Not at all.
    Off,
    /// If the server can, whatever its certificate. That is for servers on the same machine.
    Prefer,
    /// Always, whatever the certificate.
    Require,
    /// Always, and the certificate must be that of the host.
    VerifyFull,
}

/// Where a database is, and how to connect to it.
#[derive(Clone)]
pub(super) struct Address {
    /// The address as it was given. It has no password.
    pub(super) text: String,
    pub(super) config: Config,
    pub(super) encryption: Encryption,
    /// A file of certificates to trust, instead of those of the machine.
    pub(super) root_certificates: Option<PathBuf>,
    /// The schemas to read; all that the role can read if it is empty.
    pub(super) schemas: Vec<String>,
    /// Whether a role that may write is accepted.
    pub(super) allows_writers: bool,
    pub(super) reconnect_timeout: Duration,
}

/// Returns whether an address is one of PostgreSQL.
pub(crate) fn is_postgres(address: &str) -> bool {
    rest_of(address).is_some()
}

fn rest_of(address: &str) -> Option<&str> {
    address.strip_prefix("postgres://").or_else(|| address.strip_prefix("postgresql://"))
}

impl Address {
    /// Reads an address, and completes it from the environment and the user's files.
    pub(super) fn read(address: &str) -> Result<Address, DatabaseError> {
        let wrong =
            |message: String| DatabaseError::ServerAddress { address: without_password(address), message };
        let rest = rest_of(address).ok_or_else(|| wrong("it does not begin with postgres://".to_owned()))?;
        if without_password(address) != address {
            return Err(DatabaseError::PasswordInAddress { address: without_password(address) });
        }
        let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
        let mut read = Address {
            text: address.to_owned(),
            config: Config::new(),
            encryption: Encryption::Off,
            root_certificates: env::var_os("PGSSLROOTCERT").map(PathBuf::from),
            schemas: Vec::new(),
            allows_writers: false,
            reconnect_timeout: RECONNECT_TIMEOUT,
        };
        let mut service = env::var("PGSERVICE").ok();
        let mut mode = env::var("PGSSLMODE").ok();
        let mut for_driver: Vec<&str> = Vec::new();
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match name {
                "schemas" => read.schemas = value.split(',').map(str::to_owned).collect(),
                "allow_writer" => read.allows_writers = value == "yes",
                "reconnect_timeout" => {
                    let seconds = value.parse().map_err(|_| wrong(format!("{option}: expected seconds")))?;
                    read.reconnect_timeout = Duration::from_secs(seconds);
                }
                "service" => service = Some(value.to_owned()),
                "sslmode" => mode = Some(value.to_owned()),
                "sslrootcert" => read.root_certificates = Some(PathBuf::from(value)),
                _ => for_driver.push(option),
            }
        }
        let given = format!("postgres://{place}?{}", for_driver.join("&"));
        read.config = given.parse().map_err(|error: tokio_postgres::Error| {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            wrong(source.unwrap_or_else(|| error.to_string()))
        })?;
        let service = match service {
            Some(name) => Some(Service::find(&name).map_err(wrong)?),
            None => None,
        };
        read.complete(service.as_ref());
        if read.user().is_empty() {
            return Err(wrong("it names no role; write postgres://ROLE@HOST/NAME, or set PGUSER".to_owned()));
        }
        let mode = mode.or_else(|| service.and_then(|service| service.get("sslmode").map(str::to_owned)));
        read.encryption = match mode.as_deref() {
            Some("disable") => Encryption::Off,
            Some("allow" | "prefer") => Encryption::Prefer,
            Some("require") => Encryption::Require,
            Some("verify-ca" | "verify-full") => Encryption::VerifyFull,
            Some(other) => {
                return Err(wrong(format!(
                    "sslmode={other}: expected disable, prefer, require or verify-full"
                )));
            }
            None if read.is_local() => Encryption::Prefer,
            None => Encryption::VerifyFull,
        };
        read.config.ssl_mode(match read.encryption {
            Encryption::Off => SslMode::Disable,
            Encryption::Prefer => SslMode::Prefer,
            Encryption::Require | Encryption::VerifyFull => SslMode::Require,
        });
        Ok(read)
    }

    /// Fills in what the address leaves out.
    fn complete(&mut self, service: Option<&Service>) {
        let setting = |variable: &str, key: &str| {
            let of_service = service.and_then(|service| service.get(key)).map(str::to_owned);
            of_service.or_else(|| env::var(variable).ok()).filter(|value| !value.is_empty())
        };
        let config = &mut self.config;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            match setting("PGHOST", "host") {
                Some(host) => _ = config.host(host),
                // Where Debian's server and the one that is built from source listen.
                None => {
                    let folder =
                        ["/var/run/postgresql", "/tmp"].into_iter().find(|folder| Path::new(folder).is_dir());
                    _ = config.host(folder.unwrap_or("localhost"));
                }
            }
        }
        if config.get_ports().is_empty()
            && let Some(port) = setting("PGPORT", "port").and_then(|port| port.parse().ok())
        {
            config.port(port);
        }
        if config.get_user().is_none()
            && let Some(user) = setting("PGUSER", "user").or_else(|| env::var("USER").ok())
        {
            config.user(user);
        }
        if config.get_dbname().is_none() {
            let name = setting("PGDATABASE", "dbname").or_else(|| config.get_user().map(str::to_owned));
            config.dbname(name.unwrap_or_default());
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        config.application_name("xpr");
        config.tcp_user_timeout(Duration::from_secs(20));
        let password = setting("PGPASSWORD", "password").or_else(|| password_from_file(&self.config));
        if let Some(password) = password {
            self.config.password(password);
        }
    }

    /// Returns the name of the database.
    pub(super) fn database(&self) -> &str {
        self.config.get_dbname().unwrap_or_default()
    }

    /// Returns the name of the role.
    pub(super) fn user(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    fn is_local(&self) -> bool {
        self.config.get_hosts().iter().all(|host| match host {
            Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
            Host::Unix(_) => true,
        })
    }
}

/// Returns an address with `…` instead of its password.
fn without_password(address: &str) -> String {
    let Some(start) = address.find("://").map(|at| at + 3) else { return address.to_owned() };
    let (scheme, rest) = address.split_at(start);
    let place_end = rest.find(['/', '?']).unwrap_or(rest.len());
    // A password that is not encoded may have any character, so that the last `@` ends it.
    let end = rest[..place_end].rfind('@').or_else(|| rest.rfind('@'));
    let mut shown = match end.and_then(|end| Some((rest[..end].find(':')?, end))) {
        Some((colon, end)) => format!("{scheme}{}:…{}", &rest[..colon], &rest[end..]),
        None => address.to_owned(),
    };
    if let Some(at) = shown.find("password=") {
        let end = shown[at..].find('&').map_or(shown.len(), |end| at + end);
        shown.replace_range(at + "password=".len()..end, "…");
    }
    shown
}

/// The settings of a service in the service file.
struct Service(Vec<(String, String)>);

impl Service {
    fn find(name: &str) -> Result<Service, String> {
        let path = match env::var_os("PGSERVICEFILE") {
            Some(path) => PathBuf::from(path),
            None => home().join(".pg_service.conf"),
        };
        let text =
            read_file(&path).map_err(|error| format!("the service {name}: {}: {error}", path.display()))?;
        Service::in_file(&text, name)
            .ok_or_else(|| format!("{}: there is no service {name}; add a section [{name}]", path.display()))
    }

    fn in_file(text: &str, name: &str) -> Option<Service> {
        let mut lines = text.lines().map(str::trim);
        lines.find(|line| line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) == Some(name))?;
        let settings = lines
            .take_while(|line| !line.starts_with('['))
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
        Some(Service(settings.collect()))
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// Reads a file that an address or the environment names. A pipe would be waited for.
pub(super) fn read_file(path: &Path) -> io::Result<String> {
    match fs::metadata(path)?.is_file() {
        true => fs::read_to_string(path),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file")),
    }
}

fn home() -> PathBuf {
    env::var_os("HOME").map(PathBuf::from).unwrap_or_default()
}

/// Returns the password of a connection from the password file. As for PostgreSQL's programs, others must not be able to read
/// that file.
fn password_from_file(config: &Config) -> Option<String> {
    let path = env::var_os("PGPASSFILE").map_or_else(|| home().join(".pgpass"), PathBuf::from);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if fs::metadata(&path).ok()?.permissions().mode() & 0o077 != 0 {
            return None;
        }
    }
    let text = read_file(&path).ok()?;
    let host = match config.get_hosts().first()? {
        Host::Tcp(name) => name.as_str(),
        Host::Unix(_) => "localhost",
    };
    let port = config.get_ports().first().map_or_else(|| "5432".to_owned(), u16::to_string);
    password_in(&text, [host, &port, config.get_dbname()?, config.get_user()?])
}

/// Returns the password of the first line that matches a host, a port, a database and a user.
fn password_in(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut fields = vec![String::new()];
        let mut characters = line.chars();
        while let Some(c) = characters.next() {
            match c {
                '\\' => fields.last_mut()?.extend(characters.next()),
                ':' if fields.len() < 5 => fields.push(String::new()),
                c => fields.last_mut()?.push(c),
            }
        }
        let [.., password] = fields.as_slice() else { return None };
        let matches = fields.len() == 5
            && fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        matches.then(|| password.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_refused_and_not_shown() {
        for (address, shown) in [
            ("postgres://ann:secret@host/music", "postgres://ann:…@host/music"),
            ("postgres://ann:se/c@ret@host/music", "postgres://ann:…@host/music"),
            (
                "postgresql://ann@host/music?password=secret&sslmode=require",
                "postgresql://ann@host/music?password=…&sslmode=require",
            ),
        ] {
            let error = Address::read(address).err().unwrap().to_string();
            assert!(error.contains(shown) && !error.contains("secret") && !error.contains("ret@"), "{error}");
        }
    }

    #[test]
    fn options_of_an_address_are_read() {
        let address =
            Address::read("postgres://ann@db.example.com:6543/music?schemas=sales,hr&reconnect_timeout=7")
                .unwrap();
        assert_eq!((address.user(), address.database()), ("ann", "music"));
        assert_eq!(address.schemas, ["sales", "hr"]);
        assert_eq!(address.reconnect_timeout, Duration::from_secs(7));
        assert_eq!(address.encryption, Encryption::VerifyFull);
        assert!(!address.allows_writers);
        assert_eq!(Address::read("postgres://ann@localhost/music").unwrap().encryption, Encryption::Prefer);
        for wrong in [
            "postgres://ann@host/music?sslmode=perhaps",
            "postgres://ann@host:port/music",
            "postgres://ann@host/music?nothing=1",
        ] {
            assert!(Address::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn passwords_come_from_the_first_line_that_matches() {
        let file = "# a comment\nhost:5432:music:ann:se\\:c\\\\ret\n*:*:*:ben:other\nshort:line\n";
        assert_eq!(password_in(file, ["host", "5432", "music", "ann"]).as_deref(), Some("se:c\\ret"));
        assert_eq!(password_in(file, ["elsewhere", "1", "x", "ben"]).as_deref(), Some("other"));
        assert_eq!(password_in(file, ["host", "5433", "music", "ann"]), None);
    }

    #[test]
    fn a_service_is_a_section_of_a_file() {
        let file = "[other]\nhost=a\n\n[music]\n# where it is\nhost = b\nport=6543\n[last]\nport=1\n";
        let service = Service::in_file(file, "music").unwrap();
        assert_eq!(
            (service.get("host"), service.get("port"), service.get("user")),
            (Some("b"), Some("6543"), None)
        );
        assert!(Service::in_file(file, "none").is_none());
    }
}
