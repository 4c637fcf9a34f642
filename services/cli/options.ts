import { InvalidArgumentError, type Command } from 'commander';
import { loadConfig, type Config } from '../../src/config/config.js';
import { partsMax, type Part } from '../../src/pgc/serve/shard-partition.js';

export interface CommonOptions {
  json?: boolean;
  home?: string;
  bus?: string;
  log?: Config['log'];
}

/** What every command takes. */
export function withCommon(command: Command): Command {
  return command
    .option('--json', 'print one JSON document')
    .option('--home <dir>', 'state folder (default: $SIGMA_HOME, else $XDG_STATE_HOME/sigma-bus)')
    .option(
      '--bus <address>',
      'broker address (default: $SIGMA_BUS, else a socket in the state folder)',
    )
    .option('--log <level>', 'silent, error, warn, info or debug');
}

/** Most questions are answered, or given up, within this. */
const deadlineMsDefault = 30_000;

export interface TreeOptions extends CommonOptions {
  repo?: string;
  deadline: number;
}

/** What a command takes that asks the running lattice, or the index of a tree. */
export function withTree(command: Command, deadlineMs = deadlineMsDefault): Command {
  return withCommon(command)
    .option('--repo <dir>', 'use the index of this tree directly, without a broker')
    .option('--deadline <duration>', 'longest wait', duration, deadlineMs);
}

/** What stands before a subcommand holds for it, unless it says otherwise itself: `queue --as bob run` is about bob. */
export function handingOn(command: Command): Command {
  return command.hook('preSubcommand', (its, subcommand) => {
    for (const [name, value] of Object.entries(its.opts()))
      if (its.getOptionValueSource(name) !== 'default') subcommand.setOptionValue(name, value);
  });
}

export function configOf(options: CommonOptions): Config {
  return loadConfig(process.env, {
    ...(options.home === undefined ? {} : { home: options.home }),
    ...(options.bus === undefined ? {} : { bus: options.bus }),
    ...(options.log === undefined ? {} : { log: options.log }),
  });
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return value;
  };
}

const unitsMs: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `500ms`, `30s`, `2m`, at most 10 minutes; a bare number is seconds. Milliseconds. */
export const duration = durationUpTo('10m');
/** What a message may wait for, or live. */
export const longDuration = durationUpTo('30d');

function durationUpTo(max: string): (text: string) => number {
  return (text) => {
    const value = milliseconds(text);
    if (!(value >= 1 && value <= milliseconds(max)))
      throw new InvalidArgumentError(
        `It must be a duration like 500ms, 30s or 2m, at most ${max}.`,
      );
    return Math.round(value);
  };
}

function milliseconds(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  return Number(match?.[1]) * (unitsMs[match?.[2] ?? 's'] ?? NaN);
}

const unitsBytes: Record<string, number> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** `800m`, `2g`, `1.5G`: bytes, with the powers of 1 024. */
export function size(text: string): number {
  const match = /^(\d+(?:\.\d+)?)([kmgt])(?:i?b)?$/i.exec(text);
  const bytes = Number(match?.[1]) * (unitsBytes[match?.[2]?.toLowerCase() ?? ''] ?? NaN);
  if (!Number.isFinite(bytes)) throw new InvalidArgumentError('It must be a size like 800m or 2g.');
  return Math.round(bytes);
}

/** `2/4`: the second of four parts. */
export function part(text: string): Part {
  const [, its = '', all = ''] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const found = { part: Number(its), of: Number(all) };
  if (its === '' || found.part < 1 || found.part > found.of || found.of > partsMax)
    throw new InvalidArgumentError(`It must be a part like 2/4, of at most ${partsMax}.`);
  return found;
}

export function list(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** An option that may be given several times. */
export function gathered(text: string, before: string[] = []): string[] {
  return [...before, text];
}
