//! Files that programs run without being told, in the working directory or one above it.

/// Hooks of git in the directory of a repository.
const GIT: &[&str] = &[
    ".git",
    ".git/config",
    ".git/config.worktree",
    ".git/hooks/applypatch-msg",
    ".git/hooks/commit-msg",
    ".git/hooks/fsmonitor-watchman",
    ".git/hooks/post-applypatch",
    ".git/hooks/post-checkout",
    ".git/hooks/post-commit",
    ".git/hooks/post-index-change",
    ".git/hooks/post-merge",
    ".git/hooks/post-rewrite",
    ".git/hooks/pre-applypatch",
    ".git/hooks/pre-auto-gc",
    ".git/hooks/pre-commit",
    ".git/hooks/pre-merge-commit",
    ".git/hooks/pre-push",
    ".git/hooks/pre-rebase",
    ".git/hooks/prepare-commit-msg",
    ".git/hooks/reference-transaction",
    ".git/hooks/sendemail-validate",
    ".git/info/attributes",
    ".gitattributes",
    ".gitmodules",
];

const NODE: &[&str] = &[
    "package.json",
    ".npmrc",
    ".pnpmfile.cjs",
    "pnpm-workspace.yaml",
    ".yarnrc",
    ".yarnrc.yml",
    "yarn.config.cjs",
    "bunfig.toml",
];

const PYTHON: &[&str] = &["pyproject.toml", "setup.py", "setup.cfg", "uv.toml", "poetry.toml"];

const GRADLE: &[&str] = &[
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.properties",
    "gradle/wrapper/gradle-wrapper.jar",
    "gradle/wrapper/gradle-wrapper.properties",
];

const MAVEN: &[&str] = &[
    "pom.xml",
    ".mvn/extensions.xml",
    ".mvn/jvm.config",
    ".mvn/maven.config",
    ".mvn/wrapper/maven-wrapper.jar",
    ".mvn/wrapper/maven-wrapper.properties",
];

/// Programs, and the files.
const FILES: &[(&[&str], &[&str])] = &[
    (&["make", "gmake", "bmake"], &["GNUmakefile", "makefile", "Makefile", "BSDmakefile"]),
    (&["just"], &["justfile", "Justfile", ".justfile", ".env"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"]),
    (&["npm", "npx", "yarn", "yarnpkg", "pnpm", "bun", "corepack"], NODE),
    (&["deno"], &["deno.json", "deno.jsonc", "package.json"]),
    (
        &["eslint"],
        &["eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", ".eslintrc.js", ".eslintrc.cjs"],
    ),
    (
        &["prettier"],
        &["prettier.config.js", "prettier.config.mjs", ".prettierrc", ".prettierrc.js", ".prettierrc.cjs"],
    ),
    (&["jest"], &["jest.config.js", "jest.config.ts", "jest.config.mjs", "jest.config.cjs", "package.json"]),
    (&["mocha"], &[".mocharc.js", ".mocharc.cjs", ".mocharc.yml", ".mocharc.json", "package.json"]),
    (
        &["vite", "vitest"],
        &["vite.config.js", "vite.config.ts", "vite.config.mjs", "vitest.config.ts", "vitest.config.js"],
    ),
    (&["webpack"], &["webpack.config.js", "webpack.config.ts", "webpack.config.cjs"]),
    (&["rollup"], &["rollup.config.js", "rollup.config.mjs"]),
    (&["gulp"], &["gulpfile.js", "gulpfile.mjs", "gulpfile.ts"]),
    (&["grunt"], &["Gruntfile.js", "Gruntfile.coffee"]),
    (&["rake"], &["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"]),
    (&["bundle", "bundler"], &["Gemfile", "gems.rb", ".bundle/config"]),
    (&["rspec"], &[".rspec", "spec/spec_helper.rb"]),
    (&["rubocop"], &[".rubocop.yml"]),
    (
        &["cargo", "rustc", "rustup"],
        &[
            "Cargo.toml",
            "build.rs",
            ".cargo/config",
            ".cargo/config.toml",
            "rust-toolchain",
            "rust-toolchain.toml",
        ],
    ),
    (
        &["pytest", "py.test"],
        &["conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"],
    ),
    (&["tox"], &["tox.ini", "setup.cfg", "pyproject.toml", "setup.py"]),
    (&["nox"], &["noxfile.py"]),
    (&["invoke", "inv"], &["tasks.py", "invoke.yaml"]),
    (&["fab"], &["fabfile.py"]),
    (&["doit"], &["dodo.py"]),
    (&["snakemake"], &["Snakefile", "workflow/Snakefile"]),
    (&["pip", "pip3", "uv", "poetry", "pdm", "hatch", "build", "flit"], PYTHON),
    (&["pre-commit"], &[".pre-commit-config.yaml"]),
    (&["scons"], &["SConstruct", "Sconstruct", "sconstruct"]),
    (&["waf"], &["wscript"]),
    (&["ninja", "ninja-build"], &["build.ninja"]),
    (
        &["cmake", "ctest", "cpack"],
        &["CMakeLists.txt", "CMakePresets.json", "CMakeUserPresets.json", "CTestTestfile.cmake"],
    ),
    (&["meson"], &["meson.build"]),
    (
        &["bazel", "bazelisk"],
        &[".bazelrc", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", "BUILD", "BUILD.bazel"],
    ),
    (&["gradle", "gradlew"], GRADLE),
    (&["mvn", "mvnw"], MAVEN),
    (&["ant"], &["build.xml"]),
    (&["sbt"], &["build.sbt", "project/build.properties", "project/plugins.sbt"]),
    (&["lein"], &["project.clj"]),
    (&["mix"], &["mix.exs", "config/config.exs"]),
    (&["composer"], &["composer.json"]),
    (&["phpunit"], &["phpunit.xml", "phpunit.xml.dist"]),
    (
        &["dotnet", "msbuild"],
        &["Directory.Build.props", "Directory.Build.targets", "global.json", "NuGet.config"],
    ),
    (&["swift"], &["Package.swift"]),
    (&["zig"], &["build.zig"]),
    (&["dart", "flutter"], &["pubspec.yaml"]),
    (&["nix", "nix-build", "nix-shell"], &["flake.nix", "default.nix", "shell.nix"]),
    (&["direnv"], &[".envrc"]),
    (&["mise"], &["mise.toml", ".mise.toml", ".tool-versions"]),
    (
        &["docker-compose", "podman-compose"],
        &["docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"],
    ),
    (
        &["docker", "podman", "buildah"],
        &[
            "Dockerfile",
            "Containerfile",
            "docker-bake.hcl",
            "docker-compose.yml",
            "compose.yml",
            "compose.yaml",
        ],
    ),
    (&["earthly"], &["Earthfile"]),
    (&["skaffold"], &["skaffold.yaml"]),
    (&["kubectl", "kustomize"], &["kustomization.yaml", "kustomization.yml"]),
    (&["vagrant"], &["Vagrantfile"]),
    (&["ansible-playbook", "ansible"], &["ansible.cfg"]),
    (&["go"], &["go.mod", "go.work"]),
    (&["git"], GIT),
    (&["hg"], &[".hg/hgrc"]),
    (&["gdb"], &[".gdbinit"]),
    (&["lldb"], &[".lldbinit"]),
];

/// Programs whose words behind the first operand name neither a directory nor a file with code.
const WITH_PLAIN_OPERANDS: [&str; 6] = ["git", "hg", "docker", "podman", "buildah", "kubectl"];

/// Returns `true` if a program with one of these names finds no code by its words behind the first operand.
pub(super) fn has_plain_operands(names: &[String]) -> bool {
    names.iter().any(|name| WITH_PLAIN_OPERANDS.contains(&&**name))
}

/// Returns the files that a program with one of these names runs without being told, relative to its directory.
pub(super) fn implied_files(names: &[String]) -> impl Iterator<Item = &'static str> + '_ {
    let is_named = |programs: &&[&str]| names.iter().any(|name| programs.contains(&&**name));
    FILES.iter().filter(move |(programs, _)| is_named(programs)).flat_map(|(_, files)| *files).copied()
}
