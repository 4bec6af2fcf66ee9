//! Everything that a program needs to define its own resource types.
#![doc = include_str!("resource_type.md")]

pub use ccm_engine::{
    Context, Decision, Described, DynProvider, Export, ExportRemark, ExportedState, ExportedValue,
    InstanceScope, Instances, NotExported, NotExportedKind, Provider, ReadPurpose, ResourceKind,
    ResourceType, Rule, Suitability, Trigger, Verified,
};
pub use ccm_host::{
    Command, Executor, Exit, FileAttributes, FileError, FileInfo, FileKind, Files, Finished, HashPolicy,
    Host, InspectOptions, NewContent, NewFile, PathInfo, Role, StartError,
};
pub use ccm_model::{
    Action, Change, ChangedLines, Claim, ClaimKind, Diagnostic, Failure, FailureKind, Fields,
    MissingPrerequisite, PathKind, Presentation, Properties, Resource, Stream, Verb,
};
pub use ccm_properties::{
    CheckInput, NamedValues, OneOrMany, PropertyError, PropertyKind, PropertyValue, Providers, Text,
    TextKind, TextSyntax, TextValue, TypeDeclaration, TypeSpec, TypedResource, ValueError, properties,
};
