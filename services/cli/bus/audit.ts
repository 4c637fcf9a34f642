import type { Command } from 'commander';
import path from 'node:path';
import type { Config } from '../../../src/config/config.js';
import { auditBackwards } from '../../../src/nats/audit-stream.js';
import { connectNats, refusalOf } from '../../../src/nats/connect.js';
import {
  auditFiles,
  auditPieces,
  tailAudit,
  type AuditFilter,
} from '../../../src/observe/audit-reader.js';
import type { AuditLine } from '../../../src/observe/audit-line.js';
import { configOf, longDuration, withCommon, wholeNumber, type CommonOptions } from '../options.js';
import { printable, table } from '../../../src/render/terminal.js';
import { natsAccess } from '../../../src/remote/identity.js';
import { isNats } from '../../../src/transport/address.js';
import { print } from '../output.js';

interface AuditOptions extends CommonOptions {
  from?: string;
  to?: string;
  type?: string;
  since?: number;
  limit: number;
  local?: boolean;
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
    .option('--local', 'on NATS: from the file of this machine, instead of that of all leaders')
    .option('--limit <n>', 'most lines to print', wholeNumber(1, linesMax), linesDefault)
    .action(async (options: AuditOptions) => {
      const config = configOf(options);
      const { from, to, type, since, limit } = options;
      const filter = {
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
        ...(type !== undefined && { type }),
        ...(since !== undefined && { sinceMs: Date.now() - since }),
      };
      const entries =
        isNats(config.bus) && options.local !== true
          ? await tailOfBus(config, filter, limit)
          : await tailAudit(auditFiles(path.join(config.home, 'bus', 'audit')), filter, limit);
      print(options, { entries }, () => render(entries));
    });
}

/** Throws KEYS_MISSING, KEY_FILE_INVALID, NATS_*. */
async function tailOfBus(config: Config, filter: AuditFilter, limit: number): Promise<AuditLine[]> {
  const access = natsAccess(config);
  const connection = await connectNats(access);
  try {
    const lines = auditPieces(auditBackwards(connection, access.bus));
    return await tailAudit(lines, filter, limit);
  } catch (error) {
    throw refusalOf(access.text, error);
  } finally {
    await connection.close();
  }
}

function render(entries: AuditLine[]): string {
  if (entries.length === 0) return 'Nothing of this kind is in the audit log.';
  const rows = entries.map((each) =>
    each.what === 'lost'
      ? [
          each.at,
          'lost',
          `${each.count ?? 0} entries are missing here${each.host === undefined ? '' : `, of ${each.host}`}`,
        ]
      : [
          each.at,
          each.what,
          `${each.from ?? ''}${each.person === undefined ? '' : ` (${each.person})`} > ${each.to ?? ''}`,
          each.type ?? '',
          `${each.bytes ?? 0} B`,
          each.code ?? '',
          each.sha256?.slice(0, 12) ?? '',
          each.id ?? '',
          each.host ?? '',
        ].map(printable),
  );
  const head = [
    'AT',
    'WHAT',
    'FROM > TO',
    'TYPE',
    'SIZE',
    'CODE',
    'SHA-256',
    'ID',
    ...(entries.some(({ host }) => host) ? ['LED BY'] : []),
  ];
  return table([head, ...rows]);
}
