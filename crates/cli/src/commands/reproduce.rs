//! x
use clap::Args;
use crate::error::CliError;
use std::io::Write;
use std::process::ExitCode;
/// x
#[derive(Args, Debug)]
pub(crate) struct ReproduceArgs {}
pub(crate) fn run(_: &ReproduceArgs, _: &mut dyn Write) -> Result<ExitCode, CliError> { Ok(ExitCode::SUCCESS) }
