//! Commands and options of other tools, each with what to write in ccm instead.

/// Commands of other tools, each with what to write instead.
pub(super) const FOREIGN_COMMANDS: [(&str, &str); 39] = [
    ("noop", SHOW),
    ("dry-run", SHOW),
    ("preview", SHOW),
    ("test", VALIDATE),
    ("lint", VALIDATE),
    ("verify", VALIDATE),
    ("syntax-check", VALIDATE),
    ("show", "ccm history last"),
    ("list", "ccm history"),
    ("rollback", "ccm backup list"),
    ("undo", "ccm backup list"),
    ("restore", "ccm backup restore PATH"),
    ("facter", "ccm facts"),
    ("man", "ccm help COMMAND"),
    ("schedule", "ccm timer install MANIFEST"),
    ("daemon", "ccm timer install MANIFEST"),
    ("diff", "ccm apply --noop --diff MANIFEST"),
    ("run", APPLY),
    ("converge", APPLY),
    ("agent", APPLY),
    ("playbook", APPLY),
    ("render", RENDER),
    ("version", "ccm --version"),
    ("doc", "ccm explain TYPE"),
    ("resume", "ccm pause --end"),
    ("unpause", "ccm pause --end"),
    ("log", "ccm history"),
    ("lookup", "ccm hiera parse FILE --query PATH"),
    ("parser", VALIDATE),
    ("catalog", RENDER),
    ("compile", RENDER),
    ("describe", "ccm explain TYPE"),
    ("setup", "ccm facts"),
    ("grains", "ccm facts"),
    ("console", "ccm eval EXPRESSION"),
    ("report", "ccm history last"),
    ("logs", "ccm history"),
    ("highstate", APPLY),
    ("state.apply", APPLY),
];

/// Commands of other tools below a command of ccm, each with what to write instead.
pub(super) const FOREIGN_INNER_COMMANDS: [(&str, &str, &str); 8] = [
    ("timer", "status", "ccm timer list"),
    ("timer", "show", "ccm timer list"),
    ("timer", "add", "ccm timer install MANIFEST"),
    ("timer", "create", "ccm timer install MANIFEST"),
    ("timer", "start", "ccm timer install MANIFEST"),
    ("timer", "enable", "ccm timer install MANIFEST"),
    ("hiera", "lookup", "ccm hiera parse FILE --query PATH"),
    ("hiera", "get", "ccm hiera parse FILE --query PATH"),
];

/// Options of other tools, each with the option of ccm that a command must have, and what to do instead. An empty one is
/// an option of every command.
pub(super) const FOREIGN_OPTIONS: [(&[&str], &str, &str); 21] = [
    (&["--limit", "--tags", "--target"], "only", "write `--only TYPE#NAME`"),
    (&["--skip-tags"], "skip", "write `--skip TYPE#NAME`"),
    (&["-e", "--extra-vars", "--set", "--var"], "data", "write `--data KEY=VALUE`"),
    (&["-C", "--check", "--dry-run"], "noop", "write `--noop`"),
    (
        &["-t", "--test"],
        "noop",
        "remove it to apply the manifest now, or write `--noop` to show what would change",
    ),
    (
        &["--no-noop", "--onetime", "--no-daemonize"],
        "noop",
        "remove it: without `--noop`, the manifest is applied once",
    ),
    (&["--syntax-check"], "render", "write `ccm validate MANIFEST`"),
    (&["--list-tasks", "--graph"], "render", "write `ccm graph MANIFEST`"),
    (&["--step"], "confirm", "write `--confirm`"),
    (&["--catalog"], "render", "write `--render`"),
    (
        &["-i", "--inventory", "--list-hosts"],
        "render",
        "write `ccm push --inventory FILE HOSTS MANIFEST` for other machines",
    ),
    (
        &["-b", "-K", "--become", "--ask-become-pass"],
        "render",
        "remove it: ccm acts as the user who runs it, such as in `sudo ccm apply MANIFEST`",
    ),
    (
        &["--ask-vault-pass", "--vault-password-file"],
        "render",
        "remove it: a manifest takes a secret with `credential('NAME')`",
    ),
    (&["-D", "--show_diff", "--show-diff"], "diff", "write `--diff`"),
    (&["-o"], "output", "write `--output FORMAT`"),
    (&["--last"], "slowest", "write `ccm history last`"),
    (
        &["--on-calendar", "--calendar", "--at", "--interval", "--cron", "--schedule"],
        "every",
        "write `--every 1d` for once a day, or a resource of the type `timer`",
    ),
    (&["--dot"], "output", "write `--output dot`"),
    (&["--debug", "--trace", "-d"], "", "write `-vv`"),
    (&["--log-level"], "", "write `-v` or `-vv`"),
    (&["--why", "--explain"], "", "write `-v`"),
];
/// Command that prints a manifest with all values.
const RENDER: &str = "ccm apply --render MANIFEST";
/// Command that checks a manifest.
const VALIDATE: &str = "ccm validate MANIFEST";
/// Command that shows what a manifest would change.
pub(super) const SHOW: &str = "ccm apply --noop MANIFEST";
/// Command that applies a manifest.
pub(super) const APPLY: &str = "ccm apply MANIFEST";
