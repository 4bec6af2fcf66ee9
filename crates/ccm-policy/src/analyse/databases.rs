//! Clients of databases: their statements, and the commands of the client.

use ccm_shell::ShellWord;

use super::exact::ExactCall;
use super::{Analyser, CommandContext, CommandInput, shell_words};
use crate::analysis::AnalysedOption;
use crate::grammars::{
    NotExact, OptionGrammar, TextAction, only_reads_sqlite, read_mysql, read_psql, read_psql_input,
    read_sqlite, read_sqlite_input,
};

/// Options of sqlite without a value.
const SQLITE_FLAGS: [&str; 26] = [
    "append",
    "ascii",
    "bail",
    "batch",
    "box",
    "column",
    "csv",
    "deserialize",
    "echo",
    "header",
    "help",
    "html",
    "interactive",
    "json",
    "line",
    "list",
    "markdown",
    "memtrace",
    "nofollow",
    "noheader",
    "quote",
    "readonly",
    "safe",
    "stats",
    "table",
    "tabs",
];

/// Options of sqlite with values, and the number of these.
const SQLITE_VALUES: [(&str, usize); 10] = [
    ("cmd", 1),
    ("init", 1),
    ("lookaside", 2),
    ("maxsize", 1),
    ("mmap", 1),
    ("newline", 1),
    ("nullvalue", 1),
    ("pagecache", 2),
    ("separator", 1),
    ("vfs", 1),
];

const PSQL: OptionGrammar = OptionGrammar {
    letters: "aAbc:d:eEf:F:h:HlL:no:p:P:qR:sStT:U:v:VwWxXz01",
    names: &[
        ("command=", "c"),
        ("csv", "csv"),
        ("dbname=", "d"),
        ("echo-all", "a"),
        ("echo-errors", "b"),
        ("echo-hidden", "E"),
        ("echo-queries", "e"),
        ("expanded", "x"),
        ("field-separator=", "F"),
        ("field-separator-zero", "z"),
        ("file=", "f"),
        ("help=?", "help"),
        ("host=", "h"),
        ("html", "H"),
        ("list", "l"),
        ("log-file=", "L"),
        ("no-align", "A"),
        ("no-password", "w"),
        ("no-psqlrc", "X"),
        ("no-readline", "n"),
        ("output=", "o"),
        ("password", "W"),
        ("port=", "p"),
        ("pset=", "P"),
        ("quiet", "q"),
        ("record-separator=", "R"),
        ("record-separator-zero", "0"),
        ("set=", "v"),
        ("single-line", "S"),
        ("single-step", "s"),
        ("single-transaction", "1"),
        ("table-attr=", "T"),
        ("tuples-only", "t"),
        ("username=", "U"),
        ("variable=", "v"),
        ("version", "V"),
    ],
    stops: false,
    last: "",
};

const MYSQL: OptionGrammar = OptionGrammar {
    letters: "ABCD:Ee:fGh:HiNnop::P:qrsS:tTu:UvVwWX",
    names: &[
        ("auto-rehash", "auto-rehash"),
        ("batch", "B"),
        ("column-names", "column-names"),
        ("compress", "C"),
        ("connect-timeout=", "connect-timeout"),
        ("database=", "D"),
        ("default-character-set=", "default-character-set"),
        ("defaults-extra-file=", "defaults-file"),
        ("defaults-file=", "defaults-file"),
        ("execute=", "e"),
        ("force", "f"),
        ("help", "help"),
        ("host=", "h"),
        ("html", "H"),
        ("init-command=", "e"),
        ("max-allowed-packet=", "max-allowed-packet"),
        ("no-auto-rehash", "A"),
        ("no-defaults", "no-defaults"),
        ("pager=?", "pager"),
        ("password=?", "p"),
        ("port=", "P"),
        ("protocol=", "protocol"),
        ("quick", "q"),
        ("raw", "r"),
        ("safe-updates", "U"),
        ("silent", "s"),
        ("skip-column-names", "N"),
        ("socket=", "S"),
        ("ssl-mode=", "ssl-mode"),
        ("table", "t"),
        ("tee=", "tee"),
        ("unbuffered", "n"),
        ("user=", "u"),
        ("verbose", "v"),
        ("version", "V"),
        ("vertical", "E"),
        ("wait", "w"),
        ("xml", "X"),
    ],
    stops: false,
    last: "",
};

impl Analyser<'_> {
    /// Judges a call of `sqlite3`.
    pub(super) fn sqlite(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let mut rest = all.iter().skip(1);
        let mut operands: Vec<ShellWord> = Vec::new();
        let mut commands: Vec<ShellWord> = Vec::new();
        let (mut is_read_only, mut is_report) = (false, false);
        while let Some(word) = rest.next() {
            let prefix = word.known_prefix();
            let Some(name) = prefix.strip_prefix('-').filter(|name| !name.is_empty()) else {
                operands.push(word.clone());
                continue;
            };
            let name = name.strip_prefix('-').unwrap_or(name);
            let count = SQLITE_VALUES.iter().find(|(known, _)| *known == name).map(|(_, count)| *count);
            let values: Vec<&ShellWord> = rest.by_ref().take(count.unwrap_or(0)).collect();
            let value = values.first().copied();
            if let Some(command) = self.analysis.commands.get_mut(call.index) {
                let name = format!("-{name}");
                let value = value.map(shell_words::shown);
                command.options.push(AnalysedOption { name, other_names: Vec::new(), value });
            }
            is_read_only |= name == "readonly";
            is_report |= matches!(name, "version" | "help");
            match (name, value) {
                ("cmd", Some(text)) => commands.push(text.clone()),
                ("init", Some(file)) => self.script(call.index, file, call.name, call.commands, call.context),
                _ if word.text().is_none() => self.unlisted_option(call, &prefix),
                _ if count.is_some() || name == "version" || SQLITE_FLAGS.contains(&name) => {}
                _ => self.unlisted_option(call, &prefix),
            }
        }
        self.record_operands(call.index, &operands);
        if is_report {
            return;
        }
        let statements = operands.get(1..).unwrap_or_default();
        for text in commands.iter().chain(statements) {
            self.exact_text(call, text, read_sqlite);
        }
        let reads_input = statements.is_empty();
        if reads_input {
            self.statements_from_input(call, read_sqlite_input);
        }
        let mut texts = commands.iter().chain(statements);
        let only_reads = is_read_only
            || texts.all(|text| text.text().is_some_and(|text| only_reads_sqlite(&text)))
                && (!reads_input || matches!(call.context.input, CommandInput::Empty));
        if let Some(database) = operands.first() {
            self.sqlite_database(call, database, only_reads);
        }
    }

    fn sqlite_database(&mut self, call: ExactCall<'_>, database: &ShellWord, only_reads: bool) {
        let prefix = database.known_prefix();
        if matches!(database.text().as_deref(), Some(":memory:" | "")) {
            return;
        }
        if prefix.starts_with("file:") {
            self.not_exact(call, "a database that is named by an address", call.span(database));
        } else if only_reads {
            self.read_path(call.index, database, call.context);
        } else {
            self.write_path(call.index, database, call.context);
        }
    }

    /// Judges a call of `psql`.
    pub(super) fn psql(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &PSQL, all.get(1..).unwrap_or_default());
        let mut has_statements = false;
        for option in &parsed.options {
            let Some(value) = &option.value else { continue };
            match &*option.name {
                "c" => {
                    has_statements = true;
                    self.exact_text(call, value, read_psql);
                }
                "f" => {
                    has_statements = true;
                    self.statements_file(call, value, read_psql_input);
                }
                "o" => self.output_or_pipe(call, value),
                "L" => self.write_path(call.index, value, call.context),
                // A prompt may hold commands.
                "v" | "P" if shell_words::with_placeholders(value).contains('`') => {
                    self.not_exact(call, "a value with commands", call.span(value));
                }
                _ => {}
            }
        }
        let is_report = ["l", "V", "help"].into_iter().any(|name| parsed.has(name));
        if !has_statements && !is_report {
            self.statements_from_input(call, read_psql_input);
        }
    }

    /// Judges a call of `mysql`.
    pub(super) fn mysql(&mut self, call: ExactCall<'_>, all: &[ShellWord]) {
        let parsed = self.exact_options(call, &MYSQL, all.get(1..).unwrap_or_default());
        for option in &parsed.options {
            let Some(value) = &option.value else { continue };
            match &*option.name {
                "e" => self.exact_text(call, value, read_mysql),
                "tee" => self.write_path(call.index, value, call.context),
                "pager" => self.output_text(call, value),
                "defaults-file" => self.script(call.index, value, call.name, call.commands, call.context),
                _ => {}
            }
        }
        let is_report = ["e", "V", "help"].into_iter().any(|name| parsed.has(name));
        if !is_report {
            self.statements_from_input(call, read_mysql);
        }
    }

    fn output_or_pipe(&mut self, call: ExactCall<'_>, value: &ShellWord) {
        if value.known_prefix().starts_with('|') {
            self.output_text(call, &shell_words::without_prefix(value, 1));
        } else {
            self.write_path(call.index, value, call.context);
        }
    }

    fn output_text(&mut self, call: ExactCall<'_>, text: &ShellWord) {
        let text = text.text().map(std::borrow::Cow::into_owned);
        self.text_actions(call, &[TextAction::Piped(text)], self.span(call.index));
    }

    fn statements_file(
        &mut self,
        call: ExactCall<'_>,
        file: &ShellWord,
        read: fn(&str) -> Result<Vec<TextAction>, NotExact>,
    ) {
        if file.text().as_deref() == Some("-") {
            self.statements_from_input(call, read);
        } else {
            self.script(call.index, file, call.name, call.commands, call.context);
        }
    }

    /// Judges statements that a client reads from standard input.
    pub(super) fn statements_from_input(
        &mut self,
        call: ExactCall<'_>,
        read: fn(&str) -> Result<Vec<TextAction>, NotExact>,
    ) {
        match call.context.input.clone() {
            CommandInput::Empty => {}
            CommandInput::Pipe(_) | CommandInput::Unknown => {
                self.not_exact(call, "what comes from a pipe", self.span(call.index));
            }
            CommandInput::File(file) => {
                let context = CommandContext { input: CommandInput::Empty, ..call.context.clone() };
                self.script(call.index, &file, call.name, call.commands, &context);
            }
            CommandInput::Text(text) => self.exact_text(call, &text, read),
        }
    }
}
