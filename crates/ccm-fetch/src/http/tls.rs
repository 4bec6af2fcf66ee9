//! Encrypted connections, and the certificates that they trust.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::HttpError;

/// Maximum length of a file with certificates.
const MAX_CERTIFICATES: u64 = 16 << 20;

/// Makes the settings of encrypted connections: they trust the certificates of a file, or those of the system.
pub(super) fn connector(ca_file: Option<&Path>) -> Result<TlsConnector, HttpError> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = ca_file {
        let refused = |source| HttpError::CaFile { path: path.to_owned(), source };
        let pem = ccm_host::read_at_most(Some(path), MAX_CERTIFICATES).map_err(refused)?;
        let invalid = |reason: String| refused(io::Error::new(io::ErrorKind::InvalidData, reason));
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let certificate = certificate.map_err(|error| invalid(error.to_string()))?;
            roots.add(certificate).map_err(|error| invalid(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(invalid("there is no certificate in it".to_owned()));
        }
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(HttpError::NoCertificates);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = config
        .map_err(|error| HttpError::Tls { address: String::new(), source: io::Error::other(error) })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Returns `true` for the error of a handshake that failed because of the certificate of the server.
pub(super) fn is_of_certificate(error: &io::Error) -> bool {
    let error = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
    matches!(error, Some(rustls::Error::InvalidCertificate(_)))
}

/// Encrypts a connection to a host, which has to prove its name.
pub(super) async fn encrypt(
    connector: &TlsConnector,
    stream: TcpStream,
    host: &str,
) -> io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(host.to_owned());
    let name = name.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    connector.connect(name, stream).await
}
