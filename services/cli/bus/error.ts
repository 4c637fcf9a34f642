import type { Command } from 'commander';
import { BusError } from '../../../src/errors/bus-error.js';
import { catalogue, isErrorCode } from '../../../src/errors/catalogue.js';
import { withCommon, type CommonOptions } from '../options.js';
import { table } from '../../../src/render/terminal.js';
import { print } from '../output.js';

export function addErrorCommand(sigma: Command): void {
  withCommon(
    sigma.command('error').argument('[code]', 'for example NO_BROKER; without it, list all codes'),
  )
    .description('explain an error code')
    .action((code: string | undefined, options: CommonOptions) => {
      if (code === undefined) {
        const all = Object.entries(catalogue).map(([name, entry]) => ({ code: name, ...entry }));
        print(options, { errors: all }, () =>
          table(all.map((each) => [each.code, `exit ${each.exit}`, readable(each.text)])),
        );
        return;
      }
      const name = code.toUpperCase();
      if (!isErrorCode(name)) throw new BusError('UNKNOWN_ERROR_CODE', { code });
      const entry = catalogue[name];
      print(options, { code: name, ...entry }, () =>
        [
          `${name}: ${readable(entry.text)}`,
          `  What to do: ${readable(entry.next)}`,
          `  Trying again ${entry.retryable ? 'may help' : 'does not help'}; exit code ${entry.exit}.`,
        ].join('\n'),
      );
    });
}

/** Without an occurrence the places of its data are shown as what they are. */
function readable(template: string): string {
  return template.replace(/\{(\w+)\}/g, '<$1>');
}
