import type { Command } from 'commander';
import type { Config } from '../../../src/config/config.js';
import { broken, type Check } from '../../check.js';
import { examined, programChecks, type KnownIndex } from '../../checks.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { printable, table } from '../../../src/render/terminal.js';
import { print } from '../output.js';

export function addDoctorCommand(sigma: Command): void {
  withCommon(sigma.command('doctor'))
    .description('check this installation, and say how to fix what is wrong')
    .action(async (options: CommonOptions) => {
      const { checks, indexes } = await examinedWith(options);
      const is_sound = checks.every(({ state }) => state !== 'broken');
      print(options, { is_sound, checks, indexes }, () => render(checks, indexes, is_sound));
      if (!is_sound) process.exitCode = 1;
    });
}

/** Also where the settings cannot be read. */
async function examinedWith(
  options: CommonOptions,
): Promise<{ checks: Check[]; indexes: KnownIndex[] }> {
  let config: Config;
  try {
    config = configOf(options);
  } catch (error) {
    return { checks: [...(await programChecks()), broken('settings', error)], indexes: [] };
  }
  return examined(config, { asksModel: true });
}

function render(
  checks: readonly Check[],
  indexes: readonly KnownIndex[],
  isSound: boolean,
): string {
  const marks = { ok: 'ok', absent: '-', unchecked: 'not checked', broken: 'BROKEN' };
  return [
    table(checks.map(({ name, state, detail }) => [name, marks[state], printable(detail)])),
    ...checks
      .filter(({ next }) => next !== '')
      .map(({ name, next }) => `  ${name}: ${printable(next)}`),
    ...indexes.map(
      ({ root, shards }) =>
        `index of ${printable(root)}: ${shards} ${shards === 1 ? 'shard' : 'shards'}`,
    ),
    isSound ? 'nothing is broken' : 'something is broken: see above',
  ].join('\n');
}
