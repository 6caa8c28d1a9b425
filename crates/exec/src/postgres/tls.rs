//! Encrypted connections.

use super::address::{Address, Encryption, read_file};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::fmt::Display;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Returns what encrypts the connections to an address, or the reason why they cannot be.
pub(super) fn connector(address: &Address) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let config = match address.encryption {
        Encryption::VerifyFull => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(KnownCertificate::new(address, &provider)?))
            .with_no_client_auth(),
        Encryption::Off | Encryption::Prefer | Encryption::Require => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

/// Returns the certificates in the file that an address names.
fn named_certificates(address: &Address) -> Result<Vec<CertificateDer<'static>>, String> {
    let Some(path) = &address.root_certificates else { return Ok(vec![]) };
    let failed = |error: &dyn Display| format!("{}: {error}", path.display());
    let text = read_file(path).map_err(|error| failed(&error))?;
    let certificates = CertificateDer::pem_slice_iter(text.as_bytes());
    let certificates: Vec<_> = certificates.collect::<Result<_, _>>().map_err(|error| failed(&error))?;
    if certificates.is_empty() { Err(failed(&"there is no certificate in it")) } else { Ok(certificates) }
}

/// Accepts the certificates of the host that one of the trusted ones signed, as `sslmode=verify-full` does.
///
/// A certificate that signed itself is often one of an authority, because `openssl req -x509` makes such. As an authority it
/// would be no certificate of a server, but whoever names just this certificate trusts it as that.
#[derive(Debug)]
struct KnownCertificate {
    named: Vec<CertificateDer<'static>>,
    verifier: Arc<WebPkiServerVerifier>,
}

impl KnownCertificate {
    fn new(address: &Address, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let named = named_certificates(address)?;
        let mut roots = RootCertStore::empty();
        for certificate in &named {
            roots.add(certificate.clone()).map_err(|error| error.to_string())?;
        }
        if named.is_empty() {
            // A certificate of the machine that cannot be read is one that nothing is signed with.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(KnownCertificate { named, verifier })
    }
}

impl ServerCertVerifier for KnownCertificate {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.verifier.verify_server_cert(certificate, intermediates, host, ocsp_response, now) {
            // It has not expired, which is looked at first.
            Err(Error::InvalidCertificate(CertificateError::Other(error)))
                if format!("{error:?}").contains("CaUsedAsEndEntity") && self.named.contains(certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, host)?;
                Ok(ServerCertVerified::assertion())
            }
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// Accepts any certificate, as `sslmode=require` does in PostgreSQL's own programs: the connection is encrypted, and nobody
/// vouches for the server.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
