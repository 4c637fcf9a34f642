import type { Command } from 'commander';
import path from 'node:path';
import { tailAudit } from '../../../src/observe/audit-reader.js';
import type { AuditLine } from '../../../src/observe/audit-line.js';
import { configOf, longDuration, withCommon, wholeNumber, type CommonOptions } from '../options.js';
import { printable, table } from '../../../src/render/terminal.js';
import { print } from '../output.js';

interface AuditOptions extends CommonOptions {
  from?: string;
  to?: string;
  type?: string;
  since?: number;
  limit: number;
}

const linesDefault = 50;
const linesMax = 100_000;

export function addAuditCommand(sigma: Command): void {
  withCommon(sigma.command('audit'))
    .description('show the end of the audit log: which agent sent what to which')
    .option('--from <agent>', 'only from this agent; `name*` matches a prefix')
    .option('--to <address>', 'only to this agent, service or topic')
    .option('--type <type>', 'only messages of this type')
    .option('--since <age>', 'only messages younger than this: 90s, 1h or 2d', longDuration)
    .option('--limit <n>', 'most lines to print', wholeNumber(1, linesMax), linesDefault)
    .action(async (options: AuditOptions) => {
      const { home } = configOf(options);
      const { from, to, type, since } = options;
      const entries = await tailAudit(
        path.join(home, 'bus', 'audit'),
        {
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
          ...(type !== undefined && { type }),
          ...(since !== undefined && { sinceMs: Date.now() - since }),
        },
        options.limit,
      );
      print(options, { entries }, () => render(entries));
    });
}

function render(entries: AuditLine[]): string {
  if (entries.length === 0) return 'Nothing of this kind is in the audit log.';
  const rows = entries.map((each) =>
    each.what === 'lost'
      ? [each.at, 'lost', `${each.count ?? 0} entries are missing here`]
      : [
          each.at,
          each.what,
          `${each.from ?? ''}${each.person === undefined ? '' : ` (${each.person})`} > ${each.to ?? ''}`,
          each.type ?? '',
          `${each.bytes ?? 0} B`,
          each.code ?? '',
          each.sha256?.slice(0, 12) ?? '',
          each.id ?? '',
        ].map(printable),
  );
  const head = ['AT', 'WHAT', 'FROM > TO', 'TYPE', 'SIZE', 'CODE', 'SHA-256', 'ID'];
  return table([head, ...rows]);
}
