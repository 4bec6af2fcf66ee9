//! Programs that the programs of a command start by themselves, for a sandbox that executes no others.

use crate::analysis::{AnalysedCommand, Analysis};

/// Build tools and others that run whatever the workspace says.
const OPEN: &str = "\
    ant autoconf autoheader autom4te automake autopoint autoreconf bazel bazelisk bear bison bmake buck buck2 bun bundle \
    bundler c++ cargo cc ccache clang clang++ clang-tidy cmake composer concurrently configure cpack cpp ctest debuild \
    deno distcc dotnet dpkg-buildpackage eslint flask flex foreman g++ gcc gdb gem gfortran ghc gmake gnatmake go gradle \
    gradlew grunt gulp honcho icecc invoke javac jest jekyll just kotlinc latexmk ldd lein libtool libtoolize lualatex make \
    mdbook meson mix mk mkdocs mocha musl-gcc mvn mvnw mypy ninja node nox npm npx nvcc opam pdflatex pdm perl phpunit \
    pip pipenv pnpm poetry pre-commit prettier protoc pylint pyright pytest rake remake rollup rspec ruff rustc rustdoc \
    rustup samu sbt sccache scons sphinx-build stack swift swiftc task terraform tex tofu tox tsc tsup uv vite vitest waf webpack x86_64-linux-gnu-gcc \
    xelatex xmake yarn zig";

/// Subcommands of git that only report, and so start neither hooks nor filters of files.
const GIT_REPORTS: &str = "\
    blame branch cat-file config describe diff diff-tree for-each-ref grep log ls-files ls-tree merge-base name-rev reflog \
    remote rev-list rev-parse shortlog show show-ref status symbolic-ref tag var version whatchanged";

const COMPRESSORS: &str = "\
    gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 lzop lzip lzma unlzma compress uncompress pigz pbzip2 brotli";

/// Programs, and the programs that they start.
const HELPERS: [(&str, &str); 12] = [
    ("tar bsdtar gtar zip unzip 7z 7za 7zr rsync less zless", COMPRESSORS),
    ("dpkg", "dpkg-query dpkg-deb dpkg-split tar gzip xz zstd rm"),
    ("dpkg-deb", "tar gzip xz zstd rm"),
    ("dpkg-query apt apt-cache apt-get apt-mark", "dpkg /usr/lib/apt/methods/file"),
    ("git", "git /usr/lib/git-core/git less sh"),
    (
        "zcat zgrep zegrep zfgrep zcmp zdiff zmore znew xzcat xzgrep xzdiff xzcmp bzcat bzgrep bzdiff bzcmp zstdgrep zstdcat \
         gunzip uncompress gzexe",
        "sh bash gzip bzip2 xz zstd grep egrep fgrep sed cat cmp diff expr mktemp rm printf test",
    ),
    ("egrep fgrep", "grep sh"),
    ("sdiff diff3", "diff"),
    (
        "man apropos whatis",
        "groff troff nroff grotty preconv tbl eqn col cat zsoelim gzip less /usr/libexec/man-db/zsoelim \
         /usr/libexec/man-db/manconv /usr/lib/man-db/zsoelim /usr/lib/man-db/manconv",
    ),
    ("parallel", "sh bash perl"),
    ("awk gawk mawk nawk sed watch split entr flock script hyperfine", "sh"),
    ("7z 7za p7zip", "sh /usr/lib/p7zip/7z /usr/lib/p7zip/7za /usr/lib/7zip/7z"),
];

/// Directories of programs of the system.
const SYSTEM: [&str; 7] = ["/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/nix/", "/snap/"];

impl Analysis {
    /// Returns names and absolute paths of the programs that the programs of the commands start by themselves, such as
    /// `gzip` of `tar -z`; `None` if that may be any program, as for `make` and for a program of the workspace.
    pub fn helper_programs(&self) -> Option<Vec<&'static str>> {
        let mut programs: Vec<&'static str> = Vec::new();
        for command in self.commands.iter().filter(|command| !command.is_suspected) {
            if runs_anything(command) {
                return None;
            }
            let Some(name) = command.base_name() else { continue };
            let own = HELPERS.iter().filter(|(names, _)| is_in(names, name));
            for helper in own.flat_map(|(_, helpers)| helpers.split_ascii_whitespace()) {
                if !programs.contains(&helper) {
                    programs.push(helper);
                }
            }
        }
        Some(programs)
    }
}

fn is_in(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

fn runs_anything(command: &AnalysedCommand) -> bool {
    let Some(name) = command.base_name() else { return false };
    // `gcc-13`, `python3.12`.
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    let location = command.program.as_ref().and_then(|program| program.location.as_ref());
    // A file of root in the workspace is no program of the system either.
    let is_of_system = |path: &str| SYSTEM.iter().any(|directory| path.starts_with(directory));
    let name_of_program = command.program.as_ref().and_then(|program| program.name.as_deref());
    let is_of_workspace = if let Some(location) = location {
        !location.is_trusted || !is_of_system(&location.canonical)
    } else {
        // The text itself may make the file, or let it be executed.
        name_of_program.is_some_and(|name| name.contains('/') && !is_of_system(name))
    };
    let is_report = || {
        let subcommand = command.operands.first().and_then(|word| word.text()).unwrap_or_default();
        is_in(GIT_REPORTS, subcommand) || command.operands.is_empty()
    };
    is_of_workspace
        || is_in(OPEN, name)
        || is_in(OPEN, plain)
        || matches!(name, "git") && !is_report()
        || name.starts_with("git-")
}
