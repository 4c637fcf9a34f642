import { InvalidArgumentError, type Command } from 'commander';
import { loadConfig, type Config } from '../../src/config/config.js';

export interface CommonOptions {
  json?: boolean;
  home?: string;
  bus?: string;
  log?: Config['log'];
}

/** What every command takes. */
export function withCommon(command: Command): Command {
  return command
    .option('--json', 'print exactly one JSON document')
    .option(
      '--home <dir>',
      'folder of all state (default: $SIGMA_HOME, else $XDG_STATE_HOME/sigma-bus)',
    )
    .option(
      '--bus <address>',
      'address of the broker (default: $SIGMA_BUS, else a socket below the home)',
    )
    .option('--log <level>', 'silent, error, warn, info or debug');
}

export function configOf(options: CommonOptions): Config {
  return loadConfig(process.env, {
    ...(options.home === undefined ? {} : { home: options.home }),
    ...(options.bus === undefined ? {} : { bus: options.bus }),
    ...(options.log === undefined ? {} : { log: options.log }),
  });
}

/** The settings as arguments of a child process. */
export function argumentsOf(config: Config): string[] {
  return ['--home', config.home, '--bus', config.bus, '--log', config.log];
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return value;
  };
}

const unitsMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000 };
const durationMsMax = 600_000;

/** `500ms`, `30s`, `2m`; a bare number is seconds. Milliseconds. */
export function duration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text);
  const value = Number(match?.[1]) * (unitsMs[match?.[2] ?? 's'] ?? NaN);
  if (!(value >= 1 && value <= durationMsMax))
    throw new InvalidArgumentError('It must be a duration like 500ms, 30s or 2m, at most 10m.');
  return Math.round(value);
}

export function list(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
