//! Settings in options, such as `-o ProxyCommand=…` of ssh: those that are harmless, and those that name a command.

use ccm_shell::ShellWord;

use super::entries::Call;
use super::started::{StartedForm, is_harmless_program};
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::guard_class::GuardClass;
use crate::tables::ArgumentRole;

/// Settings of ssh through which it starts nothing and writes nothing. In lower case.
const SSH: &str = "\
    addkeystoagent addressfamily batchmode bindaddress bindinterface canonicaldomains canonicalizefallbacklocal \
    canonicalizehostname canonicalizemaxdots canonicalizepermittedcnames casignaturealgorithms certificatefile \
    channeltimeout checkhostip ciphers clearallforwardings compression connectionattempts connecttimeout \
    controlmaster controlpersist dynamicforward enableescapecommandline enablesshkeysign escapechar \
    exitonforwardfailure fingerprinthash forkafterauthentication forwardagent forwardx11 forwardx11timeout \
    forwardx11trusted gatewayports gssapiauthentication gssapidelegatecredentials hashknownhosts \
    hostbasedacceptedalgorithms hostbasedauthentication hostkeyalgorithms hostkeyalias hostname identitiesonly \
    identityfile ignoreunknown ipqos kbdinteractiveauthentication kexalgorithms localforward loglevel logverbose \
    macs nohostauthenticationforlocalhost numberofpasswordprompts obscurekeystroketiming passwordauthentication \
    permitlocalcommand permitremoteopen port preferredauthentications proxyjump proxyusefdpass \
    pubkeyacceptedalgorithms pubkeyauthentication rekeylimit remotecommand remoteforward requesttty \
    requiredrsasize sendenv serveralivecountmax serveraliveinterval sessiontype setenv stdinnull \
    streamlocalbindmask streamlocalbindunlink stricthostkeychecking syslogfacility tag tcpkeepalive \
    updatehostkeys user verifyhostkeydns visualhostkey";

/// Settings of wget through which it starts nothing and writes nothing. In lower case, without `_` and `-`.
const WGET: &str = "\
    adjustextension authnochallenge bindaddress cache checkcertificate connecttimeout continue cookies dnscache \
    dnstimeout followftp followtags header httpkeepalive httpsonly ignorecase ignorelength inet4only inet6only \
    limitrate maxredirect netrc noparent passiveftp preferfamily progress quiet randomwait readtimeout recursive \
    reclevel referer retryconnrefused robots secureprotocol serverresponse showprogress spider timeout timestamping \
    tries useproxy useragent verbose wait waitretry";

/// Settings of apt through which it starts nothing and writes nothing, or their beginnings. In lower case.
const APT: &str = "\
    acquire::check-date acquire::check-valid-until acquire::forceipv4 acquire::forceipv6 acquire::http::pipeline-depth \
    acquire::http::timeout acquire::https::timeout acquire::languages acquire::retries acquire::queue-mode \
    apt::acquire::retries apt::architecture apt::color apt::default-release apt::get::assume-yes \
    apt::get::show-upgraded apt::get::show-versions apt::install-recommends apt::install-suggests apt::list-cleanup \
    apt::sandbox::user binary::apt:: debug:: dpkg::lock::timeout dpkg::progress-fancy dpkg::use-pty quiet";

/// Settings of cargo through which it starts nothing. They may be parts of a profile.
const CARGO: &str = "\
    build.jobs build.incremental future-incompat-report.frequency http.multiplexing http.timeout net.offline net.retry \
    profile. term. cache.";

/// Properties of units through which systemd starts nothing. In lower case.
const UNIT: &str = "\
    allowedcpus cpuquota cpuquotaperiodsec cpuweight cpuaccounting description ioaccounting ioweight limitas limitcore \
    limitcpu limitdata limitfsize limitlocks limitmemlock limitnofile limitnproc limitstack memoryaccounting memoryhigh \
    memorylow memorymax memorymin memoryswapmax nice nonewprivileges privatedevices privatenetwork privatetmp \
    protecthome protectsystem remainafterexit restart runtimemaxsec startupcpuweight tasksaccounting tasksmax \
    timeoutsec timeoutstartsec timeoutstopsec type collectmode killmode oomscoreadjust slice";

impl Analyser<'_> {
    /// Judges a setting in the value of an option.
    pub(super) fn program_setting(&mut self, call: &Call<'_>, role: ArgumentRole, word: &ShellWord) {
        match role {
            ArgumentRole::SshOption => self.ssh_option(call, word),
            ArgumentRole::TarAction => self.tar_action(call, word),
            ArgumentRole::AptOption => self.apt_option(call, word),
            ArgumentRole::CargoSetting => self.cargo_setting(call, word),
            ArgumentRole::UnitProperty => self.unit_property(call, word),
            _ => self.wget_setting(call, word),
        }
    }

    /// Judges `KEY=VALUE` or `KEY VALUE` of ssh.
    fn ssh_option(&mut self, call: &Call<'_>, word: &ShellWord) {
        let Some((name, value)) = split(word, &['=', ' ', '\t']) else {
            return self.setting_unknown(call, word);
        };
        match &*name {
            "proxycommand" | "localcommand" | "knownhostscommand" => {
                self.setting_starts(call, word, StartedForm::Text, &value);
            }
            "xauthlocation" => self.setting_starts(call, word, StartedForm::Name, &value),
            "pkcs11provider" | "securitykeyprovider" | "include" => {
                self.started(call, ArgumentRole::Library, &value, Some("-o"));
            }
            "userknownhostsfile" | "globalknownhostsfile" | "revokedhostkeys" | "controlpath" => {
                self.ssh_file(call, &name, &value);
            }
            name if is_listed(SSH, name) => {}
            _ => self.setting_unknown(call, word),
        }
    }

    fn ssh_file(&mut self, call: &Call<'_>, name: &str, value: &ShellWord) {
        if value.text().is_some_and(|text| matches!(&*text, "none" | "/dev/null")) {
            return;
        }
        if name == "revokedhostkeys" {
            self.read_path(call.index, value, &call.context);
        } else {
            self.write_path(call.index, value, &call.context);
        }
    }

    /// Judges an action at a checkpoint of tar.
    fn tar_action(&mut self, call: &Call<'_>, word: &ShellWord) {
        let prefix = word.known_prefix();
        let (name, value) = match prefix.split_once('=') {
            Some((name, _)) => (name.to_owned(), shell_words::without_prefix(word, name.len() + 1)),
            None if word.text().is_some() => (prefix.clone().into_owned(), ShellWord::known("", word.span)),
            None => return self.setting_unknown(call, word),
        };
        match &*name {
            "exec" => self.setting_starts(call, word, StartedForm::Text, &value),
            "ttyout" | "echo" | "bell" | "dot" | "." | "sleep" | "totals" | "wait" => {}
            _ => self.setting_unknown(call, word),
        }
    }

    /// Judges `Scope::Name=VALUE` of apt.
    fn apt_option(&mut self, call: &Call<'_>, word: &ShellWord) {
        let Some((name, value)) = split(word, &['=']) else { return self.setting_unknown(call, word) };
        let name = name.trim_end_matches("::").to_owned();
        let is_list =
            || APT.split_ascii_whitespace().any(|known| known.ends_with("::") && name.starts_with(known));
        if is_listed(APT, &name) || is_list() {
            return;
        }
        if name == "dpkg::options" {
            let is_safe = value.text().is_some_and(|text| text.starts_with("--force-conf"));
            if !is_safe {
                self.setting_unknown(call, word);
            }
            return;
        }
        if name.starts_with("dir") {
            // Where apt reads its settings, its lists and its tools.
            self.write_path(call.index, &value, &call.context);
        }
        self.setting_starts(call, word, StartedForm::Text, &value);
    }

    /// Judges `table.key = value`, or a file of settings, of cargo.
    fn cargo_setting(&mut self, call: &Call<'_>, word: &ShellWord) {
        let Some((name, value)) = split(word, &['=']) else {
            return self.started(call, ArgumentRole::Library, word, Some("--config"));
        };
        if is_listed(CARGO, &name)
            || CARGO.split_ascii_whitespace().any(|known| known.ends_with('.') && name.starts_with(known))
        {
            return;
        }
        let text = value.text().unwrap_or_default();
        let parts: Vec<&str> =
            text.split(['[', ']', ',']).map(|part| part.trim().trim_matches(['"', '\''])).collect();
        let command = ShellWord::known(parts.join(" ").trim(), value.span);
        self.setting_starts(call, word, StartedForm::Words, &command);
    }

    /// Judges a property of a unit of systemd.
    fn unit_property(&mut self, call: &Call<'_>, word: &ShellWord) {
        let Some((name, value)) = split(word, &['=']) else { return self.setting_unknown(call, word) };
        if name.starts_with("exec") {
            let text = value.text().unwrap_or_default();
            let marks = text.len() - text.trim_start_matches(['@', '-', ':', '+', '!', '|']).len();
            let command = shell_words::without_prefix(&value, marks);
            self.setting_starts(call, word, StartedForm::Words, &command);
        } else if !is_listed(UNIT, &name) {
            self.setting_unknown(call, word);
        }
    }

    /// Judges a command of `.wgetrc`.
    fn wget_setting(&mut self, call: &Call<'_>, word: &ShellWord) {
        let Some((name, value)) = split(word, &['=']) else { return self.setting_unknown(call, word) };
        match &*name.replace(['_', '-'], "") {
            "useaskpass" => self.setting_starts(call, word, StartedForm::Name, &value),
            "outputdocument" | "dirprefix" | "logfile" | "savecookies" | "hstsfile" | "warcfile" => {
                self.write_path(call.index, &value, &call.context);
            }
            name if is_listed(WGET, name) => {}
            _ => self.setting_unknown(call, word),
        }
    }

    /// Judges a setting that names a command.
    pub(super) fn setting_starts(
        &mut self,
        call: &Call<'_>,
        word: &ShellWord,
        form: StartedForm,
        value: &ShellWord,
    ) {
        if !value.text().is_some_and(|text| is_harmless_program(&text)) {
            let shown = shell_words::shown(word).shown;
            let what = format!("the setting `{shown}` of `{}` can run programs", call.name);
            let span = call.context.span.unwrap_or(word.span);
            self.finding(call.index, GuardClass::Options, what, span, Some(WayOut::DropOption));
        }
        if !value.pieces.is_empty() && value.text().is_none_or(|text| !text.is_empty()) {
            self.started_command(call.index, form, value, &call.context);
        }
    }

    /// Reports a setting that no table lists.
    pub(super) fn setting_unknown(&mut self, call: &Call<'_>, word: &ShellWord) {
        self.unlisted(call.index, call.name, &shell_words::shown(word).shown);
    }
}

/// Splits a setting at the first of some characters. The name is in lower case.
fn split(word: &ShellWord, marks: &[char]) -> Option<(String, ShellWord)> {
    let prefix = word.known_prefix();
    let start = prefix.len() - prefix.trim_start().len();
    let end = prefix.get(start..)?.find(marks)? + start;
    let name = prefix.get(start..end)?.to_ascii_lowercase();
    let rest = prefix.get(end..).unwrap_or_default();
    // `Key = value`
    let behind = rest.trim_start_matches([' ', '\t']);
    let behind = behind.strip_prefix('=').filter(|_| marks.contains(&'=')).unwrap_or(behind);
    let behind = behind.trim_start_matches([' ', '\t']);
    Some((name.trim_end().to_owned(), shell_words::without_prefix(word, prefix.len() - behind.len())))
}

fn is_listed(table: &str, name: &str) -> bool {
    table.split_ascii_whitespace().any(|known| known == name)
}
