//! Accounts in the files of this machine: what the types for users, groups and keys have in common.

mod account_files;
mod account_name;
mod account_tool;
mod database;
pub(crate) mod lookup;
mod name_services;
mod password;
mod running_process;

pub(crate) use account_files::{AccountFile, check_account_files};
pub(crate) use account_name::{AccountId, AccountName, name_error, name_list};
pub(crate) use account_tool::AccountTool;
pub(crate) use database::{GroupLine, LocalAccounts, PasswdLine, ShadowPasswords};
pub(crate) use name_services::{AccountDatabase, still_known};
pub(crate) use password::{PasswordField, PasswordHash};
pub(crate) use running_process::{blocking_process, process_hint};
