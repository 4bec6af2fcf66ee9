//! Files of many distributions.

use ccm_testkit::FakeMachine;

use super::*;

type Files = &'static [(&'static str, &'static str)];

/// Description, files below `/etc`, and name, family and version.
const DISTRIBUTIONS: [(&str, Files, [&str; 3]); 42] = [
    (
        "Debian 12",
        &[
            ("debian_version", "12.5\n"),
            ("os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nID=debian\n"),
        ],
        ["debian", "debian", "12.5"],
    ),
    (
        "Debian unstable",
        &[("debian_version", "trixie/sid\n"), ("os-release", "ID=debian\n")],
        ["debian", "debian", "trixie/sid"],
    ),
    ("Debian without os-release", &[("debian_version", "7.11\n")], ["debian", "debian", "7.11"]),
    (
        "Ubuntu 22.04",
        &[
            ("debian_version", "bookworm/sid\n"),
            ("lsb-release", "DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE=22.04\nDISTRIB_CODENAME=jammy\n"),
            ("os-release", "ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"22.04\"\n"),
        ],
        ["ubuntu", "debian", "22.04"],
    ),
    (
        "Ubuntu without lsb-release",
        &[
            ("debian_version", "trixie/sid\n"),
            ("os-release", "ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"24.04\"\n"),
        ],
        ["ubuntu", "debian", "24.04"],
    ),
    (
        "Linux Mint",
        &[
            ("debian_version", "bookworm/sid\n"),
            ("lsb-release", "DISTRIB_ID=LinuxMint\nDISTRIB_RELEASE=21.3\n"),
            ("os-release", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=\"21.3\"\n"),
        ],
        ["linuxmint", "debian", "21.3"],
    ),
    (
        "Kali",
        &[
            ("debian_version", "kali-rolling\n"),
            ("os-release", "ID=kali\nID_LIKE=debian\nVERSION_ID=\"2024.1\"\n"),
        ],
        ["debian", "debian", "kali-rolling"],
    ),
    (
        "Raspberry Pi OS",
        &[
            ("debian_version", "11.8\n"),
            ("../usr/bin/raspi-config", "#!/bin/sh\n"),
            ("os-release", "ID=raspbian\n"),
        ],
        ["raspbian", "debian", "11.8"],
    ),
    (
        "Cumulus",
        &[
            ("debian_version", "10.11\n"),
            ("lsb-release", "DISTRIB_ID=\"Cumulus Linux\"\nDISTRIB_RELEASE=5.1.0\n"),
        ],
        ["cumuluslinux", "debian", "5.1.0"],
    ),
    (
        "Red Hat Enterprise Linux 9",
        &[
            ("redhat-release", "Red Hat Enterprise Linux release 9.3 (Plow)\n"),
            ("os-release", "ID=\"rhel\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"9.3\"\n"),
        ],
        ["redhat", "rhel", "9.3"],
    ),
    (
        "Red Hat Enterprise Linux 6",
        &[("redhat-release", "Red Hat Enterprise Linux Server release 6.10 (Santiago)\n")],
        ["redhat", "rhel", "6.10"],
    ),
    (
        "Rocky 9",
        &[
            ("redhat-release", "Rocky Linux release 9.3 (Blue Onyx)\n"),
            ("os-release", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"),
        ],
        ["rocky", "rhel", "9.3"],
    ),
    (
        "Alma 8",
        &[
            ("redhat-release", "AlmaLinux release 8.9 (Midnight Oncilla)\n"),
            ("os-release", "ID=\"almalinux\"\n"),
        ],
        ["almalinux", "rhel", "8.9"],
    ),
    (
        "CentOS 7",
        &[("redhat-release", "CentOS Linux release 7.9.2009 (Core)\n"), ("os-release", "ID=\"centos\"\n")],
        ["centos", "rhel", "7.9.2009"],
    ),
    ("CentOS Stream 9", &[("redhat-release", "CentOS Stream release 9\n")], ["centos", "rhel", "9"]),
    (
        "Oracle 8",
        &[
            ("oracle-release", "Oracle Linux Server release 8.9\n"),
            ("redhat-release", "Red Hat Enterprise Linux release 8.9 (Ootpa)\n"),
        ],
        ["oracle", "rhel", "8.9"],
    ),
    (
        "Scientific 7",
        &[("redhat-release", "Scientific Linux release 7.9 (Nitrogen)\n")],
        ["scientific", "rhel", "7.9"],
    ),
    (
        "CloudLinux 8",
        &[("redhat-release", "CloudLinux release 8.9 (Anatoly Levchenko)\n")],
        ["cloudlinux", "rhel", "8.9"],
    ),
    (
        "EuroLinux, known by its likes alone",
        &[
            ("redhat-release", "EuroLinux release 9.3\n"),
            ("os-release", "ID=\"eurolinux\"\nID_LIKE=\"rhel fedora centos\"\n"),
        ],
        ["eurolinux", "rhel", "9.3"],
    ),
    (
        "Fedora 39",
        &[("redhat-release", "Fedora release 39 (Thirty Nine)\n"), ("os-release", "ID=fedora\n")],
        ["fedora", "fedora", "39"],
    ),
    (
        "Fedora Rawhide",
        &[("redhat-release", "Fedora release 41 (Rawhide)\n"), ("os-release", "ID=fedora\n")],
        ["fedora", "fedora", "rawhide"],
    ),
    (
        "Amazon Linux 2",
        &[
            ("system-release", "Amazon Linux release 2 (Karoo)\n"),
            ("os-release", "ID=\"amzn\"\nID_LIKE=\"centos rhel fedora\"\nVERSION_ID=\"2\"\n"),
        ],
        ["amazon", "rhel", "2"],
    ),
    (
        "Amazon Linux 2023",
        &[
            ("system-release", "Amazon Linux release 2023.3.20240117 (Amazon Linux)\n"),
            ("os-release", "ID=\"amzn\"\n"),
        ],
        ["amazon", "rhel", "2023.3.20240117"],
    ),
    (
        "Amazon Linux with os-release alone",
        &[("os-release", "ID=\"amzn\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"2023\"\n")],
        ["amazon", "rhel", "2023"],
    ),
    (
        "SLES 15",
        &[(
            "os-release",
            "NAME=\"SLES\"\nVERSION=\"15-SP5\"\nVERSION_ID=\"15.5\"\nID=\"sles\"\nID_LIKE=\"suse\"\n",
        )],
        ["sles", "suse", "15.5"],
    ),
    (
        "SLES 12",
        &[
            (
                "SuSE-release",
                "SUSE Linux Enterprise Server 12 (x86_64)\nVERSION = 12\nPATCHLEVEL = 5\n# old\n",
            ),
            ("os-release", "ID=\"sles\"\nVERSION_ID=\"12.5\"\n"),
        ],
        ["suse", "suse", "12.5"],
    ),
    (
        "openSUSE 13",
        &[("SuSE-release", "openSUSE 13.2 (x86_64)\nVERSION = 13.2\nCODENAME = Harlequin\n")],
        ["opensuse", "suse", "13.2"],
    ),
    (
        "openSUSE Leap",
        &[("os-release", "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\nVERSION_ID=\"15.5\"\n")],
        ["opensuse-leap", "suse", "15.5"],
    ),
    (
        "openSUSE Tumbleweed",
        &[(
            "os-release",
            "ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse\"\n# VERSION=1\nVERSION_ID=\"20240201\"\n",
        )],
        ["opensuse-tumbleweed", "suse", "20240201"],
    ),
    (
        "openSUSE MicroOS, known by its likes alone",
        &[("os-release", "ID=\"opensuse-microos\"\nID_LIKE=\"suse opensuse\"\nVERSION_ID=\"20240201\"\n")],
        ["opensuse-microos", "suse", "20240201"],
    ),
    ("Arch", &[("arch-release", ""), ("os-release", "ID=arch\nBUILD_ID=rolling\n")], ["arch", "arch", ""]),
    (
        "Arch with lsb-release",
        &[
            ("arch-release", "Arch Linux release\n"),
            ("lsb-release", "DISTRIB_ID=\"Arch\"\nDISTRIB_RELEASE=\"rolling\"\n"),
        ],
        ["arch", "arch", "rolling"],
    ),
    (
        "EndeavourOS, known by its likes alone",
        &[("os-release", "ID=\"endeavouros\"\nID_LIKE=\"arch\"\n")],
        ["endeavouros", "arch", ""],
    ),
    (
        "Alpine",
        &[("alpine-release", "3.19.1\n"), ("os-release", "ID=alpine\nVERSION_ID=3.19.1\n")],
        ["alpine", "alpine", "3.19.1"],
    ),
    ("Gentoo", &[("gentoo-release", "Gentoo Base System release 2.14\n")], ["gentoo", "gentoo", "2.14"]),
    ("Slackware", &[("slackware-version", "Slackware 15.0\n")], ["slackware", "slackware", "15.0"]),
    ("Void", &[("os-release", "NAME=\"Void\"\nID=\"void\"\nPRETTY_NAME=\"Void Linux\"\n")], ["void", "", ""]),
    (
        "NixOS",
        &[
            ("os-release", "ID=nixos\nNAME=NixOS\nVERSION_ID=\"23.11\"\n"),
            ("lsb-release", "DISTRIB_ID=nixos\n"),
        ],
        ["nixos", "", "23.11"],
    ),
    (
        "Flatcar",
        &[("os-release", "ID=flatcar\nID_LIKE=coreos\nVERSION_ID=3760.2.0\n")],
        ["flatcar", "coreos", "3760.2.0"],
    ),
    (
        "os-release where images keep it",
        &[("../usr/lib/os-release", "ID=solus\nVERSION_ID='4.5'\n")],
        ["solus", "solus", "4.5"],
    ),
    (
        "lsb-release alone",
        &[("lsb-release", "DISTRIB_ID=XenServer\nDISTRIB_RELEASE=6.2\n")],
        ["xenserver", "rhel", "6.2"],
    ),
    ("nothing at all", &[], ["", "", ""]),
];

#[test]
fn distributions_are_detected_by_their_files() {
    for (what, files, [name, family, version]) in DISTRIBUTIONS {
        let mut machine = FakeMachine::default();
        for (path, content) in files {
            let path = match path.strip_prefix("../") {
                Some(path) => format!("/{path}"),
                None => format!("/etc/{path}"),
            };
            machine = machine.with(path, *content);
        }
        let mut reader = FactReader::new(&machine);
        let platform = Platform::detect(&mut reader);
        assert_eq!([platform.name, platform.family, platform.version], [name, family, version], "{what}");
        assert!(reader.warnings.is_empty(), "{what}: {:?}", reader.warnings);
    }
}

#[test]
fn versions_follow_the_word_release() {
    for (text, expected) in [
        ("X release 9", "9"),
        ("X release 9.3 (Y)", "9.3"),
        ("X release (none) release 2", "2"),
        ("X release V7.5", "v7.5"),
        ("release ", ""),
        ("nothing", ""),
        ("İ release é.5ö", "é.5"),
    ] {
        assert_eq!(red_hat_version(text), expected, "{text:?}");
    }
}

#[test]
fn version_has_a_major_version_and_a_name() {
    for (release, version, major, codename) in [
        ("VERSION_CODENAME=bookworm\nVERSION=\"12 (bookworm)\"\n", "12.5", "12", "bookworm"),
        ("VERSION=\"8 (Jessie)\"\n", "8.11", "8", "jessie"),
        ("VERSION=\"9.4 (Plow)\"\n", "9.4", "9", "plow"),
        ("VERSION=\"3.20.1\"\n", "3.20.1", "3", ""),
        ("", "rawhide", "", ""),
        ("", "trixie/sid", "", ""),
    ] {
        let machine =
            FakeMachine::default().with("/etc/os-release", release).with("/etc/debian_version", version);
        let platform = Platform::detect(&mut FactReader::new(&machine));
        assert_eq!([platform.major_version(), &platform.codename], [major, codename], "{release}");
    }
}
