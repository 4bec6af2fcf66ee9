//! Names of the host: its full name, the architecture of its packages, its init system.

use ccm_host::Kernel;

use crate::reader::FactReader;

/// Returns the host name with its domain, as far as files of the machine tell it: the host name itself if it
/// has a domain, else its first name with a domain in `/etc/hosts`, else with the domain of
/// `/etc/resolv.conf`. No name server is asked.
pub(super) fn full_name(reader: &mut FactReader<'_>, hostname: &str) -> String {
    if hostname.contains('.') || hostname.is_empty() {
        return hostname.to_owned();
    }
    let hosts = reader.optional("/etc/hosts").unwrap_or_default();
    if let Some(name) = name_in_hosts(&hosts, hostname) {
        return name.to_owned();
    }
    let resolver = reader.optional("/etc/resolv.conf").unwrap_or_default();
    match domain_of_resolver(&resolver) {
        Some(domain) => format!("{hostname}.{domain}"),
        None => hostname.to_owned(),
    }
}

fn name_in_hosts<'t>(hosts: &'t str, hostname: &str) -> Option<&'t str> {
    hosts.lines().find_map(|line| {
        let names = || line.split('#').next().unwrap_or_default().split_whitespace().skip(1);
        names().find(|name| *name == hostname)?;
        names().find(|name| name.strip_prefix(hostname).is_some_and(|domain| domain.starts_with('.')))
    })
}

/// Returns the domain of the resolver. The last of `domain` and `search` wins, as in the C library.
fn domain_of_resolver(text: &str) -> Option<&str> {
    text.lines().rev().find_map(|line| {
        let mut words = line.split_whitespace();
        words.next().filter(|word| matches!(*word, "domain" | "search"))?;
        words.next().map(|domain| domain.trim_end_matches('.')).filter(|domain| !domain.is_empty())
    })
}

/// Returns the architecture in the words of the package tool of the family.
pub(super) fn package_architecture(reader: &mut FactReader<'_>, family: &str, kernel: &Kernel) -> String {
    let machine = kernel.architecture.as_str();
    if family != "debian" {
        return if matches!(machine, "i386" | "i486" | "i586") { "i686" } else { machine }.to_owned();
    }
    // Of a system with several architectures, the first is the own one.
    let own = reader.optional("/var/lib/dpkg/arch").unwrap_or_default();
    if let Some(own) = own.lines().map(str::trim).find(|line| !line.is_empty()) {
        return own.to_owned();
    }
    match machine {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "armv7l" | "armv8l" => "armhf",
        "armv5tel" | "armv6l" => "armel",
        "i386" | "i486" | "i586" | "i686" => "i386",
        "ppc64le" => "ppc64el",
        "mips64" => "mips64el",
        "loongarch64" => "loong64",
        other => other,
    }
    .to_owned()
}

/// Returns the running init system; empty if it is none of the known ones.
pub(super) fn init_system(reader: &FactReader<'_>) -> &'static str {
    [("/run/systemd/system", "systemd"), ("/run/openrc/softlevel", "openrc"), ("/run/runit", "runit")]
        .into_iter()
        .find(|(path, _)| reader.exists(path))
        .map_or("", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use ccm_testkit::FakeMachine;

    use super::*;

    #[test]
    fn full_name_is_found_without_a_name_server() {
        for (hostname, hosts, resolver, expected) in [
            ("web1", "", "", "web1"),
            ("web1.example.net", "127.0.0.1 web1.other\n", "", "web1.example.net"),
            ("web1", "127.0.1.1 web1.example.net web1\n", "search other.net\n", "web1.example.net"),
            ("web1", "127.0.1.1\tweb1 web1.example.net # home\n", "", "web1.example.net"),
            ("web1", "# 127.0.1.1 web1.old.net web1\n10.0.0.1 web10.example.net web10\n", "", "web1"),
            (
                "web1",
                "127.0.0.1 localhost\n",
                "nameserver 10.0.0.1\nsearch example.net a.b\n",
                "web1.example.net",
            ),
            ("web1", "", "domain a.net\nsearch b.net\n", "web1.b.net"),
            ("web1", "", "search .\n", "web1"),
            ("", "127.0.0.1 localhost\n", "search example.net\n", ""),
        ] {
            let machine = FakeMachine::default().with("/etc/hosts", hosts).with("/etc/resolv.conf", resolver);
            let name = full_name(&mut FactReader::new(&machine), hostname);
            assert_eq!(name, expected, "{hostname} {hosts} {resolver}");
        }
    }

    #[test]
    fn packages_have_the_architecture_of_their_tool() {
        for (family, machine, list, expected) in [
            ("debian", "x86_64", "", "amd64"),
            ("debian", "aarch64", "", "arm64"),
            ("debian", "x86_64", "i386\namd64\n", "i386"),
            ("debian", "riscv64", "", "riscv64"),
            ("rhel", "x86_64", "", "x86_64"),
            ("fedora", "i586", "", "i686"),
            ("", "aarch64", "", "aarch64"),
        ] {
            let fake = FakeMachine::default().with("/var/lib/dpkg/arch", list);
            let kernel = Kernel { architecture: machine.to_owned(), ..Kernel::default() };
            let found = package_architecture(&mut FactReader::new(&fake), family, &kernel);
            assert_eq!(found, expected, "{family} {machine}");
        }
    }

    #[test]
    fn init_system_is_the_running_one() {
        for (path, expected) in [
            ("/run/systemd/system", "systemd"),
            ("/run/openrc/softlevel", "openrc"),
            ("/run/runit", "runit"),
            ("/sbin/init", ""),
        ] {
            let fake = FakeMachine::default().with(path, "");
            assert_eq!(init_system(&FactReader::new(&fake)), expected, "{path}");
        }
    }
}
