//! Errors as problem details (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// An error that a client is told of. It has nothing of the server's machine: no path, and no message of the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// A name for the kind of problem, relative to the server.
    #[serde(rename = "type")]
    #[schema(example = "/problems/too-many-questions")]
    pub kind: String,
    /// What is wrong, in a few words.
    pub title: String,
    /// The status of the response.
    pub status: u16,
    /// What is wrong with this request, and what to do.
    pub detail: String,
    /// The seconds after which the request may succeed.
    #[serde(skip)]
    #[schema(ignore)]
    pub retry_after: Option<u32>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, kind: &str, title: &str, detail: impl Into<String>) -> Self {
        Problem {
            kind: format!("/problems/{kind}"),
            title: title.to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            retry_after: None,
        }
    }

    /// Creates the problem of a request that is refused with a status. `detail` says why, in words that may be shown to the client.
    pub fn refusal(status: StatusCode, detail: impl Into<String>) -> Self {
        Problem::new(status, "refused", "The request is refused", detail)
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, "bad-request", "The request cannot be understood", detail)
    }

    pub(crate) fn bad_question(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad-question", "This cannot be a question", detail)
    }

    pub(crate) fn bad_query(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad-query", "The query does not run", detail)
    }

    pub(crate) fn bad_feedback(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad-feedback", "The feedback cannot be kept", detail)
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::FORBIDDEN, "forbidden", "The request is not allowed", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::NOT_FOUND, "not-found", "There is nothing here", detail)
    }

    pub(crate) fn unauthorized() -> Self {
        let detail = "send the access token of the server, as `Authorization: Bearer TOKEN`";
        Problem::new(StatusCode::UNAUTHORIZED, "no-token", "An access token is needed", detail)
    }

    pub(crate) fn too_many(detail: impl Into<String>) -> Self {
        let title = "Too many requests";
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many-requests", title, detail);
        Problem { retry_after: Some(1), ..problem }
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        let title = "The server cannot answer now";
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", title, detail);
        Problem { retry_after: Some(2), ..problem }
    }

    pub(crate) fn internal() -> Self {
        let detail = "the server failed; its log has the reason";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "The server failed", detail)
    }

    /// Returns the status.
    pub(crate) fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (self.status_code(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == 401 {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
