import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../src/base/clock.js';
import type { Config } from '../src/config/config.js';
import { readPrivate } from '../src/config/private-file.js';
import { BusError } from '../src/errors/bus-error.js';

/** Where a server listens for other machines, and what proves to them who it is. */
export interface Site {
  /** Of this machine: `0.0.0.0` for all of them. */
  address: string;
  /** By which others reach it. */
  name: string;
  /** Whether the certificate is good for this host name, or address, of a URL. */
  isNamed: (host: string) => boolean;
  /** PEM, the server's own first. */
  certificate: string;
  key: string;
}

/** Reads the files of the settings, and refuses what browsers would. Throws SERVER_CERTIFICATE, KEY_FILE_INVALID. */
export function siteOf(
  { address, name, ...files }: NonNullable<Config['console']>,
  home: string,
  clock: Clock,
): Site {
  const file = path.resolve(home, files.certificate);
  const keyFile = path.resolve(home, files.key);
  const wrong = (detail: string, cause?: unknown): BusError =>
    new BusError('SERVER_CERTIFICATE', { path: file, detail }, { cause });
  const key = readPrivate(keyFile);
  if (key === undefined) throw wrong(`there is no key at ${keyFile}`);
  let certificate: string;
  let its: X509Certificate;
  try {
    certificate = readFileSync(file, 'utf8');
    its = new X509Certificate(certificate);
    // Tells whether the key is that of the certificate.
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error), error);
  }
  const nowMs = clock.nowMs();
  if (Date.parse(its.validTo) <= nowMs) throw wrong(`it ended on ${its.validTo}`);
  if (Date.parse(its.validFrom) > nowMs) throw wrong(`it begins on ${its.validFrom}`);
  const isNamed = (host: string): boolean => {
    const bare = host.replace(/^\[|\]$/g, '');
    // The common name counts for no browser.
    const found = isIP(bare) > 0 ? its.checkIP(bare) : its.checkHost(bare, { subject: 'never' });
    return found !== undefined;
  };
  const shown = name ?? namesIn(its).find((each) => !each.includes('*'));
  if (shown === undefined)
    throw wrong('it names no host: name one of its pattern in `console.name`');
  const hosted = isIP(shown) === 6 ? `[${shown}]` : shown;
  if (!isNamed(hosted)) throw wrong(`it is not good for ${shown}`);
  return { address, name: hosted, isNamed, certificate, key };
}

function namesIn({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName
    .split(', ')
    .flatMap((each) => /^(?:DNS|IP Address):([\w.:*-]+)$/.exec(each)?.slice(1) ?? []);
}
