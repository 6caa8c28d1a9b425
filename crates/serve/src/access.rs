//! Who may ask: the host that a request names, where it comes from, and the access token.
//!
//! - **Host.** A page of another site whose name resolves to this machine (DNS rebinding) sends its own name. Names other than those of this
//!   machine are refused. An address is no name, and cannot be rebound.
//! - **Origin.** A browser says which site a request comes from. One that changes something must come from this server's own pages.
//! - **Token.** Needed as soon as others than this machine can connect.

use crate::problem::Problem;
use axum::http::{HeaderMap, Method, Uri, header};
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// The cookie of a browser that sent the token.
pub(crate) const COOKIE: &str = "xpr_session";
/// The fewest characters of a token.
pub const SHORTEST_TOKEN: usize = 16;

/// An access token. It is kept as a hash only.
#[derive(Clone)]
pub struct AccessToken {
    hash: [u8; 32],
    /// The value of the cookie, from which the token cannot be computed.
    session: String,
}

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccessToken")
    }
}

/// The token is too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an access token needs at least {SHORTEST_TOKEN} characters without blanks; `openssl rand -hex 16` prints one"
)]
pub struct ShortToken;

impl AccessToken {
    /// Creates a token. Blanks around it are ignored, as files end in a line end.
    ///
    /// # Errors
    /// If it is too short to be secret, or has blanks or control characters.
    pub fn new(text: &str) -> Result<Self, ShortToken> {
        let text = text.trim();
        if text.chars().count() < SHORTEST_TOKEN || text.chars().any(|c| c.is_whitespace() || c.is_control())
        {
            return Err(ShortToken);
        }
        let session = Sha256::new().chain_update(b"session of ").chain_update(text).finalize();
        let session = session.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(AccessToken { hash: hash(text), session })
    }

    /// Returns whether a text is the token. The time does not depend on how much of it is right.
    pub(crate) fn is(&self, text: &str) -> bool {
        is_same(&self.hash, &hash(text))
    }

    /// Returns the value of the cookie of a browser that sent the token.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// Returns whether a request has the token, or the cookie of a browser that sent it.
    fn is_in(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.split_once(' '));
        if let Some((scheme, token)) = bearer
            && scheme.eq_ignore_ascii_case("bearer")
        {
            return self.is(token.trim());
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies =
            cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        cookies.any(|(name, value)| name == COOKIE && is_same(&hash(value), &hash(&self.session)))
    }
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

fn is_same(left: &[u8; 32], right: &[u8; 32]) -> bool {
    left.iter().zip(right).fold(0, |different, (left, right)| different | (left ^ right)) == 0
}

/// The rules of access of a server.
#[derive(Debug)]
pub(crate) struct Access {
    /// The names by which the server may be called, beside `localhost` and addresses.
    pub(crate) hosts: Vec<String>,
    /// The token, if one is needed.
    pub(crate) token: Option<AccessToken>,
}

impl Access {
    /// Checks the host that a request names.
    pub(crate) fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Problem::bad_request("a request names one host"));
        };
        let host = host.to_str().unwrap_or_default();
        let names = [Some(host), uri.authority().map(|authority| authority.as_str())];
        for name in names.into_iter().flatten() {
            if !self.is_own(name) {
                let detail = "the request names a host that is not this server's; the server can be told its names with --host";
                return Err(Problem::new(
                    axum::http::StatusCode::MISDIRECTED_REQUEST,
                    "wrong-host",
                    "The request is for another host",
                    detail,
                ));
            }
        }
        Ok(())
    }

    /// Returns whether a host with or without a port is this server.
    fn is_own(&self, authority: &str) -> bool {
        if authority.contains(['@', '/', '\\']) {
            return false;
        }
        let (name, port) = match authority.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, port),
            _ => (authority, "0"),
        };
        if port.parse::<u16>().is_err() {
            return false;
        }
        let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        name.eq_ignore_ascii_case("localhost")
            || address.parse::<IpAddr>().is_ok()
            || self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
    }

    /// Checks where a request comes from, if a browser says it. `is_page` is true for pages, which other sites may link to.
    pub(crate) fn check_origin(method: &Method, headers: &HeaderMap, is_page: bool) -> Result<(), Problem> {
        let is_reading = matches!(*method, Method::GET | Method::HEAD);
        let mut sites = headers.get_all("sec-fetch-site").iter();
        let is_foreign = sites.any(|site| !matches!(site.as_bytes(), b"same-origin" | b"none"));
        if is_foreign && !(is_reading && is_page) {
            return Err(Problem::forbidden("the request comes from a page of another site"));
        }
        if is_reading {
            return Ok(());
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(()) };
        let origin = origin.to_str().unwrap_or_default();
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        match from {
            Some(from) if from.eq_ignore_ascii_case(host) && origins.next().is_none() => Ok(()),
            _ => Err(Problem::forbidden(
                "the request comes from a page of another site; a proxy before the server must pass on the header Host",
            )),
        }
    }

    /// Returns whether a request has the token, or needs none.
    pub(crate) fn is_authorized(&self, headers: &HeaderMap) -> bool {
        self.token.as_ref().is_none_or(|token| token.is_in(headers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn only_names_of_this_server_are_hosts() {
        let access = Access { hosts: vec!["ask.example.org".to_owned()], token: None };
        for (host, expected) in [
            ("localhost", true),
            ("LOCALHOST:8080", true),
            ("127.0.0.1:8080", true),
            ("[::1]:8080", true),
            ("192.168.1.7", true),
            ("ask.example.org", true),
            ("Ask.Example.Org:443", true),
            ("evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example", false),
            ("localhost:8080@evil.example", false),
            ("localhost:99999", false),
            ("", false),
            ("[::1", false),
        ] {
            let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))]);
            let checked = access.check_host(&Uri::from_static("/"), &headers);
            assert_eq!(checked.is_ok(), expected, "{host}");
        }
        assert!(access.check_host(&Uri::from_static("/"), &HeaderMap::new()).is_err());
        let two = headers(&[("host", "localhost"), ("host", "localhost")]);
        assert!(access.check_host(&Uri::from_static("/"), &two).is_err());
        let local = headers(&[("host", "localhost")]);
        assert!(access.check_host(&Uri::from_static("http://evil.example/"), &local).is_err());
    }

    #[test]
    fn a_request_that_changes_something_comes_from_this_server() {
        let host = ("host", "localhost:8080");
        for (pairs, reads, changes) in [
            (vec![host], true, true),
            (vec![host, ("origin", "http://localhost:8080")], true, true),
            (vec![host, ("origin", "https://LOCALHOST:8080")], true, true),
            (vec![host, ("origin", "http://localhost:8081")], true, false),
            (vec![host, ("origin", "http://evil.example")], true, false),
            (vec![host, ("origin", "null")], true, false),
            (vec![host, ("origin", "")], true, false),
            (vec![host, ("sec-fetch-site", "same-origin")], true, true),
            (vec![host, ("sec-fetch-site", "cross-site")], false, false),
            (vec![host, ("sec-fetch-site", "same-site")], false, false),
            (vec![host, ("origin", "http://localhost:8080"), ("origin", "http://evil.example")], true, false),
        ] {
            let headers = headers(&pairs);
            assert_eq!(Access::check_origin(&Method::GET, &headers, false).is_ok(), reads, "{pairs:?}");
            assert_eq!(Access::check_origin(&Method::POST, &headers, false).is_ok(), changes, "{pairs:?}");
            assert!(Access::check_origin(&Method::GET, &headers, true).is_ok(), "a link: {pairs:?}");
        }
    }

    #[test]
    fn a_token_is_a_header_or_the_cookie_of_a_login() {
        assert!(AccessToken::new("short").is_err() && AccessToken::new("0123456789 0123456789").is_err());
        let token = AccessToken::new("0123456789abcdef\n").unwrap();
        let cookie = format!("a=b; {COOKIE}={}", token.session());
        let access = Access { hosts: vec![], token: Some(token) };
        assert!(!access.is_authorized(&HeaderMap::new()));
        assert!(access.is_authorized(&headers(&[("authorization", "bearer 0123456789abcdef")])));
        assert!(!access.is_authorized(&headers(&[("authorization", "Bearer 0123456789abcdeF")])));
        assert!(!access.is_authorized(&headers(&[("cookie", "xpr_session=0123456789abcdef")])));
        let cookie = HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_str(&cookie).unwrap())]);
        assert!(access.is_authorized(&cookie));
    }
}
