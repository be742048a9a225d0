//! `tuwtree completions` and `tuwtree man`: what shells and manuals need to know of this program.

use crate::error::CliError;
use clap::{Args, Command};
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use tuwtree_io::Destination;

/// Write the completions of this program for a shell.
///
/// For bash: tuwtree completions bash > ~/.local/share/bash-completion/completions/tuwtree
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Write the manual pages of this program and its commands.
///
/// Without a folder, the page of the program goes to standard output: tuwtree man | man -l -
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Write all pages into this folder, a file each, as tuwtree-optimize.1
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Runs `completions`.
///
/// # Errors
/// Errors of `output`.
pub(crate) fn complete(
    args: &CompletionsArgs,
    mut program: Command,
    output: &mut dyn Write,
) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "tuwtree", &mut script);
    output.write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `man`.
///
/// # Errors
/// A folder that does not exist, or whose files cannot be written; errors of `output`.
pub(crate) fn write_pages(
    args: &ManArgs,
    mut program: Command,
    output: &mut dyn Write,
) -> Result<ExitCode, CliError> {
    program.build();
    let Some(folder) = &args.output else {
        clap_mangen::Man::new(program).render(output)?;
        return Ok(ExitCode::SUCCESS);
    };
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help");
    let pages: Vec<Command> = std::iter::once(&program).chain(commands).cloned().collect();
    for page in pages {
        let name = page.get_display_name().unwrap_or(page.get_name()).to_owned();
        let mut text = Vec::new();
        clap_mangen::Man::new(page).render(&mut text)?;
        Destination::File(folder.join(format!("{name}.1")))
            .open()?
            .write(|file| file.write_all(&text))?;
    }
    Ok(ExitCode::SUCCESS)
}
