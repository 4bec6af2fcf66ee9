//! Kinds of rules, and the attributes and settings of each.

use ccm_properties::words;

words! {
    /// Kind of a rule: the key of a Goss file above its rules.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum RuleKind = "kind of rule" {
        /// Address that a connection reaches.
        Addr = "addr",
        /// Command with its exit status and output.
        Command = "command",
        /// Name that resolves.
        Dns = "dns",
        /// File, directory, link or device.
        File = "file",
        /// Group of the system.
        Group = "group",
        /// Answer of a web server.
        Http = "http",
        /// Network interface.
        Interface = "interface",
        /// Kernel parameter, as `sysctl` names it.
        KernelParam = "kernel-param",
        /// Value of the rule itself.
        Matching = "matching",
        /// Mount point.
        Mount = "mount",
        /// Package of the system.
        Package = "package",
        /// Port of this machine.
        Port = "port",
        /// Process.
        Process = "process",
        /// Unit of systemd.
        Service = "service",
        /// User of the system.
        User = "user",
    }
}

words! {
    /// Attribute that a rule judges.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Attribute = "attribute" {
        /// List of addresses: of a name, or of an interface with prefix lengths.
        Addrs = "addrs",
        /// Body of an answer.
        Body = "body",
        /// Older name of `contents`.
        Contains = "contains",
        /// Contents of a file.
        Contents = "contents",
        /// Start of a service with the system.
        Enabled = "enabled",
        /// Existence.
        Exists = "exists",
        /// Exit status of a command.
        ExitStatus = "exit-status",
        /// Type of a file system.
        Filesystem = "filesystem",
        /// Type of a file: `file`, `directory`, `symlink`, `pipe`, `socket`, `block-device`, `character-device`.
        Filetype = "filetype",
        /// Number of the group.
        Gid = "gid",
        /// Name of the group of a file.
        Group = "group",
        /// Names of all groups of a user.
        Groups = "groups",
        /// Header lines of an answer, with names in canonical capitals.
        Headers = "headers",
        /// Home directory.
        Home = "home",
        /// Installation of a package.
        Installed = "installed",
        /// Addresses that a port listens on.
        Ip = "ip",
        /// Text of a link.
        LinkedTo = "linked-to",
        /// Listening socket.
        Listening = "listening",
        /// Value of the rule.
        Matches = "matches",
        /// MD5 of the contents, in lower case.
        Md5 = "md5",
        /// Mode as text of at least four octal digits.
        Mode = "mode",
        /// Largest packet of an interface.
        Mtu = "mtu",
        /// Options of a mount.
        Opts = "opts",
        /// Name of the owner of a file.
        Owner = "owner",
        /// Success of a connection.
        Reachable = "reachable",
        /// Success of a resolution.
        Resolvable = "resolvable",
        /// Running process or service.
        Running = "running",
        /// SHA-256 of the contents, in lower case.
        Sha256 = "sha256",
        /// SHA-512 of the contents, in lower case.
        Sha512 = "sha512",
        /// Login shell.
        Shell = "shell",
        /// Size of a file in bytes.
        Size = "size",
        /// Source of a mount.
        Source = "source",
        /// Status of an answer.
        Status = "status",
        /// Standard error.
        Stderr = "stderr",
        /// Standard output.
        Stdout = "stdout",
        /// Number of the owner or user.
        Uid = "uid",
        /// Blocks in use, in per cent.
        Usage = "usage",
        /// Value of a kernel parameter.
        Value = "value",
        /// Installed versions of a package.
        Versions = "versions",
        /// Options of the file system of a mount.
        VfsOpts = "vfs-opts",
    }
}

impl Attribute {
    /// Returns the name that Goss gives to results of this attribute.
    pub fn goss_property(self) -> &'static str {
        match self {
            Self::Body => "Body",
            Self::Headers => "Headers",
            Self::LinkedTo => "linkedto",
            Self::Versions => "version",
            other => other.name(),
        }
    }

    /// Returns the name that new rules use in place of an older one.
    pub(crate) fn replacement(self) -> Option<Self> {
        (self == Self::Contains).then_some(Self::Contents)
    }
}

/// Type of the value that the machine has for an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// Boolean.
    Boolean,
    /// Whole number. Text of digits compares with its decimal form.
    Number,
    /// Whole number that Goss asks for without quotes; text of digits is read as the number, with a warning.
    PlainNumber,
    /// Text.
    Text,
    /// Text of octal digits, which a plain number would lose.
    Mode,
    /// Text of many lines; a list in its place holds patterns for single lines.
    Lines,
    /// List of texts.
    Texts,
    /// Value of any type.
    Any,
}

/// Attribute of a kind of rule.
pub(crate) struct AttributeSpec {
    pub(crate) attribute: Attribute,
    pub(crate) value_type: ValueType,
}

const fn spec(attribute: Attribute, value_type: ValueType) -> AttributeSpec {
    AttributeSpec { attribute, value_type }
}

impl RuleKind {
    /// Returns the attributes in the order in which they are judged.
    pub(crate) fn attributes(self) -> &'static [AttributeSpec] {
        use Attribute as A;
        use ValueType::{Any, Boolean, Lines, Mode, Number, PlainNumber, Text, Texts};
        match self {
            Self::Addr => const { &[spec(A::Reachable, Boolean)] },
            Self::Command => {
                const { &[spec(A::ExitStatus, PlainNumber), spec(A::Stdout, Lines), spec(A::Stderr, Lines)] }
            }
            Self::Dns => const { &[spec(A::Resolvable, Boolean), spec(A::Addrs, Texts)] },
            Self::File => {
                const {
                    &[
                        spec(A::Exists, Boolean),
                        spec(A::Mode, Mode),
                        spec(A::Owner, Text),
                        spec(A::Uid, Number),
                        spec(A::Group, Text),
                        spec(A::Gid, Number),
                        spec(A::LinkedTo, Text),
                        spec(A::Filetype, Text),
                        spec(A::Contains, Lines),
                        spec(A::Contents, Lines),
                        spec(A::Size, Number),
                        spec(A::Md5, Text),
                        spec(A::Sha256, Text),
                        spec(A::Sha512, Text),
                    ]
                }
            }
            Self::Group => const { &[spec(A::Exists, Boolean), spec(A::Gid, PlainNumber)] },
            Self::Http => const { &[spec(A::Status, Number), spec(A::Headers, Lines), spec(A::Body, Lines)] },
            Self::Interface => {
                const { &[spec(A::Exists, Boolean), spec(A::Addrs, Texts), spec(A::Mtu, Number)] }
            }
            Self::KernelParam => const { &[spec(A::Value, Text)] },
            Self::Matching => const { &[spec(A::Matches, Any)] },
            Self::Mount => {
                const {
                    &[
                        spec(A::Exists, Boolean),
                        spec(A::Opts, Texts),
                        spec(A::VfsOpts, Texts),
                        spec(A::Source, Text),
                        spec(A::Filesystem, Text),
                        spec(A::Usage, Number),
                    ]
                }
            }
            Self::Package => const { &[spec(A::Installed, Boolean), spec(A::Versions, Texts)] },
            Self::Port => const { &[spec(A::Listening, Boolean), spec(A::Ip, Texts)] },
            Self::Process => const { &[spec(A::Running, Boolean)] },
            Self::Service => const { &[spec(A::Enabled, Boolean), spec(A::Running, Boolean)] },
            Self::User => {
                const {
                    &[
                        spec(A::Exists, Boolean),
                        spec(A::Uid, PlainNumber),
                        spec(A::Gid, PlainNumber),
                        spec(A::Home, Text),
                        spec(A::Groups, Texts),
                        spec(A::Shell, Text),
                    ]
                }
            }
        }
    }

    /// Returns the attribute that every rule of this kind has. The attributes of a service are all optional.
    pub(crate) fn required(self) -> Option<Attribute> {
        if self == Self::Service { None } else { self.attributes().first().map(|spec| spec.attribute) }
    }

    /// Returns `true` if the first attribute decides whether the others are judged.
    pub(crate) fn is_gated(self) -> bool {
        !matches!(self, Self::Command | Self::Service)
    }

    /// Returns the settings beside `title`, `meta` and `skip`. The first replaces the key of the rule, unless the kind
    /// has no such setting.
    pub(crate) fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Addr => &["address", "local-address", "timeout"],
            Self::Command => &["exec", "timeout", "retry_count", "retry_delay"],
            Self::Dns => &["resolve", "server", "timeout", "retry_count", "retry_delay"],
            Self::File => &["path"],
            Self::Group => &["groupname"],
            Self::Http => &[
                "url",
                "method",
                "allow-insecure",
                "no-follow-redirects",
                "timeout",
                "request-headers",
                "request-body",
                "username",
                "password",
                "ca-file",
                "cert-file",
                "key-file",
                "proxy",
            ],
            Self::Interface | Self::KernelParam | Self::Service => &["name"],
            Self::Matching => &["content", "as-reader"],
            Self::Mount => &["mountpoint", "timeout"],
            Self::Package => &["name", "retry_count", "retry_delay"],
            Self::Port => &["port"],
            Self::Process => &["comm"],
            Self::User => &["username"],
        }
    }

    /// Returns the time that one observation may take if the rule does not say, in milliseconds.
    pub(crate) fn default_timeout(self) -> u64 {
        match self {
            Self::Addr | Self::Dns => 500,
            Self::Mount => 1000,
            Self::Http => 5000,
            _ => 10_000,
        }
    }
}
