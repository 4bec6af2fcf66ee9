//! Addresses, hosts and data that are sent.

use std::net::{Ipv4Addr, Ipv6Addr};

use ccm_shell::{ShellSpan, ShellWord};

use super::entries::Call;
use super::{Analyser, paths, shell_words};
use crate::analysis::WayOut;
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;

impl Analyser<'_> {
    /// Judges an address that is fetched.
    pub(super) fn url(&mut self, call: &Call<'_>, word: &ShellWord) {
        let span = call.context.span.unwrap_or(word.span);
        let text = shell_words::with_placeholders(word);
        if text.to_ascii_lowercase().starts_with("file:") {
            self.read_path(call.index, word, &call.context);
            return;
        }
        if text.contains("::") && text.split("::").next().is_some_and(|helper| matches!(helper, "ext" | "fd"))
        {
            let what = format!("the address {} runs a program", shell_words::shown(word).shown);
            self.finding(call.index, GuardClass::Options, what, span, Some(WayOut::DropOption));
        }
        let host = host_of(&text);
        let effect =
            Effect::new(EffectKind::Network, (!host.is_empty() && host != "x").then(|| host.clone()));
        self.effect(call.index, effect);
        self.metadata_host(call.index, &host, span);
        if text.starts_with("scp://") || text.starts_with("sftp://") || text.starts_with("telnet://") {
            let what = format!("exchanges data with {host}");
            self.finding(call.index, GuardClass::Remote, what, span, Some(WayOut::AskOperator));
        }
    }

    /// Refuses the metadata service of a cloud.
    pub(super) fn metadata_host(&mut self, index: usize, host: &str, span: ShellSpan) {
        if is_metadata_host(host) {
            let what = format!("{host} is the metadata service of a cloud, which hands out credentials");
            self.finding(index, GuardClass::Metadata, what, span, Some(WayOut::AskOperator));
        }
    }

    /// Judges data of a request: `@file`, `name=@file`, `name@file`.
    pub(super) fn data(&mut self, call: &Call<'_>, word: &ShellWord) {
        let prefix = word.known_prefix();
        let mark = if prefix.starts_with(['@', '<']) {
            Some(1)
        } else {
            prefix.find("=@").or_else(|| prefix.find("=<")).map(|at| at + 2)
        };
        let Some(mark) = mark else { return };
        let file = shell_words::without_prefix(word, mark);
        let end = file.known_prefix().find(';');
        let file = match end {
            Some(end) => ShellWord::known(file.known_prefix().get(..end).unwrap_or_default(), file.span),
            None => file,
        };
        self.read_path(call.index, &file, &call.context);
        self.sent_file(call, &file);
    }

    /// Judges a file that is sent to another machine.
    pub(super) fn sent_file(&mut self, call: &Call<'_>, file: &ShellWord) {
        for resolved in paths::resolve(file, &call.context.directories) {
            let Some(path) = resolved.path else { continue };
            if !self.is_inside(&path) && paths::meaning(&path, None) != paths::PathMeaning::SafeDevice {
                let span = call.context.span.unwrap_or(file.span);
                self.effect(call.index, Effect::new(EffectKind::Remote, None));
                let outside = if self.workspace.is_some() { ", outside the workspace," } else { "" };
                let what = format!("sends {path}{outside} to another machine");
                self.finding(call.index, GuardClass::Remote, what, span, Some(WayOut::StayInWorkspace));
            }
        }
    }

    /// Judges an operand of the form `host:path`; returns `true` if the operand is one.
    pub(super) fn is_remote(&mut self, call: &Call<'_>, word: &ShellWord) -> bool {
        let prefix = word.known_prefix();
        let Some(colon) = prefix.find(':') else { return false };
        let host = prefix.get(..colon).unwrap_or_default();
        if host.contains('/') || host.is_empty() || prefix.starts_with("file:") {
            return false;
        }
        let span = call.context.span.unwrap_or(word.span);
        let host = if prefix.get(colon..).is_some_and(|rest| rest.starts_with("://")) {
            host_of(&prefix)
        } else {
            host.to_owned()
        };
        let host = host.rsplit('@').next().unwrap_or_default().to_owned();
        self.effect(call.index, Effect::new(EffectKind::Remote, Some(host.clone())).with_action(call.name));
        let what = format!("`{}` exchanges files with {host}", call.name);
        self.finding(call.index, GuardClass::Remote, what, span, Some(WayOut::AskOperator));
        true
    }
}

/// Returns the host of an address: `http://user@host:80/path`, `host/path`.
fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.trim_start_matches('/');
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = if host.starts_with('[') {
        host.split(']').next().unwrap_or_default().trim_start_matches('[')
    } else if host.matches(':').count() > 1 {
        // An IPv6 address without brackets.
        host
    } else {
        host.split(':').next().unwrap_or_default()
    };
    host.to_ascii_lowercase()
}

/// Returns `true` for the metadata services of clouds, however their address is written.
fn is_metadata_host(host: &str) -> bool {
    const NAMES: [&str; 5] = [
        "metadata.google.internal",
        "metadata",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
    ];
    const ADDRESSES: [[u8; 4]; 5] = [
        [169, 254, 169, 254],
        [169, 254, 170, 2],
        [169, 254, 170, 23],
        [100, 100, 100, 200],
        [192, 0, 0, 192],
    ];
    let host = host_of(host);
    let host = host.trim_end_matches('.');
    if NAMES.contains(&host) || host.contains("169.254.169.254") {
        return true;
    }
    if let Ok(address) = host.parse::<Ipv6Addr>() {
        let mapped = address.to_ipv4_mapped().map(|address| address.octets());
        return mapped.is_some_and(|octets| ADDRESSES.contains(&octets))
            || address == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    }
    ipv4(host).is_some_and(|address| ADDRESSES.contains(&address.octets()))
}

/// Reads an IPv4 address as the C library does: `0xa9fea9fe`, `2852039166`, `0251.254.169.254`, `169.254.43518`.
fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = host.split('.').collect();
    let number = |part: &str| -> Option<u32> {
        if let Some(hexadecimal) = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
            return u32::from_str_radix(hexadecimal, 16).ok();
        }
        if part.len() > 1 && part.starts_with('0') {
            return u32::from_str_radix(part, 8).ok();
        }
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()
    };
    let (last, first) = parts.split_last()?;
    if first.len() > 3 {
        return None;
    }
    let mut value: u32 = 0;
    for (position, part) in first.iter().enumerate() {
        let byte = number(part).filter(|byte| *byte < 256)?;
        value |= byte << (24 - 8 * position);
    }
    Some(Ipv4Addr::from(value | number(last)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_services_are_known_by_every_spelling() {
        for host in [
            "169.254.169.254",
            "http://169.254.169.254/latest",
            "2852039166",
            "0xa9fea9fe",
            "0251.0376.0251.0376",
            "169.254.43518",
            "[::ffff:169.254.169.254]:80",
            "http://user@Metadata.Google.Internal:80/",
            "fd00:ec2::254",
            "169.254.169.254.nip.io",
            "metadata.google.internal.",
        ] {
            assert!(is_metadata_host(host), "{host}");
        }
        for host in ["x.example", "169.254.1.1", "http://x.example/169.254.169.254", "", "1"] {
            assert!(!is_metadata_host(host), "{host}");
        }
    }
}
