import type { Command } from 'commander';

/** One command, as its `--help` describes it. */
export interface Described {
  /** The words behind `sigma`: `bus`, `backup`. */
  path: string[];
  about: string;
  arguments: { term: string; about: string }[];
  options: { flags: string; long: string; takesValue: boolean; about: string }[];
  /** Those below it, with what each is about. */
  commands: { name: string; about: string }[];
}

/** The program itself first, then each command before its own. */
export function described(sigma: Command): Described[] {
  return below(sigma, []);
}

function below(command: Command, path: string[]): Described[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  return [
    {
      path,
      about: command.description(),
      arguments: command.registeredArguments.map((each) => ({
        term: each.required ? each.name() : `[${each.name()}]`,
        about: help.argumentDescription(each),
      })),
      options: help.visibleOptions(command).map((each) => ({
        flags: help.optionTerm(each),
        long: each.long ?? each.flags,
        takesValue: each.required || each.optional,
        about: help.optionDescription(each),
      })),
      commands: commands.map((each) => ({ name: each.name(), about: each.description() })),
    },
    ...commands.flatMap((each) => below(each, [...path, each.name()])),
  ];
}
