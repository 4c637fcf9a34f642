import { existsSync } from 'node:fs';
import path from 'node:path';
import type { AuditLine } from '../observe/audit-line.js';
import { auditFiles, tailAudit, type AuditFilter } from '../observe/audit-reader.js';

export type { AuditFilter, AuditLine };

/** The end of the audit log of a broker on this machine, oldest first; undefined: there is none here. */
export async function auditIn(
  home: string,
  filter: AuditFilter,
  limit: number,
): Promise<AuditLine[] | undefined> {
  const folder = path.join(home, 'bus', 'audit');
  return existsSync(folder) ? tailAudit(auditFiles(folder), filter, limit) : undefined;
}
