//! Settings of a rule to its subject.

use ccm_expr::Value;
use ccm_model::{Diagnostic, DiagnosticKind, Span, escape_control};
use ccm_properties::is_web_address;

use super::settings::Settings;
use crate::kinds::RuleKind;
use crate::matcher::{node_value, value_text};
use crate::rule::{HttpRequest, IpVersion, Protocol, RecordType, Subject, Transport};

/// Reads the subject of a rule. An error leaves a part of the subject empty.
pub(super) fn read(kind: RuleKind, settings: &Settings<'_>, found: &mut Vec<Diagnostic>) -> Subject {
    let first = kind.settings().first().copied().unwrap_or_default();
    if kind == RuleKind::Matching {
        return matching(settings, found);
    }
    let (text, span) = settings.subject(first, found);
    match kind {
        RuleKind::Addr => address(&text, span, settings, found),
        RuleKind::Command => Subject::Command(text),
        RuleKind::Dns => name(&text, span, settings, found),
        RuleKind::File => Subject::File(text),
        RuleKind::Group => Subject::Group(text),
        RuleKind::Http => Subject::Http(Box::new(request(text, span, settings, found))),
        RuleKind::Interface => Subject::Interface(text),
        RuleKind::KernelParam => Subject::KernelParam(text),
        RuleKind::Matching => Subject::Matching(Value::Null),
        RuleKind::Mount => Subject::Mount(text),
        RuleKind::Package => Subject::Package(text),
        RuleKind::Port => port(&text, span, found),
        RuleKind::Process => Subject::Process(text),
        RuleKind::Service => Subject::Service(text),
        RuleKind::User => Subject::User(text),
    }
}

fn matching(settings: &Settings<'_>, found: &mut Vec<Diagnostic>) -> Subject {
    let Some(node) = settings.node("content") else {
        let message = "`content` is missing";
        found.push(Diagnostic::error(DiagnosticKind::Missing, settings.span, message));
        return Subject::Matching(Value::Null);
    };
    let content = node_value(node);
    if settings.boolean("as-reader", found)
        && let Err(error) = value_text(&content)
    {
        found.push(Diagnostic::error(DiagnosticKind::WrongType, node.span, error.to_string()));
    }
    Subject::Matching(content)
}

fn protocol(text: &str) -> Option<Protocol> {
    let (transport, version) = match text.strip_prefix("tcp") {
        Some(version) => (Transport::Tcp, version),
        None => (Transport::Udp, text.strip_prefix("udp")?),
    };
    let version = match version {
        "" => None,
        "4" => Some(IpVersion::V4),
        "6" => Some(IpVersion::V6),
        _ => return None,
    };
    Some(Protocol { transport, version })
}

fn port(text: &str, span: Span, found: &mut Vec<Diagnostic>) -> Subject {
    let (scheme, number) = text.split_once(':').unwrap_or(("tcp", text));
    let number: Option<u16> = number.parse().ok().filter(|number| *number > 0);
    if let (Some(protocol), Some(number)) = (protocol(scheme), number) {
        return Subject::Port { protocol, number };
    }
    Settings::refuse(text, span, "a port", "write a port such as `tcp:80`, `tcp6:80` or `udp:53`", found);
    Subject::Port { protocol: Protocol { transport: Transport::Tcp, version: None }, number: 0 }
}

fn address(text: &str, span: Span, settings: &Settings<'_>, found: &mut Vec<Diagnostic>) -> Subject {
    let (scheme, address) = text.split_once("://").unwrap_or(("tcp", text));
    let port = address.rsplit_once(':').filter(|(host, port)| is_host(host) && port.parse::<u16>().is_ok());
    let protocol = protocol(scheme).filter(|_| port.is_some()).unwrap_or_else(|| {
        Settings::refuse(text, span, "an address", "write an address such as `tcp://192.0.2.1:80`", found);
        Protocol { transport: Transport::Tcp, version: None }
    });
    if protocol.transport == Transport::Udp {
        let message = "an address of UDP is always reachable: a datagram needs no connection";
        Settings::no_effect(span, message, "check the service with a `command` or `dns` rule", found);
    }
    let local_address = settings.text("local-address", found);
    Subject::Addr { protocol, address: address.to_owned(), local_address }
}

/// Returns the port of a URL if it is no number of a port.
fn wrong_port(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let (_, port) = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'))?;
    let is_port = port.is_empty() || port.parse::<u16>().is_ok_and(|number| number > 0);
    (!is_port).then_some(port)
}

/// Returns `true` for a host name, an IPv4 address or an IPv6 address in brackets.
fn is_host(host: &str) -> bool {
    match host.strip_prefix('[') {
        Some(rest) => rest.ends_with(']'),
        None => !host.is_empty() && !host.contains([':', '/', ' ']),
    }
}

fn name(text: &str, span: Span, settings: &Settings<'_>, found: &mut Vec<Diagnostic>) -> Subject {
    let server = settings.text("server", found);
    let (record, name) = match text.split_once(':') {
        Some((record, name)) => (RecordType::parse(record), name),
        None => (None, text),
    };
    if text.contains(':') && record.is_none() || name.is_empty() {
        let hint = "write a name such as `example.org` or `MX:example.org`";
        Settings::refuse(text, span, "a name to resolve", hint, found);
    } else if let (Some(record), None) = (record, &server) {
        let message = format!("a record of the type {} is only asked for with a `server`", record.name());
        let error = Diagnostic::error(DiagnosticKind::Conflict, span, message);
        found.push(error.with_hint(format!("add `server`, or write `{name}` for its addresses")));
    }
    Subject::Dns { record, name: name.to_owned(), server }
}

fn request(url: String, span: Span, settings: &Settings<'_>, found: &mut Vec<Diagnostic>) -> HttpRequest {
    if !is_web_address(&url) {
        Settings::refuse(&url, span, "a web address", "write a URL such as `https://example.org/`", found);
    } else if let Some(port) = wrong_port(&url) {
        let message = format!("`{}` is not a port", escape_control(port));
        let error = Diagnostic::error(DiagnosticKind::InvalidValue, span, message);
        found.push(error.with_hint("write a number between 1 and 65535 behind the host"));
    }
    let (username, password) = (settings.text("username", found), settings.any_text("password", found));
    if let (None, Some(node)) = (&username, settings.node("password")) {
        Settings::no_effect(
            node.span,
            "`password` has no effect without `username`",
            "add `username`",
            found,
        );
    }
    HttpRequest {
        url,
        method: settings.text("method", found).unwrap_or_else(|| "GET".to_owned()),
        allow_insecure: settings.boolean("allow-insecure", found),
        no_follow_redirects: settings.boolean("no-follow-redirects", found),
        headers: settings.headers("request-headers", found),
        body: settings.any_text("request-body", found),
        username,
        password,
        ca_file: settings.text("ca-file", found),
        cert_file: settings.text("cert-file", found),
        key_file: settings.text("key-file", found),
        proxy: settings.text("proxy", found),
    }
}
