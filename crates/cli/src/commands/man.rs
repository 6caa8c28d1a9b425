//! `xpr man`: manual pages, made from the same definitions as `--help`.

use crate::arguments::{Arguments, ManArguments};
use anyhow::{Context, Result, bail};
use clap::CommandFactory;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs;
use std::io::{self, Write};
use xpr_data::write_output;

pub(crate) fn run(arguments: &ManArguments, out: &mut dyn Write) -> Result<()> {
    let mut root = Arguments::command().disable_help_subcommand(true);
    root.build();
    let Some(folder) = &arguments.out else {
        let mut command = &root;
        for name in &arguments.command {
            let Some(next) = command.find_subcommand(name) else {
                let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
                let has = match known.is_empty() {
                    true => "no subcommands".to_owned(),
                    false => known.join(", "),
                };
                bail!("there is no command `{name}`; `{}` has {has}", name_of(command).replace('-', " "));
            };
            command = next;
        }
        return Ok(write_page(out, command)?);
    };
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut commands = vec![&root];
    let mut pages = 0;
    while let Some(command) = commands.pop() {
        let path = folder.join(format!("{}.1", name_of(command)));
        let mut page = Vec::new();
        write_page(&mut page, command)?;
        write_output(&path, &page).with_context(|| path.display().to_string())?;
        pages += 1;
        commands.extend(command.get_subcommands());
    }
    Ok(writeln!(out, "{pages} pages in {}", folder.display())?)
}

/// Returns the name of a command's page: `xpr-data-check` for `xpr data check`.
fn name_of(command: &clap::Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Writes a manual page. The examples are written here, because the generator joins their lines.
fn write_page(out: &mut dyn Write, command: &clap::Command) -> io::Result<()> {
    let man = Man::new(command.clone()).source(concat!("xpr ", env!("CARGO_PKG_VERSION")));
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(out)?;
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    for line in after.lines() {
        match line.strip_suffix(':').filter(|heading| !heading.starts_with(' ')) {
            Some(heading) => roff.control("SH", [heading.to_uppercase().as_str()]).control("nf", []),
            None => roff.text([roman(line)]),
        };
    }
    if !after.is_empty() {
        roff.control("fi", []);
    }
    roff.to_writer(out)
}
