//! Rules as they were read.

use std::fmt;
use std::time::Duration;

use ccm_expr::Value;
use ccm_model::Span;

use crate::kinds::{Attribute, RuleKind};
use crate::matcher::Matcher;

/// One rule: what is observed, and what is expected of it.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Key of the rule.
    pub id: String,
    /// Part of the machine that is observed.
    pub subject: Subject,
    /// Title, for reports.
    pub title: Option<String>,
    /// Anything that the author noted, for reports.
    pub meta: Option<serde_json::Value>,
    /// `true` if nothing is judged.
    pub skip: bool,
    /// Time that one observation may take.
    pub timeout: Duration,
    /// Retries of a rule that fails.
    pub retries: u32,
    /// Pause before a retry.
    pub retry_delay: Duration,
    /// Expectations, in the order in which they are judged.
    pub assertions: Vec<Assertion>,
    /// Location of the key.
    pub span: Span,
}

/// Expectation of one attribute.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// The attribute.
    pub attribute: Attribute,
    /// Matcher of its value.
    pub matcher: Matcher,
    /// Location of the expectation.
    pub span: Span,
}

/// Part of the machine that a rule observes.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// Address of a connection.
    Addr {
        /// Protocol.
        protocol: Protocol,
        /// Host and port.
        address: String,
        /// Address that the connection comes from.
        local_address: Option<String>,
    },
    /// Text for the shell.
    Command(String),
    /// Name to resolve.
    Dns {
        /// Type of the record; A and AAAA if there is none.
        record: Option<RecordType>,
        /// The name.
        name: String,
        /// Name server, instead of those of the system.
        server: Option<String>,
    },
    /// Path of a file. May begin with `~`, or be relative.
    File(String),
    /// Name of a group.
    Group(String),
    /// Request to a web server.
    Http(Box<HttpRequest>),
    /// Name of a network interface.
    Interface(String),
    /// Name of a kernel parameter.
    KernelParam(String),
    /// Value of the rule itself.
    Matching(Value),
    /// Path of a mount point.
    Mount(String),
    /// Name of a package.
    Package(String),
    /// Port of this machine.
    Port {
        /// Protocol.
        protocol: Protocol,
        /// Number.
        number: u16,
    },
    /// Name of a process: of its program, its script, or its first argument.
    Process(String),
    /// Name of a unit of systemd; a name without a suffix is a service.
    Service(String),
    /// Name of a user.
    User(String),
}

/// Protocol of an address or a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Transport.
    pub transport: Transport,
    /// Version of IP, if the rule names one. A port without a version is one of IPv4.
    pub version: Option<IpVersion>,
}

/// Transport of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
}

/// Version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

ccm_properties::words! {
    /// Type of a DNS record.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RecordType = "record type" {
        /// IPv4 address.
        A = "A",
        /// IPv6 address.
        Aaaa = "AAAA",
        /// Authorities for certificates.
        Caa = "CAA",
        /// Canonical name.
        Cname = "CNAME",
        /// Mail exchanger.
        Mx = "MX",
        /// Name server.
        Ns = "NS",
        /// Name of an address.
        Ptr = "PTR",
        /// Location of a service.
        Srv = "SRV",
        /// Text.
        Txt = "TXT",
    }
}

/// Request of an `http` rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpRequest {
    /// URL.
    pub url: String,
    /// Method.
    pub method: String,
    /// `true` if any certificate is accepted.
    pub allow_insecure: bool,
    /// `true` if a redirect is an answer like any other.
    pub no_follow_redirects: bool,
    /// Header lines, each a name and a value.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Option<String>,
    /// User of basic authentication.
    pub username: Option<String>,
    /// Password of basic authentication.
    pub password: Option<String>,
    /// File with trusted certificates.
    pub ca_file: Option<String>,
    /// File with the certificate of the client.
    pub cert_file: Option<String>,
    /// File with the key of that certificate.
    pub key_file: Option<String>,
    /// URL of a proxy.
    pub proxy: Option<String>,
}

impl Rule {
    /// Returns the kind.
    pub fn kind(&self) -> RuleKind {
        self.subject.kind()
    }

    /// Returns the expectation of an attribute.
    pub fn assertion(&self, attribute: Attribute) -> Option<&Assertion> {
        self.assertions.iter().find(|assertion| assertion.attribute == attribute)
    }
}

/// Kind and key, as reports name a rule: `port tcp:80`.
impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind().name(), ccm_model::escape_control(&self.id))
    }
}

impl Subject {
    /// Returns the kind of its rules.
    pub fn kind(&self) -> RuleKind {
        match self {
            Self::Addr { .. } => RuleKind::Addr,
            Self::Command(_) => RuleKind::Command,
            Self::Dns { .. } => RuleKind::Dns,
            Self::File(_) => RuleKind::File,
            Self::Group(_) => RuleKind::Group,
            Self::Http(_) => RuleKind::Http,
            Self::Interface(_) => RuleKind::Interface,
            Self::KernelParam(_) => RuleKind::KernelParam,
            Self::Matching(_) => RuleKind::Matching,
            Self::Mount(_) => RuleKind::Mount,
            Self::Package(_) => RuleKind::Package,
            Self::Port { .. } => RuleKind::Port,
            Self::Process(_) => RuleKind::Process,
            Self::Service(_) => RuleKind::Service,
            Self::User(_) => RuleKind::User,
        }
    }
}
