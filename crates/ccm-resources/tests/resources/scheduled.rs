//! Timers and jobs of cron, on a copy of `/etc` in a mount namespace, with fakes of systemctl and crontab.

mod jobs;
mod machine;
mod reboots;
mod timers;
