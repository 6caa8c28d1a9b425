//! Certificates that sign themselves, made by the program `openssl`.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::fs;
use std::process::Command;

/// A certificate and its key, in PEM.
pub(crate) struct Certificate {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Certificate {
    /// Makes a certificate for hosts such as `DNS:localhost,IP:127.0.0.1` that is valid from the first day of a year to the
    /// first day of another. An authority may sign others, too.
    pub(crate) fn new(hosts: &str, is_authority: bool, [from, to]: [u32; 2]) -> Certificate {
        let folder = tempfile::tempdir().unwrap();
        let settings = format!(
            "[ca]\ndefault_ca = self\n[self]\ndatabase = index\nnew_certs_dir = .\nserial = serial\ndefault_md = sha256\n\
             policy = names\nx509_extensions = extensions\n[names]\ncommonName = supplied\n[extensions]\n\
             subjectAltName = {hosts}\nbasicConstraints = CA:{}\n",
            if is_authority { "TRUE" } else { "FALSE" }
        );
        for (name, content) in [("settings", settings.as_str()), ("index", ""), ("serial", "01\n")] {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let (from, to) = (format!("{from}0101000000Z"), format!("{to}0101000000Z"));
        let request = "req -new -newkey rsa:2048 -nodes -keyout key -out request -subj /CN=test";
        let sign = "ca -batch -notext -selfsign -config settings -keyfile key -in request -out certificate -startdate";
        for (command, rest) in [(request, vec![]), (sign, vec![from.as_str(), "-enddate", &to])] {
            let output = Command::new("openssl")
                .current_dir(folder.path())
                .args(command.split(' '))
                .args(rest)
                .output()
                .expect("install openssl, see CONTRIBUTING.md");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        Certificate { certificate: read("certificate"), key: read("key") }
    }
}
