//! Roles of arguments that one program, or one family of programs, has.

/// Meaning of an argument of one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecialRole {
    /// File of names for tar, which may change the directory.
    FilesFrom,
    /// Rule or remote option of rsync.
    RsyncOption,
    /// Modes of rsync, such as `D2755,F644`.
    ModeList,
    /// Cookies, or a file of cookies, of curl.
    Cookie,
    /// Format of curl, which may name files.
    WriteOut,
    /// Address of a machine in between.
    Proxy,
    /// Address, or data of a request, of `http`.
    HttpItem,
    /// Machine, or another text.
    HostOrText,
    /// Letters, archive and members of ar.
    Ar,
    /// Settings of npm.
    NpmConfig,
    /// Package whose program is run, and its arguments.
    PackageCommand,
    /// Flags of the linker or compiler of Go.
    GoFlags,
    /// File or address of objects of a cluster.
    Manifest,
    /// Variable of cmake.
    CmakeSetting,
    /// Command of `cmake -E`.
    CmakeCommand,
    /// Module of JavaScript by its name, or its file.
    JsModule,
    /// Options of a tool behind a compiler, parted by commas.
    CompilerWords,
    /// File that a compiler reads, or `@file` of options.
    CompilerInput,
    /// Setting of rustc.
    RustcSetting,
    /// Kinds of output of rustc, with their files.
    EmittedFiles,
    /// Program that a compiler starts, with arguments behind commas.
    CompilerProgram,
    /// Main class of Java, or its source, or `@file` of options.
    JavaMain,
    /// Property of a build tool of Java.
    JavaProperty,
    /// Setting or command of a version control system.
    ScmSetting,
    /// Kernel parameter that `sysctl` shows or sets.
    Sysctl,
    /// File or directory of a project, of which a tool of developers runs or changes something.
    Project,
    /// Directory of a project, in which the tool works from here on.
    ProjectDirectory,
    /// Package of Go: a directory, a file, or a module with its version.
    GoPackage,
    /// Expression of `XPath`.
    XPath,
    /// Flag of a compiler behind `-f`, which may name a file.
    CompilerFlag,
    /// Strategy of `git merge`: a part of git, or a program.
    MergeStrategy,
    /// Page of a manual, or its file.
    ManualPage,
    /// Pattern of names, or `@file` with patterns.
    ListPattern,
    /// Further words for the same program.
    SameProgram,
    /// End of the names of files that are written.
    NameSuffix,
    /// Format of a document, or a file of code that reads or writes it.
    DocumentFormat,
    /// File of TeX, or commands of TeX.
    TexInput,
    /// Setting of pytest, `name=value`.
    PytestSetting,
    /// Kind of a report, with its file: `xml:file`.
    ReportFile,
    /// Flag of the virtual machine of Java.
    VirtualMachineFlag,
    /// File of code behind a name or a kind: `name=file`.
    NamedFile,
    /// Letter and file of the device cache of lsof.
    DeviceCache,
    /// Logger of a test run, with its settings.
    TestLogger,
    /// File of a package, whose name is not known.
    PackageFile,
    /// Expression of jq or yq, which may load files.
    DataExpression,
    /// Address of socat, which may be a file.
    SocketAddress,
    /// File that is read, or an address.
    UrlOrFile,
    /// Directory of libraries, behind a kind: `native=lib`.
    LibraryPath,
}

pub(super) const NAMES: [(&str, SpecialRole); 48] = [
    ("files_from", SpecialRole::FilesFrom),
    ("rsync_option", SpecialRole::RsyncOption),
    ("mode_list", SpecialRole::ModeList),
    ("cookie", SpecialRole::Cookie),
    ("write_out", SpecialRole::WriteOut),
    ("proxy", SpecialRole::Proxy),
    ("http_item", SpecialRole::HttpItem),
    ("host_or_text", SpecialRole::HostOrText),
    ("ar", SpecialRole::Ar),
    ("npm_config", SpecialRole::NpmConfig),
    ("package_command", SpecialRole::PackageCommand),
    ("go_flags", SpecialRole::GoFlags),
    ("manifest", SpecialRole::Manifest),
    ("cmake_setting", SpecialRole::CmakeSetting),
    ("cmake_command", SpecialRole::CmakeCommand),
    ("js_module", SpecialRole::JsModule),
    ("compiler_words", SpecialRole::CompilerWords),
    ("compiler_input", SpecialRole::CompilerInput),
    ("rustc_setting", SpecialRole::RustcSetting),
    ("emitted_files", SpecialRole::EmittedFiles),
    ("compiler_program", SpecialRole::CompilerProgram),
    ("java_main", SpecialRole::JavaMain),
    ("java_property", SpecialRole::JavaProperty),
    ("scm_setting", SpecialRole::ScmSetting),
    ("sysctl", SpecialRole::Sysctl),
    ("project", SpecialRole::Project),
    ("project_directory", SpecialRole::ProjectDirectory),
    ("go_package", SpecialRole::GoPackage),
    ("xpath", SpecialRole::XPath),
    ("compiler_flag", SpecialRole::CompilerFlag),
    ("merge_strategy", SpecialRole::MergeStrategy),
    ("manual_page", SpecialRole::ManualPage),
    ("list_pattern", SpecialRole::ListPattern),
    ("same_program", SpecialRole::SameProgram),
    ("name_suffix", SpecialRole::NameSuffix),
    ("document_format", SpecialRole::DocumentFormat),
    ("tex_input", SpecialRole::TexInput),
    ("pytest_setting", SpecialRole::PytestSetting),
    ("report_file", SpecialRole::ReportFile),
    ("virtual_machine_flag", SpecialRole::VirtualMachineFlag),
    ("named_file", SpecialRole::NamedFile),
    ("device_cache", SpecialRole::DeviceCache),
    ("test_logger", SpecialRole::TestLogger),
    ("package_file", SpecialRole::PackageFile),
    ("data_expression", SpecialRole::DataExpression),
    ("socket_address", SpecialRole::SocketAddress),
    ("url_or_file", SpecialRole::UrlOrFile),
    ("library_path", SpecialRole::LibraryPath),
];
