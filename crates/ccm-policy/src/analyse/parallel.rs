//! Commands that GNU parallel runs.

use ccm_shell::{ShellCommand, ShellWord};

use super::{Analyser, CommandContext, shell_words};
use crate::analysis::WayOut;
use crate::guard_class::GuardClass;

/// Options whose value is the next word.
const VALUES: &str = "\
    -j --jobs -P --max-procs -S --sshlogin --slf --sshloginfile -a --arg-file -n -N --max-args -L --max-lines \
    -s --max-chars -I -J --profile -d --delimiter -E -C --colsep --basefile --bf --block --bt --delay --env \
    --halt --halt-on-error --header --id --joblog --limit --load --memfree --memsuspend --nice --recend \
    --recstart --results --retries --return --rpl --semaphorename --semaphoretimeout --st --sshdelay --ssh \
    --tagstring --tempdir --tmpdir --termseq --timeout --trc --trim --wd --workdir --arg-sep --argsep \
    --arg-file-sep --argfilesep --process-slot-var --compress-program --decompress-program --total-jobs \
    --total --basenamereplace --bnr --basenameextensionreplace --bner --dirnamereplace --dnr \
    --extensionreplace --er --seqreplace --slotreplace --rsync-opts --sql --sqlmaster --sqlworker \
    --sqlandworker --filter --template --tmpl --parens --combineexec --combine-exec --transferfile \
    --transferfiles --tf --minversion --tag-string --group-by --groupby --shard --bin --block-size \
    --recordend --max-line-length --cf --controlpath --hgrp-sep --jl --mem-free --swap --wc";

/// Options without a value.
const FLAGS: &str = "\
    -0 -k -m -o -p -q -r -t -u -v -X -x --0 --bar --bg --bug --cat --citation --cleanup --color \
    --color-failed --compress --crnl --csv --ctag --dry-run --dryrun --embed --eta --exit --fg --fifo --files \
    --files0 --filter-hosts --gnu --group --help --hostgroups --hgrp --interactive --keep-order --keeporder \
    --latest-line --ll --lb --line-buffer --linebuffer --link --max-line-length-allowed --no-keep-order \
    --nonall --no-notice --no-run-if-empty --noswap --null --number-of-cores --number-of-cpus \
    --number-of-sockets --number-of-threads --onall --open-tty --pipe --pipe-part --pipepart --plain --plus \
    --print0 --progress --quote --record-env --regexp --regex --remove-rec-sep --removerecsep --rrs --resume \
    --resume-failed --retry-failed --round --round-robin --sem --semaphore --shebang --hashbang \
    --shebang-wrap --shellquote --shuf --silent --skip-first-line --spreadstdin --tag --tee --tmux --tmuxpane \
    --tollef --tty --ungroup --unsafe --use-cores-instead-of-threads --use-cpus-instead-of-cores --verbose \
    --version --wait --will-cite --xapply --xargs";

impl Analyser<'_> {
    /// Judges the commands of GNU parallel: words up to `:::`, or each line of standard input.
    pub(super) fn parallel(
        &mut self,
        index: usize,
        all: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        let mut context = context.clone();
        let mut position = 1;
        while let Some(word) = all.get(position) {
            let text = word.known_prefix();
            if !text.starts_with('-') {
                break;
            }
            if matches!(&*text, "-S" | "--sshlogin" | "--slf") || text.starts_with("--sshlogin") {
                let what = "`parallel` runs commands on other machines";
                self.finding(index, GuardClass::Remote, what, self.span(index), Some(WayOut::AskOperator));
            }
            let name = text.split('=').next().unwrap_or_default();
            let has_value = is_listed(VALUES, &text);
            let value = match text.split_once('=') {
                Some((name, _)) => Some(shell_words::without_prefix(word, name.len() + 1)),
                None => all.get(position + 1).filter(|_| has_value).cloned(),
            };
            if let Some(value) = value.filter(|_| is_listed(VALUES, name)) {
                context = self.value_of_parallel(index, name, &value, commands, context);
            } else if !has_value && is_unknown_option(name) {
                let what =
                    format!("`{text}` of `parallel` is not known, so that the command may begin later");
                self.finding(
                    index,
                    GuardClass::ProgramUnknown,
                    what,
                    self.span(index),
                    Some(WayOut::UseScript),
                );
            }
            position += if has_value { 2 } else { 1 };
        }
        let rest = all.get(position..).unwrap_or_default();
        let is_end =
            |word: &ShellWord| matches!(word.text().as_deref(), Some(":::" | "::::" | ":::+" | "::::+"));
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        let (command, arguments) = rest.split_at(end);
        self.record_operands(index, rest);
        let span = self.span(index);
        let unknown = shell_words::unknown(shell_words::INPUT, span);
        if command.is_empty() {
            // Each argument is a command line.
            for text in arguments.iter().filter(|word| !is_end(word)) {
                self.shell_text(index, text, ccm_shell::ShellDialect::Sh, commands, &context);
            }
            if arguments.is_empty() {
                self.shell_text(index, &unknown, ccm_shell::ShellDialect::Sh, commands, &context);
            }
            return;
        }
        let mut inner: Vec<ShellWord> =
            command.iter().map(|word| shell_words::replaced(word, "{}", &unknown)).collect();
        if inner.iter().zip(command).all(|(replaced, written)| replaced == written) {
            inner.push(unknown);
        }
        context = context.within(index);
        context.input = super::CommandInput::Empty;
        if let [single] = command
            && single.text().is_some_and(|text| text.contains(' '))
        {
            self.shell_text(index, single, ccm_shell::ShellDialect::Sh, commands, &context);
            return;
        }
        self.program(&inner, commands, &context);
    }
}

impl Analyser<'_> {
    /// Judges the value of an option, and returns the context of the commands.
    fn value_of_parallel(
        &mut self,
        index: usize,
        name: &str,
        value: &ShellWord,
        commands: &[ShellCommand],
        mut context: CommandContext,
    ) -> CommandContext {
        match name {
            "--compress-program" | "--decompress-program" | "--limit" | "--ssh" => {
                self.shell_text(index, value, ccm_shell::ShellDialect::Sh, commands, &context);
            }
            "--joblog" | "--jl" | "--results" | "--tmpdir" | "--tempdir" => {
                self.write_path(index, value, &context);
            }
            "-a" | "--arg-file" | "--template" | "--tmpl" => self.read_path(index, value, &context),
            "--wd" | "--workdir" => {
                context.directories = self.enter_directory(index, value, &context);
            }
            // Code in Perl, and files of settings.
            "--rpl" | "--filter" | "--profile" | "-J" | "--sql" | "--sqlmaster" | "--sqlworker"
            | "--sqlandworker" => {
                self.unlisted(index, "parallel", name);
            }
            _ => {}
        }
        context
    }
}

/// Returns `true` for an option by a name that is not in the tables, such as an abbreviation. Its value may be the next
/// word.
fn is_unknown_option(text: &str) -> bool {
    let is_long = text.starts_with("--") && text.len() > 2;
    is_long && !is_listed(FLAGS, text)
}

fn is_listed(options: &str, text: &str) -> bool {
    options.split(' ').any(|option| option == text)
}
