//! Encrypted connections, and the certificates that they trust.

mod unchecked;

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{ClientCertificate, HttpError, HttpRequest};
use unchecked::AnyCertificate;

/// Maximum length of a file with certificates or a key.
const MAX_CERTIFICATES: u64 = 16 << 20;

/// Makes the settings of encrypted connections: they trust the certificates of a file, or those of the system, or any.
pub(super) fn connector(request: &HttpRequest) -> Result<TlsConnector, HttpError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let config = config
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::Tls { address: String::new(), source: io::Error::other(error) })?;
    let config = if request.trusts_any_certificate {
        config.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
    } else {
        config.with_root_certificates(roots(request.ca_file.as_deref())?)
    };
    let mut config = match &request.client_certificate {
        Some(own) => with_certificate(config, own)?,
        None => config.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, HttpError> {
    let mut roots = RootCertStore::empty();
    let Some(path) = ca_file else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return if roots.is_empty() { Err(HttpError::NoCertificates) } else { Ok(roots) };
    };
    let refused = |source| HttpError::CaFile { path: path.to_owned(), source };
    for certificate in certificates(path).map_err(refused)? {
        roots.add(certificate).map_err(|error| refused(invalid(error.to_string())))?;
    }
    Ok(roots)
}

/// Adds the certificate by which the client proves who it is.
fn with_certificate(
    config: ConfigBuilder<ClientConfig, WantsClientCert>,
    own: &ClientCertificate,
) -> Result<ClientConfig, HttpError> {
    let refused = |path: &Path| {
        let path = path.to_owned();
        move |source| HttpError::ClientCertificate { path, source }
    };
    let chain = certificates(&own.certificate).map_err(refused(&own.certificate))?;
    let pem = ccm_host::read_at_most(Some(&own.key), MAX_CERTIFICATES).map_err(refused(&own.key))?;
    let key = PrivateKeyDer::from_pem_slice(&pem).map_err(|error| invalid(error.to_string()));
    let key = key.map_err(refused(&own.key))?;
    let config = config.with_client_auth_cert(chain, key).map_err(|error| invalid(error.to_string()));
    config.map_err(refused(&own.certificate))
}

/// Reads the certificates of a file, of which there is at least one.
fn certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let pem = ccm_host::read_at_most(Some(path), MAX_CERTIFICATES)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let read = read.map_err(|error| invalid(error.to_string()))?;
    if read.is_empty() { Err(invalid("there is no certificate in it".to_owned())) } else { Ok(read) }
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
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
